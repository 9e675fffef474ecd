/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * object_attachment.h - a copy of a relocatable ELF file with an .sframe section
 * and its relocations.
 *
 *	before:  Ehdr sections               [names Shdr…]
 *	after:   Ehdr sections .sframe .rela.sframe names Shdr…
 *
 * All other sections keep their bytes, offsets and numbers.  The two get headers
 * after all others, or take those of an .sframe section that is there already,
 * whose bytes then mean nothing any more.  The section headers and their names
 * move; where they and an .sframe of ours are the end of the file, they are cut
 * off first: a file does not grow by being converted again.
 */
#ifndef BOBBIN_OBJECT_ATTACHMENT_H
#define BOBBIN_OBJECT_ATTACHMENT_H

#include <elf.h>

#include "elf/elf_headers.h"
#include "object/object_code.h"

/*
 * The starts of a section's functions are left to the linker.
 *
 * One relocation for each function, in the order of their entries, relative to
 * the field, against a symbol of the function's section: so do assemblers, and
 * linkers drop a function whose section they drop.
 */

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

/**
 * struct object_attachment - the plan
 * @fd: the original
 * @headers: to write
 * @kept: how much of the original precedes what is new
 * @section, @relocations: headers of the two
 */
struct object_attachment {
	int fd;
	struct elf_headers headers;
	uint64_t kept;
	size_t section, relocations;
};

/*
 * Plan for the relocatable file of @fd, which stays the caller's and must
 * stay open and the same until object_attachment_fini().  -EBADMSG or -ENOTSUP
 * with a reason and a file offset, also for more than one .sframe section, one
 * that belongs to a group or has code, contents within the ELF header, and a file
 * without symbols; -EINVAL if @fd is no
 * regular file; -ENOMEM; the errno of reading.
 */
int object_attachment_init(int fd, struct bobbin_error *err, struct object_attachment *ret);

/*
 * Write the whole new file with @size > 0 bytes of @section and its relocations to
 * @out_fd, an empty regular file.  May be called more than once.  -EIO if the
 * original shrank; -ENOMEM; the errno of reading or writing: what was written then
 * is of no use.
 */
int object_attachment_write(struct object_attachment *attachment, const void *section,
			    uint64_t size, const struct start_relocations *relocations, int out_fd);

void object_attachment_fini(struct object_attachment *attachment);

#endif
