/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/symtab.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_SYMBOLS 256
#define STUB_SUFFIX "@plt"
/* Enough of a name to choose between aliases. */
#define ALIAS_NAME 128

/* Ranks, best highest: a size, then binding, then type. */
#define RANK_SIZED 16
#define RANK_GLOBAL 8
#define RANK_WEAK 4
#define RANK_FUNCTION 1

struct elf_symbol {
	uint64_t value, size;
	uint32_t name;
	uint8_t type, binding;
	uint16_t section;
};

void symtab_init(struct symtab *t)
{
	*t = (struct symtab){0};
}

int symtab_source(struct symtab *t, const struct object *o, const struct object_section *s)
{
	for (unsigned int i = 0; i < t->source_count; i++)
		if (t->sources[i].strings == s)
			return (int)i;
	if (t->source_count == SYMTAB_SOURCES)
		return -ENOMEM;
	t->sources[t->source_count] = (struct symtab_source){.object = o, .strings = s};
	return (int)t->source_count++;
}

static int add_candidate(struct symtab *t, const struct symtab_candidate *candidate)
{
	if (t->candidate_count == t->candidate_capacity) {
		size_t capacity = t->candidate_capacity ? 2 * t->candidate_capacity : 256;
		struct symtab_candidate *more;

		more = reallocarray(t->candidates, capacity, sizeof(*more));
		if (!more)
			return -ENOMEM;
		t->candidates = more;
		t->candidate_capacity = capacity;
	}
	t->candidates[t->candidate_count++] = *candidate;
	return 0;
}

static struct elf_symbol parse_symbol(const struct object *o, const uint8_t *raw, size_t size)
{
	struct bytes b = bytes_of(raw, size, o->big_endian);
	struct elf_symbol s = {.name = bytes_u32(&b)};
	uint8_t info;

	if (!o->is_64) {
		s.value = bytes_u32(&b);
		s.size = bytes_u32(&b);
	}
	info = bytes_u8(&b);
	bytes_skip(&b, 1); /* visibility */
	s.section = bytes_u16(&b);
	if (o->is_64) {
		s.value = bytes_u64(&b);
		s.size = bytes_u64(&b);
	}
	s.type = ELF64_ST_TYPE(info);
	s.binding = ELF64_ST_BIND(info);
	return s;
}

static bool is_mapping_symbol(const struct symtab_source *source, const struct elf_symbol *s)
{
	char name[4];

	return object_string(source->object, source->strings, s->name, name, sizeof(name)) < 1 ||
	       name[0] == '$' || (name[0] == '.' && name[1] == 'L');
}

static bool names_code(const struct symtab_source *source, const struct elf_symbol *s)
{
	if (s->section == SHN_UNDEF || (s->section >= SHN_LORESERVE && s->section != SHN_XINDEX) ||
	    !s->name || !object_is_text(source->object, s->value, s->size ? s->size : 1))
		return false;
	if (s->type == STT_NOTYPE)
		return s->binding != STB_LOCAL || !is_mapping_symbol(source, s);
	return s->type == STT_FUNC || s->type == STT_GNU_IFUNC;
}

static uint8_t rank(const struct elf_symbol *s)
{
	uint8_t r = s->size ? RANK_SIZED : 0;

	if (s->binding == STB_GLOBAL || s->binding == STB_GNU_UNIQUE)
		r |= RANK_GLOBAL;
	else if (s->binding == STB_WEAK)
		r |= RANK_WEAK;
	return s->type == STT_NOTYPE ? r : r | RANK_FUNCTION;
}

static int add_chunk(struct symtab *t, unsigned int source, const uint8_t *raw, size_t count,
		     size_t entry)
{
	const struct symtab_source *from = &t->sources[source];
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		struct elf_symbol s = parse_symbol(from->object, raw + i * entry, entry);

		if (!names_code(from, &s))
			continue;
		err = add_candidate(t, &(struct symtab_candidate){
					       .start = s.value,
					       .size = s.size,
					       .name = s.name,
					       .source = (uint8_t)source,
					       .rank = rank(&s),
				       });
	}
	return err;
}

int symtab_add(struct symtab *t, const struct object *o, const struct object_section *s)
{
	size_t entry = o->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	uint8_t raw[CHUNK_SYMBOLS * sizeof(Elf64_Sym)];
	const struct object_section *strings = s ? object_section_at(o, s->link) : NULL;
	int source, err = 0;

	if (!strings || strings->type != SHT_STRTAB || s->type == SHT_NOBITS ||
	    s->offset > UINT64_MAX - s->size)
		return 0;
	source = symtab_source(t, o, strings);
	if (source < 0)
		return source;
	for (uint64_t at = 0, count = s->size / entry; at < count && !err; at += CHUNK_SYMBOLS) {
		size_t n = count - at < CHUNK_SYMBOLS ? count - at : CHUNK_SYMBOLS;

		if (object_read(o, s->offset + at * entry, raw, n * entry))
			break;
		err = add_chunk(t, (unsigned int)source, raw, n, entry);
	}
	return err;
}

