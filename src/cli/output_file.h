/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * output_file.h - a file that appears whole or not at all.
 *
 * Bytes go to a file without a name in the target's folder; only when all of them
 * have arrived does it take the target's name.  Where the file system has no such files
 * it has a name of its own, TARGET.XXXXXX, meanwhile.  A device or a pipe keeps its
 * place: it gets all bytes at the end.
 */
#ifndef BOBBIN_CLI_OUTPUT_FILE_H
#define BOBBIN_CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/sframe_command.h"
#include "elf/elf_image.h"
#include "elf/sframe_attachment.h"
#include "object/object_code.h"
#include "table/table_sources.h"

/*
 * Make bytes appear at @path, where a symbolic link is followed and "-" is standard output; they take
 * the place of the file that is open at @replaced, if not -1, and get its mode, owner and attributes.
 * false after a complaint, and then nothing has changed.
 */
bool output_put_bytes(const char *path, int replaced, const void *bytes, size_t size);

/* A copy of an ELF file with a new section takes its name. */

/* Plan for the linked file that is open at @fd; false after a complaint. */
bool attached_output_plan(const struct arguments *a, int fd, struct sframe_attachment *ret);

/*
 * Write a copy of the file that @attachment is about, with the section, to where --output or
 * --in-place say.  It is read back first.  false after a complaint, and then nothing has
 * changed.
 */
bool attached_output_put(const struct arguments *a, struct sframe_attachment *attachment,
			 const struct made_section *section);

/*
 * The same for the relocatable file that is open at @fd and whose code is known: the starts of
 * functions are left to the linker.
 */
bool attached_output_put_object(const struct arguments *a, int fd, const struct object_code *code,
				const struct made_section *section);

/* A side-file takes its name once it has been read back. */

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
 * file; or, if @compiled, the bytes of a compiled table, which are put as any others.  false after a complaint.  @ret, all zero before, is to be given to
 * sidefile_output_fini() in either case.
 */
bool sidefile_output_init(const char *path, const struct elf_image *image,
			  const struct table_sources *sources, bool compiled,
			  struct sidefile_output *ret);

/*
 * Write it to @path.  It is read back as an unwinder does, and must have every row.  false
 * after a complaint, and then nothing has changed.
 */
bool sidefile_output_put(struct sidefile_output *output, const char *path);

void sidefile_output_fini(struct sidefile_output *output);

#endif
