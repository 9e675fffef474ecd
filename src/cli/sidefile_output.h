/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sidefile_output.h - a side-file takes its name once it has been read back.
 */
#ifndef BOBBIN_CLI_SIDEFILE_OUTPUT_H
#define BOBBIN_CLI_SIDEFILE_OUTPUT_H

#include "cli/sframe_command.h"
#include "elf/elf_image.h"

/**
 * struct sidefile_output - a side-file that has no name yet
 * @view: the section that it must say the same as
 * @data, @size: its bytes
 */
struct sidefile_output {
	struct bobbin_sframe_view view;
	uint8_t *data;
	uint64_t size;
};

/*
 * Make a side-file of a section, which must stay, and of the build ID of @image, which is the
 * file @path.  false after a complaint.
 */
bool sidefile_output_init(const char *path, const struct elf_image *image,
			  const struct made_section *section, struct sidefile_output *ret);

/*
 * Write it to @path.  It is read back as an unwinder does, and must say the same row for
 * row.  false after a complaint, and then nothing has changed.
 */
bool sidefile_output_put(struct sidefile_output *output, const char *path);

void sidefile_output_fini(struct sidefile_output *output);

#endif
