/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

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

static int take_section(struct sframe_reader *reader, Elf_Scn *scn, size_t names)
{
	struct sframe_section section;
	GElf_Shdr header;
	const char *name;

	if (!gelf_getshdr(scn, &header) || header.sh_type == SHT_NOBITS)
		return 0;
	name = elf_strptr(reader->elf, names, header.sh_name);
	if (!name || !is_sframe(&header, name))
		return 0;
	section = (struct sframe_section){
		.size = header.sh_size,
		.addr = header.sh_addr,
		.offset = header.sh_offset,
		.index = elf_ndxscn(scn),
	};
	return add_chunk(reader, name, section);
}

static int take_sections(struct sframe_reader *reader)
{
	Elf_Scn *scn = NULL;
	size_t names;
	int r = 0;

	if (elf_getshdrstrndx(reader->elf, &names))
		return 0;
	while (!r && (scn = elf_nextscn(reader->elf, scn)))
		r = take_section(reader, scn, names);
	return r;
}

/* Without section headers. */
static int take_segments(struct sframe_reader *reader)
{
	size_t count;
	GElf_Phdr p;
	int r = 0;

	if (elf_getphdrnum(reader->elf, &count))
		return 0;
	for (size_t i = 0; i < count && !r; i++) {
		if (!gelf_getphdr(reader->elf, (int)i, &p))
			continue;
		if (p.p_type == PT_GNU_SFRAME)
			r = add_chunk(reader, "PT_GNU_SFRAME",
				      (struct sframe_section){.size = p.p_filesz,
							      .addr = p.p_vaddr,
							      .offset = p.p_offset});
	}
	return r;
}

int image_sections_read(struct sframe_reader *reader)
{
	int r = take_sections(reader);

	if (!r && reader->header.e_type == ET_REL)
		return sframe_relocate(reader);
	return r || reader->file->section_count ? r : take_segments(reader);
}
