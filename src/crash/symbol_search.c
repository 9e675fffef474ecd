/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "crash/symbol_search.h"

#include <elf.h>
#include <string.h>

#include "base/symbol_name.h"
#include "core/bisect.h"
#include "core/deps.h"
#include "crash/raw_file.h"

/* More than programs have that a linker made; a hostile file must not take minutes. */
#define SECTIONS_MAX 65536
#define SEGMENTS_MAX 4096
#define SYMBOLS_MAX ((uint64_t)1 << 22)
/* Names that are compared. */
#define NAMES_MAX 16384
/* Sections of code that are told apart. */
#define CODE_SECTIONS_MAX 64
#define PIECE 512
/* How far a symbol without a size reaches, at most. */
#define REACH_MAX 4096
/* Ranks, best highest: binding, then type. */
#define RANK_GLOBAL 8
#define RANK_WEAK 4
#define RANK_FUNCTION 1

struct code_section {
	uint64_t start, end;
};

/* What a search has of the image. */
struct symbol_table {
	const struct image_source *image;
	Elf64_Ehdr header;
	struct code_section code[CODE_SECTIONS_MAX];
	size_t code_count;
	uint64_t symbols, count; /* where they are, and how many */
	uint64_t names, names_end;
	unsigned int compared; /* names */
};

static size_t read_some(const struct image_source *image, uint64_t offset, void *dst, size_t size)
{
	if (image->fd >= 0)
		return raw_file_read_at(image->fd, offset, dst, size);
	if (offset > image->size)
		return 0;
	if (size > image->size - offset)
		size = image->size - offset;
	memcpy(dst, image->bytes + offset, size);
	return size;
}

static bool read_all(const struct image_source *image, uint64_t offset, void *dst, size_t size)
{
	return read_some(image, offset, dst, size) == size;
}

static bool read_header(const struct image_source *image, Elf64_Ehdr *ret)
{
	const uint8_t data = BOBBIN_HOST_BIG_ENDIAN ? ELFDATA2MSB : ELFDATA2LSB;

	return read_all(image, 0, ret, sizeof(*ret)) && !memcmp(ret->e_ident, ELFMAG, SELFMAG) &&
	       ret->e_ident[EI_CLASS] == ELFCLASS64 && ret->e_ident[EI_DATA] == data;
}

bool image_code_address(const struct image_source *image, uint64_t offset, uint64_t *ret)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	if (!read_header(image, &header) || header.e_phentsize != sizeof(segment))
		return false;
	for (unsigned int i = 0; i < header.e_phnum && i < SEGMENTS_MAX; i++) {
		if (!read_all(image, header.e_phoff + i * sizeof(segment), &segment,
			      sizeof(segment)))
			return false;
		if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X) ||
		    offset - segment.p_offset >= segment.p_filesz)
			continue;
		*ret = offset - segment.p_offset + segment.p_vaddr;
		return true;
	}
	return false;
}

static bool read_section(const struct symbol_table *t, uint64_t number, Elf64_Shdr *ret)
{
	return read_all(t->image, t->header.e_shoff + number * sizeof(*ret), ret, sizeof(*ret));
}

/* What does not fit into 16 bits is in the first section's header. */
static uint64_t count_sections(const struct symbol_table *t)
{
	Elf64_Shdr first;
	uint64_t count = t->header.e_shnum;

	if (!t->header.e_shoff || t->header.e_shentsize != sizeof(first))
		return 0;
	if (!count && read_section(t, 0, &first))
		count = first.sh_size;
	return count < SECTIONS_MAX ? count : SECTIONS_MAX;
}

static void use_symbols(struct symbol_table *t, const Elf64_Shdr *section)
{
	Elf64_Shdr names;

	if (section->sh_entsize != sizeof(Elf64_Sym) ||
	    !read_section(t, section->sh_link, &names) || names.sh_type != SHT_STRTAB ||
	    names.sh_offset > INT64_MAX || names.sh_size > INT64_MAX)
		return;
	t->symbols = section->sh_offset;
	t->count = section->sh_size / sizeof(Elf64_Sym);
	if (t->count > SYMBOLS_MAX)
		t->count = SYMBOLS_MAX;
	t->names = names.sh_offset;
	t->names_end = names.sh_offset + names.sh_size;
}

/* .symtab has all that .dynsym has. */
static bool open_table(const struct image_source *image, struct symbol_table *ret)
{
	Elf64_Shdr section;
	bool whole = false;
	uint64_t count;

	ret->image = image;
	ret->code_count = 0;
	ret->count = 0;
	ret->compared = 0;
	if (!read_header(image, &ret->header))
		return false;
	count = count_sections(ret);
	for (uint64_t i = 1; i < count; i++) {
		if (!read_section(ret, i, &section))
			break;
		if (section.sh_flags & SHF_EXECINSTR && ret->code_count < CODE_SECTIONS_MAX)
			ret->code[ret->code_count++] = (struct code_section){
				section.sh_addr, section.sh_addr + section.sh_size};
		if (section.sh_type != SHT_SYMTAB && (section.sh_type != SHT_DYNSYM || whole))
			continue;
		whole |= section.sh_type == SHT_SYMTAB;
		use_symbols(ret, &section);
	}
	return ret->count;
}

static const struct code_section *section_of(const struct symbol_table *t, uint64_t address)
{
	for (size_t i = 0; i < t->code_count; i++)
		if (address >= t->code[i].start && address < t->code[i].end)
			return &t->code[i];
	return NULL;
}

