/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * attached_output.h - a copy of an ELF file with a new section takes its name.
 */
#ifndef BOBBIN_CLI_ATTACHED_OUTPUT_H
#define BOBBIN_CLI_ATTACHED_OUTPUT_H

#include "cli/arguments.h"
#include "cli/sframe_command.h"
#include "elf/sframe_attachment.h"
#include "object/object_code.h"

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

#endif
