/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * start_relocations.h - the starts of a section's functions are left to the linker.
 *
 * One relocation for each function, in the order of their entries, relative to
 * the field, against a symbol of the function's section: so do assemblers, and
 * linkers drop a function whose section they drop.
 */
#ifndef BOBBIN_OBJECT_START_RELOCATIONS_H
#define BOBBIN_OBJECT_START_RELOCATIONS_H

#include <elf.h>

#include "object/object_code.h"

/**
 * struct start_relocations - those of one section
 * @entries: owned
 * @count: their number, that of the functions
 */
struct start_relocations {
	Elf64_Rela *entries;
	size_t count;
};

/*
 * Take the starts out of a sound SFrame section at address 0, of functions in
 * @code: the fields become zero, and the section is not sorted any more, since
 * sections of code may be linked in any order.  -ENOTSUP with a reason and the
 * offset in the file of a section's header if that has no symbol to relocate
 * against; -EBADMSG, -ENOMEM.  Nothing has changed on failure.
 */
int start_relocations_init(const struct object_code *code, uint8_t *section, uint64_t size,
			   struct bobbin_error *err, struct start_relocations *ret);
void start_relocations_fini(struct start_relocations *relocations);

/*
 * Whether the relocatable file of @fd has one SFrame section, with these bytes
 * and these relocations and no others.  0, -EBADMSG, the errno of reading.
 */
int start_relocations_check(const struct start_relocations *relocations,
			    const struct object_code *code, const uint8_t *section, uint64_t size,
			    int fd);

#endif
