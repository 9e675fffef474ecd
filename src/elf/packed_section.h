/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * packed_section.h - the bytes of compressed sections.
 *
 *	SHF_COMPRESSED	header of ELF, then zlib or zstd
 *	.zdebug_...	"ZLIB", the size, then zlib: binutils before 2.26
 */
#ifndef BOBBIN_ELF_PACKED_SECTION_H
#define BOBBIN_ELF_PACKED_SECTION_H

#include <bobbin/reason.h>
#include <gelf.h>

/* Whether a section is compressed. */
bool packed_section_is(const GElf_Shdr *header, const char *name);

/*
 * Unpack one, of at most @limit bytes, into memory that becomes the caller's.  Sections
 * of zlib stay unpacked in libelf's memory.  -EBADMSG with a reason for what cannot be
 * unpacked; the offset is that of the section in the file.  -ENOMEM.
 */
int packed_section_read(Elf_Scn *section, uint64_t limit, struct bobbin_error *err, uint8_t **ret,
			uint64_t *size);

#endif
