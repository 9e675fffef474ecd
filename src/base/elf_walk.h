/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * elf_walk.h - the sections and segments of an ELF file that libelf has opened.
 *
 *	while ((section = elf_next_section(elf, section, &header)))
 *
 *	for (size_t i = 0; elf_next_segment(elf, &i, &header);)
 *
 * Those whose headers cannot be read are passed over.
 */
#ifndef BOBBIN_BASE_ELF_WALK_H
#define BOBBIN_BASE_ELF_WALK_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>

/* The section after one, or the first one after NULL; NULL: there is none. */
static inline Elf_Scn *elf_next_section(Elf *elf, Elf_Scn *section, GElf_Shdr *header)
{
	do
		section = elf_nextscn(elf, section);
	while (section && !gelf_getshdr(section, header));
	return section;
}

/* "" if it has none. */
static inline const char *elf_section_name(Elf *elf, const GElf_Shdr *header)
{
	size_t names;
	const char *name = elf_getshdrstrndx(elf, &names) ? NULL
							  : elf_strptr(elf, names, header->sh_name);

	return name ? name : "";
}

/* The segment with the number *@i or a later one, whose number *@i then follows. */
static inline bool elf_next_segment(Elf *elf, size_t *i, GElf_Phdr *ret)
{
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return false;
	while (*i < count)
		if (gelf_getphdr(elf, (int)(*i)++, ret))
			return true;
	return false;
}

/*
 * Sections, or segments, of a file: more than objects have that linkers still can link.  libelf
 * makes room for all of them when it opens a file, or reads all of them, and a file with a hole can
 * have a thousand million.
 */
#define ELF_COUNT_MAX (1u << 20)

/*
 * Whether libelf may open the file of @fd: it has at most ELF_COUNT_MAX of both.  True
 * for what is no ELF file.  The descriptor's position is left alone.
 */
bool elf_counts_are_sane(int fd);

#endif
