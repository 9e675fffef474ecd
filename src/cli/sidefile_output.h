/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sidefile_output.h - a side-file takes its name once it has been read back.
 */
#ifndef BOBBIN_CLI_SIDEFILE_OUTPUT_H
#define BOBBIN_CLI_SIDEFILE_OUTPUT_H

#include "elf/elf_image.h"
#include "table/table_sources.h"

/**
 * struct sidefile_output - a side-file that has no name yet
 * @table: the rows that it must have
 * @data, @size: its bytes
 */
struct sidefile_output {
	struct table_builder table;
	uint8_t *data;
	uint64_t size;
};

/*
 * Make a side-file of what the file @path says, and of the build ID of @image, which is that
 * file.  false after a complaint.  @ret, all zero before, is to be given to
 * sidefile_output_fini() in either case.
 */
bool sidefile_output_init(const char *path, const struct elf_image *image,
			  const struct table_sources *sources, struct sidefile_output *ret);

/*
 * Write it to @path.  It is read back as an unwinder does, and must have every row.  false
 * after a complaint, and then nothing has changed.
 */
bool sidefile_output_put(struct sidefile_output *output, const char *path);

void sidefile_output_fini(struct sidefile_output *output);

#endif