/* Bare local labels mark places in functions: they name nothing. */
static bool names_code(const struct symbol_table *t, const Elf64_Sym *s)
{
	const unsigned int type = ELF64_ST_TYPE(s->st_info);

	if (s->st_shndx == SHN_UNDEF || !s->st_name || s->st_name >= t->names_end - t->names)
		return false;
	if (type == STT_NOTYPE && ELF64_ST_BIND(s->st_info) == STB_LOCAL)
		return false;
	return (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
	       section_of(t, s->st_value);
}

static unsigned int rank_of(const Elf64_Sym *s)
{
	const unsigned int binding = ELF64_ST_BIND(s->st_info);
	const unsigned int r = ELF64_ST_TYPE(s->st_info) == STT_NOTYPE ? 0 : RANK_FUNCTION;

	if (binding == STB_WEAK)
		return r | RANK_WEAK;
	return binding == STB_LOCAL ? r : r | RANK_GLOBAL;
}

static bool read_name(const struct image_source *image, const struct symbol_found *found, char *ret,
		      size_t size)
{
	if (size > found->name_end - found->name)
		size = found->name_end - found->name;
	size = read_some(image, found->name, ret, size);
	if (!size)
		return false;
	ret[size - 1] = 0;
	return ret[0];
}

/* Whether @b is to be preferred, of two symbols with one start and one size. */
static bool is_preferred(struct symbol_table *t, const struct symbol_found *a,
			 const struct symbol_found *b)
{
	char first[256], second[256];

	if (a->rank != b->rank)
		return b->rank > a->rank;
	return t->compared++ < NAMES_MAX && read_name(t->image, b, second, sizeof(second)) &&
	       (!read_name(t->image, a, first, sizeof(first)) ||
		symbol_reads_better(first, second));
}

/* The innermost one is. */
static bool is_better_around(struct symbol_table *t, const struct symbol_found *a,
			     const struct symbol_found *b)
{
	if (!a->name || a->start != b->start)
		return !a->name || b->start > a->start;
	return a->size != b->size ? b->size < a->size : is_preferred(t, a, b);
}

/* The last one is, and one with a size, which says where the function ends. */
static bool is_better_before(struct symbol_table *t, const struct symbol_found *a,
			     const struct symbol_found *b)
{
	if (!a->name || a->start != b->start)
		return !a->name || b->start > a->start;
	return !a->size && (b->size || is_preferred(t, a, b));
}

static void offer(struct symbol_table *t, struct symbol_query *queries, size_t count,
		  const Elf64_Sym *s)
{
	const struct symbol_found found = {s->st_value, s->st_size, t->names + s->st_name,
					   t->names_end, rank_of(s)};
	size_t i = bisect(at, 0, count, queries[at].address >= found.start);

	/* the queries that follow are told at the end */
	if (i < count && is_better_before(t, &queries[i].nearest, &found))
		queries[i].nearest = found;
	for (; i < count && queries[i].address - found.start < found.size; i++)
		if (is_better_around(t, &queries[i].around, &found))
			queries[i].around = found;
}

/* A symbol reaches to the next one if it has no size, and not into another section. */
static void bound_nearest(const struct symbol_table *t, struct symbol_query *q)
{
	const struct code_section *section = section_of(t, q->nearest.start);

	if (!q->nearest.name || q->nearest.size || !section || q->address >= section->end ||
	    q->address - q->nearest.start >= REACH_MAX)
		q->nearest.name = 0;
}

static void search_piece(struct symbol_table *t, struct symbol_query *queries, size_t count,
			 const Elf64_Sym *symbols, size_t symbol_count)
{
	for (size_t i = 0; i < symbol_count; i++)
		if (names_code(t, &symbols[i]))
			offer(t, queries, count, &symbols[i]);
}

void symbol_search(const struct image_source *image, struct symbol_query *queries, size_t count)
{
	static struct symbol_table table;
	static Elf64_Sym piece[PIECE];

	for (size_t i = 0; i < count; i++)
		queries[i].around = queries[i].nearest = (struct symbol_found){0};
	if (!open_table(image, &table))
		return;
	for (uint64_t at = 0; at < table.count; at += PIECE) {
		const uint64_t left = table.count - at;
		const size_t size = (left < PIECE ? left : PIECE) * sizeof(piece[0]);

		if (!read_all(image, table.symbols + at * sizeof(piece[0]), piece, size))
			break;
		search_piece(&table, queries, count, piece, size / sizeof(piece[0]));
	}
	for (size_t i = 1; i < count; i++)
		if (queries[i - 1].nearest.start > queries[i].nearest.start)
			queries[i].nearest = queries[i - 1].nearest;
	for (size_t i = 0; i < count; i++)
		bound_nearest(&table, &queries[i]);
}

bool symbol_query_name(const struct image_source *image, const struct symbol_query *query,
		       uint64_t *offset, char ret[SYMBOL_NAME_SIZE])
{
	const struct symbol_found *found = query->around.name ? &query->around : &query->nearest;

	if (!found->name || !read_name(image, found, ret, SYMBOL_NAME_SIZE))
		return false;
	/* "name@@VERSION" */
	ret[strcspn(ret, "@")] = 0;
	*offset = query->address - found->start;
	return ret[0];
}
