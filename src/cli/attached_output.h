/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * attached_output.h - a copy of an ELF file with a new section takes its name.
 */
#ifndef BOBBIN_CLI_ATTACHED_OUTPUT_H
#define BOBBIN_CLI_ATTACHED_OUTPUT_H

#include "elf/sframe_attachment.h"
#include "object/object_attachment.h"

/*
 * Write the file that @attachment plans, made of the one behind @fd, to @path.
 * What was written is read back first.  @in_place: @path is that file; its owner
 * and its mode are kept.  0 or a negative errno, and then nothing has changed.
 */
int attached_output_put(const char *path, int fd, struct sframe_attachment *attachment,
			const void *section, uint64_t size, bool in_place);

/**
 * struct object_output - a section for a relocatable file
 * @attachment: the plan
 * @code: of the file
 * @relocations: of the section
 * @section, @size: its bytes
 */
struct object_output {
	struct object_attachment *attachment;
	const struct object_code *code;
	const struct start_relocations *relocations;
	const uint8_t *section;
	uint64_t size;
};

/* The same for a relocatable file. */
int object_output_put(const char *path, int fd, const struct object_output *output, bool in_place);

#endif
