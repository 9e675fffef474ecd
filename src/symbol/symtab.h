/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symtab.h - the functions of a file, from its symbol tables, sorted once.
 *
 * Of several symbols for the same range one stays: global before weak before
 * local, functions before bare labels, then fewer leading underscores.  A
 * symbol without size reaches to the next symbol or the end of its section,
 * and gives way to a sized one around it.  Names stay in the file until asked
 * for: 24 bytes a function.
 *
 *	symtab_init(&t);
 *	symtab_add(&t, object, object_section(object, ".symtab"));
 *	symtab_finish(&t, object);
 *	symtab_add_plt(&t, object);
 *	...
 *	function = symtab_find(&t, address);
 *	symtab_name(&t, function, name, sizeof(name));
 */
#ifndef BOBBIN_SYMBOL_SYMTAB_H
#define BOBBIN_SYMBOL_SYMTAB_H

#include "symbol/interval.h"
#include "symbol/object.h"

#define SYMTAB_SOURCES 4

/* Where names are: borrowed. */
struct symtab_source {
	const struct object *object;
	const struct object_section *strings;
};

struct symtab_candidate {
	uint64_t start, size;
	uint32_t name;
	uint8_t source, rank;
};

struct symtab {
	struct symtab_source sources[SYMTAB_SOURCES];
	unsigned int source_count;
	struct symtab_candidate *candidates; /* until finished */
	size_t candidate_count, candidate_capacity;
	struct interval_map map;
};

void symtab_init(struct symtab *t);

/*
 * Take the functions of a symbol table section of @o, which must outlive the
 * table; a missing (NULL) or malformed section has none.  Returns 0, -ENOMEM.
 */
int symtab_add(struct symtab *t, const struct object *o, const struct object_section *s);

/* Choose and sort; @o says where sections end.  Returns 0, -ENOMEM. */
int symtab_finish(struct symtab *t, const struct object *o);

/*
 * Then name the PLT stubs of @o by their relocations (x86-64, AArch64).
 * Returns 0, -ENOMEM.
 */
int symtab_add_plt(struct symtab *t, const struct object *o);

/* The function around @address, or NULL; valid until symtab_fini(). */
const struct interval *symtab_find(const struct symtab *t, uint64_t address);

/* Copy its name, cut to @size - 1 bytes.  Returns its length, negative errno. */
int symtab_name(const struct symtab *t, const struct interval *function, char *dst, size_t size);

void symtab_fini(struct symtab *t);

/* For plt.c: the number of the source with the strings of @s, or -ENOMEM. */
int symtab_source(struct symtab *t, const struct object *o, const struct object_section *s);

/* The value of a function in the map; with SYMTAB_STUB it is a stub for the named one. */
#define SYMTAB_STUB (1ull << 63)

static inline uint64_t symtab_value(unsigned int source, uint32_t name)
{
	return (uint64_t)source << 32 | name;
}

#endif
