/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_relocation.c - where the functions of a relocatable file start.
 *
 * The only fields of an SFrame section that are relocated are the functions'
 * starts, each against a symbol and relative to the field itself.  Every section
 * of such a file is at address 0, so that a start is an offset in the section
 * of its function.
 */
#include <stdlib.h>

#include "base/vector.h"
#include "core/bisect.h"
#include "core/bytes.h"
#include "core/refusal.h"
#include "elf/relocation_kind.h"
#include "elf/sframe_file.h"

/* A section with relocations for one of ours, and the symbol table that it uses. */
struct table {
	struct sframe_reader *reader;
	Elf_Data *relocations, *symbols, *long_indices;
	size_t symbols_index, symbol_names, section_names;
	uint64_t offset;
	struct sframe_section *section;
};

static void name_target(const struct table *table, const GElf_Sym *symbol, uint32_t long_index,
			struct sframe_target *ret)
{
	size_t index = symbol->st_shndx == SHN_XINDEX ? long_index : symbol->st_shndx;
	Elf *elf = table->reader->elf;
	GElf_Shdr header;

	if (GELF_ST_TYPE(symbol->st_info) != STT_SECTION)
		ret->symbol = elf_strptr(elf, table->symbol_names, symbol->st_name);
	if (index == SHN_UNDEF || (index >= SHN_LORESERVE && symbol->st_shndx != SHN_XINDEX) ||
	    !gelf_getshdr(elf_getscn(elf, index), &header))
		return;
	ret->section = elf_strptr(elf, table->section_names, header.sh_name);
	ret->section_index = index;
	ret->section_size = header.sh_size;
	ret->exec = header.sh_flags & SHF_EXECINSTR;
}

/* 0: nothing to do; 1 and the target. */
static int apply(const struct table *table, int i, struct sframe_target *ret)
{
	const struct sframe_reader *reader = table->reader;
	struct sframe_section *section = table->section;
	uint64_t at = table->offset + (uint64_t)i * sizeof(Elf64_Rela);
	Elf32_Word long_index = 0;
	GElf_Rela rela;
	GElf_Sym symbol;
	struct relocation_kind kind;

	if (!gelf_getrela(table->relocations, i, &rela))
		return refuse(reader->err, at, BOBBIN_REASON_ELF_BROKEN);
	if (!relocation_kind(reader->header.e_machine, (uint32_t)GELF_R_TYPE(rela.r_info), &kind))
		return refuse(reader->err, at, BOBBIN_REASON_ELF_RELOCATION);
	if (!kind.width)
		return 0;
	if (!kind.pcrel || rela.r_offset > section->size ||
	    section->size - rela.r_offset < kind.width ||
	    !gelf_getsymshndx(table->symbols, table->long_indices, (int)GELF_R_SYM(rela.r_info),
			      &symbol, &long_index))
		return refuse(reader->err, at, BOBBIN_REASON_ELF_RELOCATION);
	*ret = (struct sframe_target){
		.field = rela.r_offset,
		.start = symbol.st_value + (uint64_t)rela.r_addend,
	};
	name_target(table, &symbol, long_index, ret);
	bytes_store(section->data + rela.r_offset, ret->start - section->addr - rela.r_offset,
		    kind.width, reader->file->arch->big_endian);
	return 1;
}

static int apply_all(const struct table *table)
{
	size_t count = table->relocations->d_size / sizeof(Elf64_Rela);
	struct sframe_section *section = table->section;
	int r = vector_reserve(&section->targets, &section->target_capacity,
			       section->target_count + count, sizeof(*section->targets));

	if (r)
		return r;
	for (size_t i = 0; i < count; i++) {
		r = apply(table, (int)i, &section->targets[section->target_count]);
		if (r < 0)
			return r;
		section->target_count += (size_t)r;
	}
	return 0;
}

static struct sframe_section *section_of_index(struct sframe_file *file, size_t index)
{
	size_t at = bisect(i, 0, file->section_count, file->sections[i].index >= index);

	return at < file->section_count && file->sections[at].index == index ? &file->sections[at]
									     : NULL;
}

/* The extended section indices that belong to a symbol table. */
static Elf_Data *long_indices_of(Elf *elf, size_t symbols)
{
	int index = elf_scnshndx(elf_getscn(elf, symbols));

	return index > 0 ? elf_getdata(elf_getscn(elf, (size_t)index), NULL) : NULL;
}

/* Most often it is the one of the table before. */
static int take_symbols(size_t index, struct table *table)
{
	struct sframe_reader *reader = table->reader;
	Elf_Scn *scn = elf_getscn(reader->elf, index);
	GElf_Shdr header, names;
	int r;

	if (table->symbols && index == table->symbols_index)
		return 0;
	if (!gelf_getshdr(scn, &header) ||
	    !gelf_getshdr(elf_getscn(reader->elf, header.sh_link), &names))
		return refuse(reader->err, table->offset, BOBBIN_REASON_ELF_BROKEN);
	r = sframe_reader_spend(reader, header.sh_offset, header.sh_size);
	if (!r)
		r = sframe_reader_spend(reader, names.sh_offset, names.sh_size);
	if (r)
		return r;
	table->symbols = elf_getdata(scn, NULL);
	if (!table->symbols || table->symbols->d_type != ELF_T_SYM)
		return refuse(reader->err, header.sh_offset, BOBBIN_REASON_ELF_BROKEN);
	table->long_indices = long_indices_of(reader->elf, index);
	table->symbols_index = index;
	table->symbol_names = header.sh_link;
	return 0;
}

static int relocate_by(Elf_Scn *scn, struct table *table)
{
	struct sframe_reader *reader = table->reader;
	GElf_Shdr header;
	int r;

	if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_RELA)
		return 0;
	table->section = section_of_index(reader->file, header.sh_info);
	if (!table->section)
		return 0;
	table->offset = header.sh_offset;
	r = sframe_reader_spend(reader, header.sh_offset, header.sh_size);
	if (!r)
		r = take_symbols(header.sh_link, table);
	if (r)
		return r;
	table->relocations = elf_getdata(scn, NULL);
	if (!table->relocations || table->relocations->d_type != ELF_T_RELA)
		return refuse(reader->err, header.sh_offset, BOBBIN_REASON_ELF_BROKEN);
	return apply_all(table);
}

int sframe_relocate(struct sframe_reader *reader)
{
	struct sframe_file *file = reader->file;
	struct table table = {.reader = reader};
	Elf_Scn *scn = NULL;
	int r = 0;

	if (elf_getshdrstrndx(reader->elf, &table.section_names))
		return 0;
	while (!r && (scn = elf_nextscn(reader->elf, scn)))
		r = relocate_by(scn, &table);
	for (size_t i = 0; i < file->section_count; i++) {
		struct sframe_section *section = &file->sections[i];

		section->relocated = true;
		if (section->target_count)
			qsort(section->targets, section->target_count, sizeof(*section->targets),
			      vector_by_start);
	}
	return r;
}
