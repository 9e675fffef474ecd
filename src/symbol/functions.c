/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/functions.h"

#include "base/elf_walk.h"
#include "base/symbol_name.h"
#include "base/vector.h"
#include "symbol/elf_file.h"

#include <lzma.h>
#include <stdio.h>
#include <string.h>

#define STUB_SUFFIX "@plt"
/* Real files have a handful of aliases; a hostile one is not read for millions. */
#define MAX_ALIASES 64
#define MAX_UNPACKED ((size_t)64 << 20)
/*
 * Where only some symbols are left, hidden functions may follow one without size.
 * Few functions of assembly are longer than this.
 */
#define MAX_GUESS 4096
/* Symbols whose code is looked at, per file. */
#define MAX_LOOKS 16384

/* Ranks, best highest: binding, then type. */
#define RANK_GLOBAL 8
#define RANK_WEAK 4
#define RANK_FUNCTION 1

/* Of x86-64. */
#define ALIGNMENT 16
#define RET 0xc3
#define NOP 0x90
#define INT3 0xcc

struct candidate {
	uint64_t start, size;
	uint64_t name; /* in the text of the list */
	unsigned int rank;
};

struct reading {
	struct symlist *list;
	struct interval_map sections; /* with code */
	struct candidate *candidates;
	size_t count, capacity, limit;
	bool partial; /* there is no .symtab: local functions have no symbols */
	unsigned int looks;
};

static int find_code(struct reading *r, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int err = 0;

	while (!err && (section = elf_next_section(elf, section, &header)))
		if (header.sh_flags & SHF_ALLOC && header.sh_flags & SHF_EXECINSTR)
			err = interval_map_add(&r->sections, header.sh_addr, header.sh_size, 0);
	interval_map_sort(&r->sections);
	return err;
}

static const char *text_at(const struct reading *r, uint64_t name)
{
	return r->list->names + name;
}

/* "$x" and ".L1" mark places, they name nothing. */
static bool is_mark(const char *name, const GElf_Sym *s)
{
	return GELF_ST_TYPE(s->st_info) == STT_NOTYPE && GELF_ST_BIND(s->st_info) == STB_LOCAL &&
	       (name[0] == '$' || (name[0] == '.' && name[1] == 'L'));
}

static bool names_code(const struct reading *r, const GElf_Sym *s, const char *name)
{
	unsigned int type = GELF_ST_TYPE(s->st_info);

	return s->st_shndx != SHN_UNDEF &&
	       (s->st_shndx < SHN_LORESERVE || s->st_shndx == SHN_XINDEX) &&
	       (type == STT_NOTYPE || type == STT_FUNC || type == STT_GNU_IFUNC) && name[0] &&
	       !is_mark(name, s) && interval_map_find(&r->sections, s->st_value);
}

static unsigned int rank(const GElf_Sym *s)
{
	unsigned int binding = GELF_ST_BIND(s->st_info);
	unsigned int r = GELF_ST_TYPE(s->st_info) == STT_NOTYPE ? 0 : RANK_FUNCTION;

	if (binding == STB_GLOBAL || binding == STB_GNU_UNIQUE)
		return r | RANK_GLOBAL;
	return binding == STB_WEAK ? r | RANK_WEAK : r;
}

static int add_symbols(struct reading *r, Elf_Data *table, uint64_t text, size_t text_size)
{
	GElf_Sym s;
	int err = 0;

	for (int i = 1; !err && gelf_getsym(table, i, &s); i++) {
		if (s.st_name >= text_size || !names_code(r, &s, text_at(r, text + s.st_name)))
			continue;
		err = vector_push(r->candidates, r->count, r->capacity,
				  (struct candidate){
					  .start = s.st_value,
					  .size = s.st_size,
					  .name = text + s.st_name,
					  .rank = rank(&s),
				  });
	}
	return err;
}

static Elf_Scn *section_of_type(Elf *elf, uint32_t type)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while (elf && (section = elf_next_section(elf, section, &header)))
		if (header.sh_type == type)
			break;
	return section;
}

static int add_table(struct reading *r, Elf *elf, uint32_t type)
{
	Elf_Data *table,
		*strings = elf_file_symbols(elf, section_of_type(elf, type), r->limit, &table);
	uint64_t text;
	int err;

	if (!strings)
		return 0;
	err = symlist_add_text(r->list, strings->d_buf, strings->d_size, &text);
	return err ? err : add_symbols(r, table, text, strings->d_size);
}

