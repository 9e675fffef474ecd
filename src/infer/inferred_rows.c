// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "infer/infer.h"

#include "base/vector.h"

/* Rows that overlap at one address; further ones are left out. */
#define MOST_ACTIVE 32

struct sweep {
	const struct infer_row *rows;
	size_t count, next; /* the next row to begin */
	struct infer_row active[MOST_ACTIVE];
	unsigned int active_count;
	uint64_t at;
	struct infer_rows *out;
};

static int by_start(const void *a, const void *b)
{
	const struct infer_row *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

static void drop_ended(struct sweep *s)
{
	for (unsigned int i = 0; i < s->active_count;)
		if (s->active[i].end <= s->at)
			s->active[i] = s->active[--s->active_count];
		else
			i++;
}

static void begin_rows(struct sweep *s)
{
	if (!s->active_count && s->next < s->count)
		s->at = s->rows[s->next].start;
	for (; s->next < s->count && s->rows[s->next].start == s->at; s->next++)
		if (s->active_count < MOST_ACTIVE)
			s->active[s->active_count++] = s->rows[s->next];
}

/* The next address at which the set of active rows changes. */
static uint64_t next_change(const struct sweep *s)
{
	uint64_t end = s->next < s->count ? s->rows[s->next].start : UINT64_MAX;

	for (unsigned int i = 0; i < s->active_count; i++)
		if (s->active[i].end < end)
			end = s->active[i].end;
	return end;
}

/*
 * The active row that holds; NULL: those of the best grade disagree. What a function says of its
 * own code is not overruled by functions that jump there.
 */
static const struct infer_row *choose(const struct sweep *s)
{
	const struct infer_row *best = NULL, *own = NULL;
	bool disputed = false;

	for (unsigned int i = 0; i < s->active_count; i++) {
		const struct infer_row *row = &s->active[i];

		if (row->own)
			own = row;
		if (!best || (row->verified && !best->verified)) {
			best = row;
			disputed = false;
		} else if (row->verified == best->verified && row->word != best->word) {
			disputed = true;
		}
	}
	if (own && best && !own->verified && best->word != own->word)
		return own;
	return disputed ? NULL : best;
}

static int put(struct sweep *s, const struct infer_row *row, uint64_t end)
{
	struct infer_rows *out = s->out;
	struct infer_row *last = out->count ? &out->rows[out->count - 1] : NULL;

	if (last && last->end == s->at && last->word == row->word &&
	    last->verified == row->verified && last->function == row->function &&
	    last->own == row->own) {
		last->end = end;
		return 0;
	}
	return vector_push(
		out->rows, out->count, out->capacity,
		(struct infer_row){s->at, end, row->function, row->word, row->verified, row->own});
}

int infer_rows_resolve(struct infer_rows *rows)
{
	struct infer_rows out = {.counts = rows->counts};
	struct sweep s = {.rows = rows->rows, .count = rows->count, .out = &out};
	int r = 0;

	if (rows->count)
		qsort(rows->rows, rows->count, sizeof(*rows->rows), by_start);
	for (begin_rows(&s); s.active_count && !r; begin_rows(&s)) {
		const uint64_t end = next_change(&s);
		const struct infer_row *row = choose(&s);

		if (row)
			r = put(&s, row, end);
		s.at = end;
		drop_ended(&s);
	}
	free(rows->rows);
	*rows = out;
	return r;
}
