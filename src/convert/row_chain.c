/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/row_chain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sframe/layout.h"

#define MIN_SLOTS 64
#define MAX_SLOTS (1u << 26)
#define PROBES 16

int piece_counts_init(struct piece_counts *counts, uint64_t pieces)
{
	uint32_t size = MIN_SLOTS;

	while (size < pieces && size < MAX_SLOTS)
		size *= 2;
	/* room for the last probes without wrapping around, and for the spare slot */
	counts->slots = calloc((size_t)size + PROBES + 1, sizeof(*counts->slots));
	if (!counts->slots)
		return -ENOMEM;
	counts->mask = size - 1;
	return 0;
}

struct piece_slot *piece_counts_find(struct piece_counts *counts, uint64_t hash)
{
	struct piece_slot *slot = &counts->slots[hash & counts->mask];
	uint32_t tag = (uint32_t)(hash >> 32) | 1;

	for (unsigned int i = 0; i < PROBES; i++, slot++) {
		if (slot->tag == tag)
			return slot;
		if (!slot->tag) {
			slot->tag = tag;
			slot->where = PIECE_NOWHERE;
			return slot;
		}
	}
	slot = &counts->slots[counts->mask + PROBES + 1];
	*slot = (struct piece_slot){.where = PIECE_NOWHERE};
	return slot;
}

void piece_counts_turn(struct piece_counts *counts)
{
	for (size_t i = 0; i <= (size_t)counts->mask + PROBES + 1; i++) {
		counts->slots[i].count = counts->slots[i].used;
		counts->slots[i].used = 0;
	}
}

void piece_counts_fini(struct piece_counts *counts)
{
	free(counts->slots);
	*counts = (struct piece_counts){0};
}

/* Bytes of code before a function's first row. */
static uint64_t code_before(const struct function_list *list, const struct listed_function *f)
{
	return list->rows.row[f->first].start - f->start;
}

bool row_chain_can_start(const struct function_list *list, size_t index)
{
	const struct listed_function *f = &list->functions[index];

	return f->count && !f->rep_size && code_before(list, f) < f->size;
}

static bool continues(const struct function_list *list, const struct listed_function *f)
{
	const struct listed_function *before = f - 1;

	return before->start + before->size == f->start && f->size && f->count &&
	       f->info == before->info && f->flex == before->flex && !code_before(list, f);
}

size_t row_chain_length(const struct function_list *list, size_t first)
{
	uint64_t size = list->functions[first].size;
	size_t i = first + 1;

	for (; i < list->count && continues(list, &list->functions[i]); i++) {
		size += list->functions[i].size;
		if (size > UINT32_MAX)
			break;
	}
	return i - first;
}

static bool same_body(const struct chain_row *a, const struct chain_row *b)
{
	if (a->body == b->body)
		return true;
	/* mostly they differ in the first word */
	return a->size == b->size && a->body[1] == b->body[1] && !memcmp(a->body, b->body, a->size);
}

static void read_rows(struct row_chain *chain, const struct function_list *list,
		      const struct listed_function *f)
{
	const struct rule_row *from = list->rows.row + f->first, *end = from + f->count;
	uint32_t function = (uint32_t)chain->count;
	const uint64_t start = chain->start;
	struct chain_row *row = chain->rows + chain->count;

	for (; from < end; from++, row++) {
		const struct row_form *form = &list->forms.forms[from->rule];

		row->start = (uint32_t)(from->start - start);
		row->function = function;
		row->body = row_form_body(&list->forms, form, f->flex);
		row->size = form->size[f->flex];
		row->same = row != chain->rows && same_body(row - 1, row);
	}
	chain->count += f->count;
	if (start_width(f->last) > chain->widest)
		chain->widest = (uint8_t)start_width(f->last);
}

int row_chain_read(struct row_chain *chain, const struct function_list *list, size_t first,
		   size_t length)
{
	const struct listed_function *f = &list->functions[first], *end = f + length;
	size_t count = 0;

	for (size_t i = 0; i < length; i++)
		count += f[i].count;
	if (vector_reserve(&chain->rows, &chain->capacity, count, sizeof(*chain->rows)))
		return -ENOMEM;
	chain->start = f->start;
	chain->info = f->info;
	chain->flex = f->flex;
	chain->widest = 1;
	chain->count = 0;
	for (; f < end; f++)
		read_rows(chain, list, f);
	chain->size = (uint32_t)(end[-1].start + end[-1].size - chain->start);
	return 0;
}

void row_chain_hash(struct row_chain *chain)
{
	for (size_t i = 0; i < chain->count; i++)
		chain->rows[i].hash = piece_hash(chain->rows[i].body, chain->rows[i].size);
}

void row_chain_fini(struct row_chain *chain)
{
	free(chain->rows);
	*chain = (struct row_chain){0};
}
