/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/elf_notes.h"

#include <elf.h>
#include <string.h>

#ifndef NT_GNU_BUILD_ID
#define NT_GNU_BUILD_ID 3
#endif

bool elf_each_note(struct bytes *notes, const char *name, struct elf_note *ret)
{
	while (bytes_left(notes) >= 12) {
		uint32_t name_size = bytes_u32(notes), size = bytes_u32(notes);
		uint32_t type = bytes_u32(notes);
		const uint8_t *start = notes->data + notes->pos;
		uint64_t desc = notes->pos + (((uint64_t)name_size + 3) & ~3ull);

		bytes_seek(notes, desc);
		bytes_skip(notes, size);
		if (notes->bad)
			return false;
		/* the last one need not be padded */
		bytes_skip(notes, bytes_left(notes) < (-size & 3) ? bytes_left(notes) : -size & 3);
		if (name_size != strlen(name) + 1 || memcmp(start, name, name_size))
			continue;
		*ret = (struct elf_note){.type = type, .size = size, .offset = desc};
		return true;
	}
	return false;
}

bool elf_next_note(struct bytes *notes, uint32_t type, const char *name, uint64_t *offset,
		   uint32_t *size)
{
	struct elf_note note;

	while (elf_each_note(notes, name, &note)) {
		if (note.type != type)
			continue;
		*offset = note.offset;
		*size = note.size;
		return true;
	}
	return false;
}

bool elf_find_build_id(const uint8_t *notes, uint64_t size, bool big_endian, uint64_t *offset,
		       uint8_t *len)
{
	struct bytes b = bytes_of(notes, size, big_endian);
	uint64_t desc;
	uint32_t desc_size;

	while (elf_next_note(&b, NT_GNU_BUILD_ID, "GNU", &desc, &desc_size)) {
		if (!desc_size || desc_size > ELF_BUILD_ID_MAX)
			continue;
		*offset = desc;
		*len = (uint8_t)desc_size;
		return true;
	}
	return false;
}