/* Unpack @data; NULL if it is damaged or too much.  To be freed. */
static void *unpack(const Elf_Data *data, size_t limit, size_t *size)
{
	for (*size = data->d_size; *size <= limit / 4;) {
		uint64_t memory = limit;
		size_t in = 0, out = 0;
		uint8_t *bytes;
		lzma_ret r;

		*size *= 4;
		bytes = malloc(*size);
		r = bytes ? lzma_stream_buffer_decode(&memory, 0, NULL, data->d_buf, &in,
						      data->d_size, bytes, &out, *size)
			  : LZMA_MEM_ERROR;
		if (r == LZMA_OK) {
			*size = out;
			return bytes;
		}
		free(bytes);
		if (r != LZMA_BUF_ERROR)
			return NULL;
	}
	return NULL;
}

/* .gnu_debugdata: an ELF file with the symbols that .dynsym lacks. */
static int add_unpacked(struct reading *r, Elf *elf)
{
	size_t limit = r->limit < MAX_UNPACKED ? r->limit : MAX_UNPACKED, size;
	Elf_Data *data = elf_file_data(elf_file_section(elf, ".gnu_debugdata"), limit);
	void *bytes = data ? unpack(data, limit, &size) : NULL;
	struct elf_file file;
	int err = 0;

	if (bytes && !elf_file_open_image(bytes, size, &file)) {
		err = add_table(r, file.elf, SHT_SYMTAB);
		elf_file_close(&file);
	}
	free(bytes);
	return err;
}

static int add_tables(struct reading *r, Elf *main, Elf *debug)
{
	int err;

	if (section_of_type(main, SHT_SYMTAB))
		return add_table(r, main, SHT_SYMTAB);
	if (section_of_type(debug, SHT_SYMTAB))
		return add_table(r, debug, SHT_SYMTAB);
	if (!main)
		return 0;
	r->partial = true;
	err = add_unpacked(r, main);
	return err ? err : add_table(r, main, SHT_DYNSYM);
}

