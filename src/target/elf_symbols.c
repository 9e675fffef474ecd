/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/elf_symbols.h"

#include <string.h>

/* Larger symbol tables are not looked through. */
#define TABLE_MAX ((uint64_t)512 << 20)
/* .dynsym and .symtab */
#define TABLES_MAX 2

Elf_Data *elf_table_data(Elf_Scn *section, const GElf_Shdr *header)
{
	return header->sh_size <= TABLE_MAX && !(header->sh_flags & SHF_COMPRESSED)
		       ? elf_getdata(section, NULL)
		       : NULL;
}

bool elf_strings_find(Elf *elf, size_t number, struct elf_strings *ret)
{
	Elf_Scn *section = elf_getscn(elf, number);
	Elf_Data *data;
	GElf_Shdr header;

	if (!section || !gelf_getshdr(section, &header))
		return false;
	data = elf_table_data(section, &header);
	if (!data || !data->d_buf || !data->d_size || ((char *)data->d_buf)[data->d_size - 1])
		return false;
	*ret = (struct elf_strings){data->d_buf, data->d_size};
	return true;
}

static void note(struct elf_symbol *symbols, size_t count, const char *name, uint64_t value)
{
	for (size_t i = 0; i < count; i++)
		if (!symbols[i].found && !strcmp(symbols[i].name, name)) {
			symbols[i].value = value;
			symbols[i].found = true;
		}
}

static size_t count_found(const struct elf_symbol *symbols, size_t count)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += symbols[i].found;
	return found;
}

static void find_in_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
			  struct elf_symbol *symbols, size_t count)
{
	struct elf_strings strings;
	Elf_Data *data;
	GElf_Sym symbol;

	/* most files are done with when their strings are */
	if (!elf_strings_find(elf, header->sh_link, &strings) ||
	    !memmem(strings.data, strings.size, symbols->name, strlen(symbols->name) + 1))
		return;
	data = elf_table_data(section, header);
	for (int i = 0;
	     data && count_found(symbols, count) < count && gelf_getsym(data, i, &symbol); i++)
		if (symbol.st_shndx != SHN_UNDEF)
			note(symbols, count, elf_string_at(&strings, symbol.st_name),
			     symbol.st_value);
}

size_t elf_symbols_find(Elf *elf, struct elf_symbol *symbols, size_t count)
{
	unsigned int tables = 0;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while (tables < TABLES_MAX && (section = elf_next_section(elf, section, &header))) {
		if (header.sh_type != SHT_DYNSYM && header.sh_type != SHT_SYMTAB)
			continue;
		find_in_table(elf, section, &header, symbols, count);
		if (symbols->found)
			break;
		tables++;
	}
	return count_found(symbols, count);
}

bool elf_mapping_bias(Elf *elf, const struct mapping *m, uint64_t *ret)
{
	GElf_Phdr segment;

	for (size_t i = 0; elf_next_segment(elf, &i, &segment);) {
		uint64_t align = segment.p_align ? segment.p_align : 1;

		/* a mapping begins at a page, a segment may begin after its start */
		if (segment.p_type != PT_LOAD || m->offset + align <= segment.p_offset ||
		    m->offset >= segment.p_offset + segment.p_filesz)
			continue;
		*ret = m->start - (segment.p_vaddr + (m->offset - segment.p_offset));
		return true;
	}
	return false;
}
