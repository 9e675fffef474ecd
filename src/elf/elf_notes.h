/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * elf_notes.h - what notes say; their bytes are not trusted, and nothing else of the file is read.
 */
#ifndef BOBBIN_ELF_ELF_NOTES_H
#define BOBBIN_ELF_ELF_NOTES_H

#include "core/bytes.h"

#define ELF_BUILD_ID_MAX 20

/* A note: its bytes are @size from @offset on. */
struct elf_note {
	uint32_t type, size;
	uint64_t offset;
};

/* Go to the next note by @name among notes, the bytes of a PT_NOTE segment; false: there is none. */
bool elf_each_note(struct bytes *notes, const char *name, struct elf_note *ret);

/*
 * Go to the next note of @type by @name among notes, the bytes of a PT_NOTE segment, and after
 * it: where its @size bytes are; false: there is none.
 */
bool elf_next_note(struct bytes *notes, uint32_t type, const char *name, uint64_t *offset,
		   uint32_t *size);

/* Where among notes the build ID is; false: nowhere. */
bool elf_find_build_id(const uint8_t *notes, uint64_t size, bool big_endian, uint64_t *offset,
		       uint8_t *len);

#endif