static int candidate_compare(const void *left, const void *right)
{
	const struct symtab_candidate *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

static bool alias_name(const struct symtab *t, const struct symtab_candidate *c, char *dst)
{
	const struct symtab_source *s = &t->sources[c->source];

	return object_string(s->object, s->strings, c->name, dst, ALIAS_NAME) > 0;
}

/* Whether the name of @b reads better than that of @a, all else being equal. */
static bool reads_better(const struct symtab *t, const struct symtab_candidate *a,
			 const struct symtab_candidate *b)
{
	char x[ALIAS_NAME], y[ALIAS_NAME];
	size_t m, n;

	if (!alias_name(t, b, y))
		return false;
	if (!alias_name(t, a, x))
		return true;
	if (!strchr(x, '@') != !strchr(y, '@'))
		return strchr(x, '@');
	m = strspn(x, "_");
	n = strspn(y, "_");
	if (m != n)
		return n < m;
	return strcmp(y, x) < 0;
}

/* Real files have a handful of aliases; a hostile one is not read for millions. */
#define MAX_ALIASES 64

/* The best of the candidates with one range, which begin at @i; @next follows them. */
static const struct symtab_candidate *choose(const struct symtab *t, size_t i, size_t *next)
{
	const struct symtab_candidate *first = &t->candidates[i], *best = first;
	size_t n = 1;

	for (; i + n < t->candidate_count; n++) {
		const struct symtab_candidate *c = first + n;

		if (c->start != first->start || c->size != first->size)
			break;
		if (c->rank == first->rank && n < MAX_ALIASES && reads_better(t, best, c))
			best = c;
	}
	*next = i + n;
	return best;
}

static int add_function(struct symtab *t, const struct symtab_candidate *c, uint64_t size)
{
	return interval_map_add(&t->map, c->start, size, symtab_value(c->source, c->name));
}

static void add_sections(struct interval_map *ends, const struct object *o)
{
	for (unsigned int i = 0; i < o->section_count; i++) {
		const struct object_section *s = &o->sections[i];

		/* If there is no memory for this one, size-less symbols there go. */
		if ((s->flags & SHF_ALLOC) && (s->flags & SHF_EXECINSTR))
			(void)!interval_map_add(ends, s->address, s->size, 0);
	}
	interval_map_sort(ends);
}

/* How far a symbol without size reaches, given the start of the next. */
static uint64_t reach(const struct interval_map *sections, uint64_t start, uint64_t next)
{
	const struct interval *section = interval_map_find(sections, start);
	uint64_t left;

	if (!section)
		return 0;
	left = section->size - (start - section->start);
	return next > start && next - start < left ? next - start : left;
}

static int choose_all(struct symtab *t, const struct interval_map *sections)
{
	uint64_t covered = 0; /* up to where sized symbols reach */
	int err = 0;

	for (size_t i = 0, next; i < t->candidate_count && !err; i = next) {
		const struct symtab_candidate *c = choose(t, i, &next);
		uint64_t size = c->size, after;

		if (!size && c->start < covered)
			continue;
		/* Sized symbols sort first, so a size-less twin was just skipped. */
		after = next < t->candidate_count ? t->candidates[next].start : 0;
		if (!size)
			size = reach(sections, c->start, after);
		else if (c->start + size > covered)
			covered = c->start + size;
		err = add_function(t, c, size);
	}
	return err;
}

int symtab_finish(struct symtab *t, const struct object *o)
{
	struct interval_map sections = {0};
	int err;

	if (t->candidate_count)
		qsort(t->candidates, t->candidate_count, sizeof(*t->candidates), candidate_compare);
	add_sections(&sections, o);
	err = choose_all(t, &sections);
	interval_map_fini(&sections);
	free(t->candidates);
	t->candidates = NULL;
	t->candidate_count = t->candidate_capacity = 0;
	if (err)
		return err;
	interval_map_sort(&t->map);
	interval_map_shrink(&t->map);
	return 0;
}

const struct interval *symtab_find(const struct symtab *t, uint64_t address)
{
	return interval_map_find(&t->map, address);
}

int symtab_name(const struct symtab *t, const struct interval *function, char *dst, size_t size)
{
	bool stub = function->value & SYMTAB_STUB;
	const struct symtab_source *s = &t->sources[(function->value & ~SYMTAB_STUB) >> 32];
	size_t room = stub ? size - strlen(STUB_SUFFIX) : size;
	int len = object_string(s->object, s->strings, (uint32_t)function->value, dst, room);

	if (len > 0 && stub) {
		char *version = strchr(dst, '@');

		strcpy(version ? version : dst + len, STUB_SUFFIX);
		len = (int)strlen(dst);
	}
	return len;
}

void symtab_fini(struct symtab *t)
{
	free(t->candidates);
	interval_map_fini(&t->map);
	*t = (struct symtab){0};
}