static int candidate_compare(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

/* The best of the candidates with one range, which begin at @i; @next follows them. */
static const struct candidate *choose(const struct reading *r, size_t i, size_t *next)
{
	const struct candidate *first = &r->candidates[i], *best = first;
	size_t n = 1;

	for (; i + n < r->count; n++) {
		const struct candidate *c = first + n;

		if (c->start != first->start || c->size != first->size)
			break;
		if (c->rank == first->rank && n < MAX_ALIASES &&
		    symbol_reads_better(text_at(r, best->name), text_at(r, c->name)))
			best = c;
	}
	*next = i + n;
	return best;
}

/* The section with the code at @start, as interval, and what is left of it there. */
static uint64_t left_of_section(const struct reading *r, uint64_t start)
{
	const struct interval *section = interval_map_find(&r->sections, start);

	return section->size - (start - section->start);
}

/* ModRM, SIB and displacement of an operand in memory. */
static size_t operand_size(uint8_t modrm)
{
	static const size_t displacement[] = {0, 1, 4, 0};

	return 1 + ((modrm & 7) == 4) + displacement[modrm >> 6];
}

/* The length of the padding instruction at the start of @code, or 0. */
static size_t padding_size(const uint8_t *code, size_t size)
{
	size_t at = 0;

	while (at < size && (code[at] == 0x66 || code[at] == 0x2e))
		at++;
	if (at < size && (code[at] == NOP || (!at && (code[at] == INT3 || !code[at]))))
		return at + 1;
	if (size - at < 3 || code[at] != 0x0f || code[at + 1] != 0x1f)
		return 0;
	return at + 2 + operand_size(code[at + 2]);
}

static bool is_padding(const uint8_t *code, size_t size)
{
	size_t at = 0, step;

	while (at < size && (step = padding_size(code + at, size - at)))
		at += step;
	return at == size;
}

/* code_end() of @size bytes of x86-64 code. */
static size_t x86_code_end(const uint8_t *code, size_t size, uint64_t address)
{
	for (size_t i = 0; i < size; i++) {
		size_t gap = (size_t)(-(address + i + 1) % ALIGNMENT);

		if (code[i] == RET && gap < size - i && is_padding(code + i + 1, gap))
			return i + 1;
	}
	return size;
}

/* Where the code at @address is in the file; false: it has less than @size bytes of it. */
static bool find_bytes(Elf *elf, uint64_t address, uint64_t size, uint64_t *ret)
{
	Elf_Scn *section = NULL;
	GElf_Shdr h;

	while ((section = elf_next_section(elf, section, &h)))
		if (h.sh_type == SHT_PROGBITS && h.sh_flags & SHF_EXECINSTR &&
		    address >= h.sh_addr && address - h.sh_addr < h.sh_size &&
		    size <= h.sh_size - (address - h.sh_addr)) {
			*ret = h.sh_offset + (address - h.sh_addr);
			return true;
		}
	return false;
}

/*
 * The bytes from @address to the first return after which nothing but padding
 * comes before a multiple of 16, where the next function may begin; at most @size.
 * For x86-64, where assemblers that give symbols no size are in use; elsewhere, and
 * where the code cannot be read, @size.
 *
 * It is a guess to the safe side: a function with a return before an aligned
 * loop is cut there.
 */
static uint64_t code_end(Elf *elf, uint64_t address, uint64_t size)
{
	Elf_Data *data = NULL;
	GElf_Ehdr header;
	uint64_t offset;

	if (!gelf_getehdr(elf, &header) || header.e_machine != EM_X86_64)
		return size;
	if (find_bytes(elf, address, size, &offset) && offset <= INT64_MAX)
		data = elf_getdata_rawchunk(elf, (int64_t)offset, size, ELF_T_BYTE);
	return data && data->d_buf ? x86_code_end(data->d_buf, data->d_size, address) : size;
}

/* How far the symbol without size at @start reaches, given the start of the next. */
static uint64_t reach(struct reading *r, Elf *main, uint64_t start, uint64_t next)
{
	uint64_t left = left_of_section(r, start);

	if (next > start && next - start < left)
		left = next - start;
	if (!r->partial || left <= MAX_GUESS)
		return left;
	return r->looks++ < MAX_LOOKS ? code_end(main, start, MAX_GUESS) : MAX_GUESS;
}

static int choose_all(struct reading *r, Elf *main)
{
	uint64_t covered = 0; /* up to where sized symbols reach */
	int err = 0;

	if (r->count)
		qsort(r->candidates, r->count, sizeof(*r->candidates), candidate_compare);
	for (size_t i = 0, next; i < r->count && !err; i = next) {
		const struct candidate *c = choose(r, i, &next);
		uint64_t size = c->size, left = left_of_section(r, c->start);
		bool guessed = !size;

		/* Sized symbols sort first, so a size-less twin is covered. */
		if (guessed && c->start < covered)
			continue;
		if (guessed)
			size = reach(r, main, c->start,
				     next < r->count ? r->candidates[next].start : 0);
		else if (size > left)
			size = left;
		if (!guessed && c->start + size > covered)
			covered = c->start + size;
		err = interval_map_add(&r->list->map, c->start, size,
				       c->name | (guessed ? FUNCTION_GUESSED : 0));
	}
	return err;
}

int functions_read(Elf *main, Elf *debug, size_t limit, struct symlist *ret)
{
	struct symlist list = {0};
	struct reading r = {.list = &list, .limit = limit};
	int err = find_code(&r, main ? main : debug);

	err = err ? err : add_tables(&r, main, debug);
	err = err ? err : choose_all(&r, main);
	free(r.candidates);
	interval_map_fini(&r.sections);
	interval_map_sort(&list.map);
	if (!err && main)
		err = functions_add_stubs(main, limit, &list);
	if (err) {
		symlist_fini(&list);
		return err;
	}
	interval_map_shrink(&list.map);
	*ret = list;
	return 0;
}

void function_name(const struct symlist *l, const struct interval *function, char *dst, size_t size)
{
	const char *name = symlist_name(l, function);

	if (function->value & FUNCTION_STUB)
		snprintf(dst, size, "%.*s" STUB_SUFFIX,
			 (int)strnlen(name, size - sizeof(STUB_SUFFIX)), name);
	else
		snprintf(dst, size, "%s", name);
	if (function->value & FUNCTION_STUB && strchr(dst, '@'))
		strcpy(strchr(dst, '@'), STUB_SUFFIX);
}
