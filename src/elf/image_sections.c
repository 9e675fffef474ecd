/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "base/elf_walk.h"
#include "elf/gnu_sframe.h"
#include "elf/sframe_reader.h"

static int add_chunk(struct sframe_reader *reader, const char *name, struct sframe_section section)
{
	int r;

	if (!section.size)
		return 0;
	r = sframe_reader_bytes(reader, section.offset, section.size, &section.data);
	return r ? r : sframe_file_add(reader->file, name, NULL, section);
}

/* GNU ld's default script also gathers sections whose name only begins so. */
static bool is_sframe(const GElf_Shdr *header, const char *name)
{
	if (header->sh_type == SHT_GNU_SFRAME)
		return true;
	return header->sh_type == SHT_PROGBITS &&
	       (!strcmp(name, ".sframe") || !strncmp(name, ".sframe.", 8));
}

static int take_sections(struct sframe_reader *reader)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int r = 0;

	while (!r && (section = elf_next_section(reader->elf, section, &header))) {
		const char *name = elf_section_name(reader->elf, &header);

		if (*name && header.sh_type != SHT_NOBITS && is_sframe(&header, name))
			r = add_chunk(reader, name,
				      (struct sframe_section){.size = header.sh_size,
							      .addr = header.sh_addr,
							      .offset = header.sh_offset,
							      .index = elf_ndxscn(section)});
	}
	return r;
}

/* Without section headers. */
static int take_segments(struct sframe_reader *reader)
{
	GElf_Phdr p;
	int r = 0;

	for (size_t i = 0; !r && elf_next_segment(reader->elf, &i, &p);)
		if (p.p_type == PT_GNU_SFRAME)
			r = add_chunk(reader, "PT_GNU_SFRAME",
				      (struct sframe_section){.size = p.p_filesz,
							      .addr = p.p_vaddr,
							      .offset = p.p_offset});
	return r;
}

int image_sections_read(struct sframe_reader *reader)
{
	int r = take_sections(reader);

	if (!r && reader->header.e_type == ET_REL)
		return sframe_relocate(reader);
	return r || reader->file->section_count ? r : take_segments(reader);
}
