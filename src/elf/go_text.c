/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/go_text.h"

#include <gelf.h>
#include <stdbool.h>
#include <string.h>

#include "base/elf_walk.h"
#include "core/bytes.h"

/* In the header of the table. */
#define AT_TEXT 24
/* In the module's data: the header's address, and, after seven slices and three words, the text's. */
#define MODULE_TEXT (22 * 8)
#define MODULE_SIZE (MODULE_TEXT + 8)
/* Larger sections are not looked at. */
#define MOST ((uint64_t)64 << 20)

/* What a relocation will put at an address of a position-independent file, or 0. */
static uint64_t relocated(Elf *elf, uint64_t addr)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_next_section(elf, section, &header))) {
		Elf_Data *data;
		GElf_Rela r;

		if (header.sh_type != SHT_RELA || !(header.sh_flags & SHF_ALLOC) ||
		    header.sh_size > MOST || !(data = elf_getdata(section, NULL)))
			continue;
		for (int i = 0; gelf_getrela(data, i, &r); i++)
			if (r.r_offset == addr && GELF_R_TYPE(r.r_info) == R_X86_64_RELATIVE)
				return (uint64_t)r.r_addend;
	}
	return 0;
}

static bool find_module(Elf *elf, GElf_Shdr *ret, Elf_Data **data)
{
	Elf_Scn *section = NULL;

	while ((section = elf_next_section(elf, section, ret))) {
		if (strcmp(elf_section_name(elf, ret), ".go.module") || ret->sh_size > MOST)
			continue;
		*data = elf_rawdata(section, NULL);
		return *data && (*data)->d_buf && (*data)->d_size >= MODULE_SIZE;
	}
	return false;
}

static uint64_t module_word(Elf *elf, const GElf_Shdr *module, const Elf_Data *data, uint64_t at)
{
	struct bytes b = bytes_of(data->d_buf, data->d_size, false);
	uint64_t word;

	bytes_seek(&b, at);
	word = bytes_u64(&b);
	return word ? word : relocated(elf, module->sh_addr + at);
}

uint64_t go_text_start(Elf *elf, uint64_t table)
{
	uint64_t text = relocated(elf, table + AT_TEXT);
	GElf_Shdr module;
	Elf_Data *data;

	if (text || !find_module(elf, &module, &data) ||
	    module_word(elf, &module, data, 0) != table)
		return text;
	return module_word(elf, &module, data, MODULE_TEXT);
}
