/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/symbol_offset.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/elf_walk.h"
#include "base/living_file.h"
#include "base/regular_file.h"
#include "base/vector.h"
#include "symbol/elf_file.h"

/* In the words of .gnu.version: not for programs that are linked now; and the number. */
#define VERSION_HIDDEN 0x8000
#define VERSION_NUMBER 0x7fff

/* More are not told of. */
#define PLACES_MAX 256

/* "NAME", "NAME@VERSION", "NAME@@VERSION" */
struct full_name {
	const char *name;
	size_t length;       /* of the name */
	const char *version; /* NULL: none */
	bool is_default;     /* the version, by its two signs */
};

struct search {
	struct full_name wanted;
	struct symbol_places *places;
	bool indirect; /* one of them is */
	bool exported; /* a table of the loader's has the name */
	int error;
};

/* A table of symbols, and what says their versions. */
struct table {
	Elf *elf;
	Elf_Data *symbols, *versions, *definitions;
	GElf_Shdr shdr, definitions_shdr;
};

static struct full_name split(const char *text)
{
	struct full_name full = {.name = text, .length = strcspn(text, "@")};
	const char *at = text + full.length;

	if (!*at)
		return full;
	full.is_default = at[1] == '@';
	full.version = at + 1 + full.is_default;
	return full;
}

static bool is_function(const GElf_Sym *sym)
{
	int type = GELF_ST_TYPE(sym->st_info);

	return sym->st_shndx != SHN_UNDEF && sym->st_value &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC);
}

static bool is_local(const GElf_Sym *sym)
{
	return GELF_ST_BIND(sym->st_info) == STB_LOCAL;
}

/* The name of a version by its number, or NULL. */
static const char *version_name(const struct table *t, unsigned int number)
{
	GElf_Verdef def;
	GElf_Verdaux aux;
	size_t at = 0;

	while (t->definitions && gelf_getverdef(t->definitions, (int)at, &def)) {
		if (def.vd_ndx == number)
			return gelf_getverdaux(t->definitions, (int)(at + def.vd_aux), &aux)
				       ? elf_strptr(t->elf, t->definitions_shdr.sh_link,
						    aux.vda_name)
				       : NULL;
		if (!def.vd_next)
			break;
		at += def.vd_next;
	}
	return NULL;
}

/* What the loader's table says of the version of its symbol @i. */
static struct full_name exported_name(const struct table *t, int i, const char *text)
{
	struct full_name full = {.name = text, .length = strlen(text), .is_default = true};
	GElf_Versym word;

	if (!t->versions || !gelf_getversym(t->versions, i, &word))
		return full;
	full.is_default = !(word & VERSION_HIDDEN);
	if ((word & VERSION_NUMBER) > VER_NDX_GLOBAL)
		full.version = version_name(t, word & VERSION_NUMBER);
	return full;
}

static bool is_wanted(const struct full_name *wanted, const struct full_name *found)
{
	if (found->length != wanted->length ||
	    memcmp(found->name, wanted->name, wanted->length) != 0)
		return false;
	if (!wanted->version)
		return !found->version || found->is_default;
	return found->version && !strcmp(found->version, wanted->version) &&
	       (found->is_default || !wanted->is_default);
}

/* Functions at one place are one. */
static int add(struct symbol_places *places, uint64_t address, const char *source)
{
	for (size_t i = 0; i < places->count; i++)
		if (places->list[i].address == address)
			return 0;
	if (places->count == PLACES_MAX)
		return 0;
	return vector_push(places->list, places->count, places->room,
			   (struct symbol_place){.address = address,
						 .source = source ? strdup(source) : NULL});
}

static void search_table(struct search *search, const struct table *t)
{
	bool exports = t->shdr.sh_type == SHT_DYNSYM;
	const char *source = NULL;
	GElf_Sym sym;

	for (int i = 0; gelf_getsym(t->symbols, i, &sym) && !search->error; i++) {
		const char *text = elf_strptr(t->elf, t->shdr.sh_link, sym.st_name);
		struct full_name found;

		if (GELF_ST_TYPE(sym.st_info) == STT_FILE)
			source = text;
		if (!text || !is_function(&sym))
			continue;
		found = exports ? exported_name(t, i, text) : split(text);
		if (!is_wanted(&search->wanted, &found))
			continue;
		/* the loader knows which version is meant, this table may not say any */
		if (!exports && search->exported && !is_local(&sym))
			continue;
		search->exported |= exports;
		search->indirect |= GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC;
		search->error = add(search->places, sym.st_value, is_local(&sym) ? source : NULL);
	}
}

/* Whether code that chooses a function has an address, whatever else it is called. */
static bool table_chooses_at(const struct table *t, uint64_t address)
{
	GElf_Sym sym;

	for (int i = 0; gelf_getsym(t->symbols, i, &sym); i++)
		if (is_function(&sym) && GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC &&
		    sym.st_value == address)
			return true;
	return false;
}

