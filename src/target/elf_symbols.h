/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* elf_symbols.h - where a mapped file has symbols of given names. */
#ifndef BOBBIN_TARGET_ELF_SYMBOLS_H
#define BOBBIN_TARGET_ELF_SYMBOLS_H

#include <stdbool.h>

#include "base/elf_walk.h"
#include "target/mapping_list.h"

/* The data of a table; NULL: it is too large, or not to be read. */
Elf_Data *elf_table_data(Elf_Scn *section, const GElf_Shdr *header);

/* The names of a symbol table; the last one ends. */
struct elf_strings {
	const char *data;
	size_t size;
};

/* Not elf_strptr(), which looks through a hostile table for each name. */
bool elf_strings_find(Elf *elf, size_t section, struct elf_strings *ret);

static inline const char *elf_string_at(const struct elf_strings *strings, uint64_t at)
{
	return at < strings->size ? strings->data + at : "";
}

/* A symbol that is looked for, and its value, if it was found. */
struct elf_symbol {
	const char *name;
	uint64_t value;
	bool found;
};

/*
 * Look for symbols that a file defines; how many were found.  Tables that do not have the first
 * one's name are not looked through.
 */
size_t elf_symbols_find(Elf *elf, struct elf_symbol *symbols, size_t count);

/* What an address of the file is more in the process; false: the mapping is of no segment. */
bool elf_mapping_bias(Elf *elf, const struct mapping *mapping, uint64_t *ret);

#endif
