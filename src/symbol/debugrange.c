/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/debugdata.h"

#include <dwarf.h>
#include <errno.h>

/* More than a list is read at a time, and the longest entry. */
#define LIST_VIEW 2048
#define LONGEST_ENTRY 32

/* A range list while it is read. */
struct range_walk {
	struct debuginfo *d;
	const struct unit *u;
	struct interval_map *map;
	uint64_t value, base;
	int added;
};

/* False when there is no memory. */
static bool add_range(struct range_walk *w, uint64_t start, uint64_t end)
{
	/* Code that the linker dropped has addresses such as 0, 1 or the highest. */
	if (end <= start || !object_is_text(w->d->object, start, end - start) ||
	    interval_map_memory(w->map) > w->d->limit)
		return true;
	if (interval_map_add(w->map, start, end - start, w->value))
		return false;
	w->added++;
	return true;
}

/* Entries return 1 to go on, 0 at the end, negative errno. */

static int read_pair(struct range_walk *w, struct bytes *b)
{
	unsigned int size = w->u->address_size;
	uint64_t start = bytes_get(b, size), end = bytes_get(b, size);

	if (b->bad || (!start && !end))
		return 0;
	if (start == UINT64_MAX >> (64 - 8 * size)) {
		w->base = end;
		return 1;
	}
	return add_range(w, w->base + start, w->base + end) ? 1 : -ENOMEM;
}

static bool indexed_address(struct range_walk *w, struct bytes *b, uint64_t *ret)
{
	struct value v = {.kind = VALUE_ADDRESS_INDEX, .number = bytes_uleb(b)};

	return !b->bad && value_address(w->d, w->u, &v, ret);
}

static int read_entry(struct range_walk *w, struct bytes *b)
{
	unsigned int size = w->u->address_size, kind = bytes_u8(b);
	uint64_t start = 0, end = 0;
	bool known = true;

	switch (b->bad ? DW_RLE_end_of_list : kind) {
	case DW_RLE_end_of_list:
		return 0;
	case DW_RLE_base_addressx:
		return indexed_address(w, b, &w->base);
	case DW_RLE_base_address:
		w->base = bytes_get(b, size);
		return !b->bad;
	case DW_RLE_startx_endx:
		known = indexed_address(w, b, &start);
		known = indexed_address(w, b, &end) && known;
		break;
	case DW_RLE_startx_length:
		known = indexed_address(w, b, &start);
		end = start + bytes_uleb(b);
		break;
	case DW_RLE_offset_pair:
		start = w->base + bytes_uleb(b);
		end = w->base + bytes_uleb(b);
		break;
	case DW_RLE_start_end:
		start = bytes_get(b, size);
		end = bytes_get(b, size);
		break;
	case DW_RLE_start_length:
		start = bytes_get(b, size);
		end = start + bytes_uleb(b);
		break;
	default:
		return 0;
	}
	if (b->bad)
		return 0;
	return !known || add_range(w, start, end) ? 1 : -ENOMEM;
}

static int read_list(struct range_walk *w, uint64_t offset)
{
	bool old = w->u->version < 5;
	enum debug_section_id id = old ? SECTION_RANGES : SECTION_RNGLISTS;
	int go = 1;

	while (go > 0) {
		struct bytes b = debug_view(w->d, id, offset, LIST_VIEW);

		do
			go = debug_spend(w->d, 1) ? (old ? read_pair(w, &b) : read_entry(w, &b))
						  : 0;
		while (go > 0 && bytes_left(&b) >= LONGEST_ENTRY);
		offset += b.pos;
		if (b.bad || !b.pos)
			break;
	}
	return go < 0 ? go : 0;
}

/* .debug_rnglists has tables of offsets, counted from the table. */
static bool list_offset(struct range_walk *w, const struct value *v, uint64_t *ret)
{
	uint64_t base = w->u->data ? w->u->data->rnglists_base : 0, at;
	struct bytes b;

	if (v->kind == VALUE_NUMBER) {
		*ret = v->number;
		return true;
	}
	if (v->kind != VALUE_LIST_INDEX || !base ||
	    __builtin_mul_overflow(v->number, w->u->offset_size, &at) ||
	    __builtin_add_overflow(at, base, &at))
		return false;
	b = debug_view(w->d, SECTION_RNGLISTS, at, w->u->offset_size);
	*ret = base + bytes_get(&b, w->u->offset_size);
	return !b.bad;
}

static int add_low_high(struct range_walk *w, const struct die *die)
{
	const struct value *high = &die->values[DIE_HIGH];
	uint64_t start, end;

	if (!value_address(w->d, w->u, &die->values[DIE_LOW], &start))
		return 0;
	if (high->kind == VALUE_NUMBER)
		end = start + high->number;
	else if (!value_address(w->d, w->u, high, &end))
		return 0;
	return add_range(w, start, end) ? 0 : -ENOMEM;
}

int debug_ranges_add(struct debuginfo *d, const struct unit *u, const struct die *die,
		     struct interval_map *map, uint64_t value)
{
	struct range_walk w = {.d = d, .u = u, .map = map, .value = value};
	uint64_t offset;
	int err;

	w.base = u->data ? u->data->low : 0;
	if (die->values[DIE_RANGES].kind == VALUE_NONE)
		err = add_low_high(&w, die);
	else if (list_offset(&w, &die->values[DIE_RANGES], &offset))
		err = read_list(&w, offset);
	else
		err = 0;
	return err ? err : w.added;
}
