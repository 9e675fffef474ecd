/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/debugdata.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

/* Deeper DIEs count as if they were this deep. */
#define MAX_DEPTH 256

/* A pass over the DIEs of a unit in the order of the file. */
struct scope_walk {
	struct debuginfo *d;
	const struct unit *u;
	const struct abbrev_table *abbrevs;
	struct scope_table table;
	unsigned int depth;
	uint32_t inside[MAX_DEPTH]; /* scope around the DIEs of a depth */
};

static uint32_t *around(struct scope_walk *w)
{
	return &w->inside[w->depth < MAX_DEPTH ? w->depth : MAX_DEPTH - 1];
}

static int add_scope(struct scope_table *t, const struct scope *s)
{
	if (t->count == t->capacity) {
		size_t more = t->capacity ? 2 * t->capacity : 64;
		struct scope *scopes = reallocarray(t->scopes, more, sizeof(*scopes));

		if (!scopes)
			return -ENOMEM;
		t->scopes = scopes;
		t->capacity = more;
	}
	t->scopes[t->count++] = *s;
	return 0;
}

static uint32_t small_number(const struct value *v)
{
	return v->kind == VALUE_NUMBER && v->number <= UINT32_MAX ? (uint32_t)v->number : 0;
}

/* Adds the scope if it has code; @ret is what its children are in. */
static int take_scope(struct scope_walk *w, const struct die *die, uint64_t at, uint32_t *ret)
{
	bool inlined = die->tag == DW_TAG_inlined_subroutine;
	struct scope s = {
		.die = (uint32_t)at,
		.outer = inlined ? *around(w) : SCOPE_NONE,
		.call_file = inlined ? small_number(&die->values[DIE_CALL_FILE]) : 0,
		.call_line = inlined ? small_number(&die->values[DIE_CALL_LINE]) : 0,
	};
	int n = debug_ranges_add(w->d, w->u, die, &w->table.ranges, w->table.count);

	if (n <= 0)
		return n;
	*ret = (uint32_t)w->table.count;
	return add_scope(&w->table, &s);
}

/* One DIE: 1 to go on, 0 at the end of the tree or of sense, -ENOMEM. */
static int walk_die(struct scope_walk *w, struct bytes *b)
{
	uint64_t at = b->pos + w->u->header_size, code = bytes_uleb(b);
	const struct abbrev *a;
	uint32_t scope = *around(w);
	struct die die;
	int err = 0;

	if (!code)
		return !b->bad && w->depth && --w->depth;
	a = abbrev_find(w->abbrevs, code);
	if (!a || !debug_spend(w->d, 1 + a->count))
		return 0;
	if (a->tag == DW_TAG_subprogram || a->tag == DW_TAG_inlined_subroutine) {
		die_read(b, w->u, w->abbrevs, a, &die);
		if (!b->bad)
			err = take_scope(w, &die, at, &scope);
	} else {
		die_skip(b, w->u, w->abbrevs, a);
	}
	if (err || b->bad)
		return err;
	if (a->children) {
		w->depth++;
		*around(w) = scope;
	}
	return w->depth > 0;
}

int scope_table_read(struct debuginfo *d, const struct unit *u, struct scope_table *ret)
{
	struct scope_walk w = {.d = d, .u = u, .abbrevs = &u->data->abbrevs};
	struct bytes b = debug_view(d, SECTION_INFO, u->offset + u->header_size,
				    u->size - u->header_size);
	size_t max = d->limit / sizeof(struct scope);
	int go = !b.bad;

	max = max < SCOPE_NONE ? max : SCOPE_NONE;
	w.inside[0] = SCOPE_NONE;
	while (go > 0 && bytes_left(&b) && w.table.count < max)
		go = walk_die(&w, &b);
	if (go < 0) {
		scope_table_fini(&w.table);
		return go;
	}
	interval_map_sort(&w.table.ranges);
	interval_map_shrink(&w.table.ranges);
	*ret = w.table;
	return 0;
}

void scope_table_fini(struct scope_table *t)
{
	free(t->scopes);
	interval_map_fini(&t->ranges);
	*t = (struct scope_table){0};
}