/* The tables of one type; false: there is none. */
static bool open_table(Elf *elf, uint32_t type, struct table *ret)
{
	struct table t = {.elf = elf};
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_next_section(elf, scn, &shdr))) {
		if (shdr.sh_type == type) {
			t.symbols = elf_getdata(scn, NULL);
			t.shdr = shdr;
		} else if (shdr.sh_type == SHT_GNU_versym) {
			t.versions = elf_getdata(scn, NULL);
		} else if (shdr.sh_type == SHT_GNU_verdef) {
			t.definitions = elf_getdata(scn, NULL);
			t.definitions_shdr = shdr;
		}
	}
	*ret = t;
	return t.symbols;
}

static void check_indirect(struct search *search, const struct table *t)
{
	for (size_t i = 0; i < search->places->count; i++)
		search->indirect |= table_chooses_at(t, search->places->list[i].address);
}

static void search_file(struct search *search, Elf *elf)
{
	static const uint32_t types[] = {SHT_DYNSYM, SHT_SYMTAB};
	struct table t;

	for (size_t i = 0; i < 2; i++)
		if (open_table(elf, types[i], &t))
			search_table(search, &t);
	for (size_t i = 0; i < 2; i++)
		if (open_table(elf, types[i], &t))
			check_indirect(search, &t);
}

static int set_offset(Elf *elf, struct symbol_place *place)
{
	size_t count;
	GElf_Phdr phdr;

	for (size_t i = 0; elf_next_segment(elf, &i, &phdr);) {
		if (phdr.p_type != PT_LOAD || place->address - phdr.p_vaddr >= phdr.p_filesz)
			continue;
		place->offset = place->address - phdr.p_vaddr + phdr.p_offset;
		return 0;
	}
	return elf_getphdrnum(elf, &count) ? -ENOEXEC : -ENODATA;
}

/* The user names the file. */
static int open_own(void *ctx, const char *path)
{
	(void)ctx;
	return living_file_open(path, 0, NULL);
}

static int fetch_nothing(void *ctx, const struct build_id *id)
{
	(void)ctx;
	(void)id;
	return -ENOENT;
}

static void search_debug_file(struct search *search, const struct elf_file *file,
			      const char *debug_path)
{
	const struct search_paths paths = {
		.debug_path = debug_path,
		.opener = {open_own, fetch_nothing, NULL},
	};
	struct elf_file debug = ELF_FILE_CLOSED;
	struct build_id id = {0};
	struct table t;

	elf_file_build_id(file->elf, &id);
	if (elf_file_find_debug(&paths, file, &id, &debug))
		return;
	search_file(search, debug.elf);
	/* the loader's table is in the file itself */
	if (open_table(file->elf, SHT_DYNSYM, &t))
		check_indirect(search, &t);
	elf_file_close(&debug);
}

static int find(const struct elf_file *file, const char *debug_path, const char *name,
		struct symbol_places *places)
{
	struct search search = {.wanted = split(name), .places = places};
	int r = 0;

	search_file(&search, file->elf);
	if (!places->count && !search.error)
		search_debug_file(&search, file, debug_path);
	if (search.error)
		return search.error;
	if (search.indirect)
		return -ENOTSUP;
	for (size_t i = 0; i < places->count && !r; i++)
		r = set_offset(file->elf, &places->list[i]);
	return r ? r : places->count ? 0 : -ENODATA;
}

/* 0 or a negative errno, and nothing is open. */
static int open_file(const char *path, struct elf_file *ret)
{
	struct elf_file file = {.fd = regular_file_open(path, 0, NULL), .path = (char *)path};

	if (file.fd < 0)
		return file.fd;
	elf_version(EV_CURRENT);
	file.elf = elf_begin(file.fd, ELF_C_READ, NULL);
	*ret = file;
	if (file.elf && elf_kind(file.elf) == ELF_K_ELF)
		return 0;
	elf_end(file.elf);
	close(file.fd);
	return -ENOEXEC;
}

int symbol_offset_find(const char *path, const char *debug_path, const char *name,
		       struct symbol_places *ret)
{
	struct elf_file file;
	int r = open_file(path, &file);

	if (r)
		return r;
	r = find(&file, debug_path, name, ret);
	elf_end(file.elf);
	close(file.fd);
	return r;
}

static bool is_executed(Elf *elf, uint64_t offset)
{
	GElf_Phdr phdr;

	for (size_t i = 0; elf_next_segment(elf, &i, &phdr);)
		if (phdr.p_type == PT_LOAD && phdr.p_flags & PF_X &&
		    offset - phdr.p_offset < phdr.p_filesz)
			return true;
	return false;
}

int symbol_offset_check(const char *path, uint64_t offset)
{
	struct elf_file file;
	int r = open_file(path, &file);

	if (r)
		return r;
	r = is_executed(file.elf, offset) ? 0 : -ERANGE;
	elf_end(file.elf);
	close(file.fd);
	return r;
}

void symbol_places_fini(struct symbol_places *places)
{
	for (size_t i = 0; i < places->count; i++)
		free(places->list[i].source);
	free(places->list);
	*places = (struct symbol_places){0};
}
