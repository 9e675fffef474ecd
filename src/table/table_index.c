/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table/table_index.h"

#include <errno.h>

#include "base/vector.h"
#include "core/bytes.h"
#include "table/table_layout.h"

/* Text that has an entry. */
struct index_cell {
	uint64_t start;
	unsigned int shift;
};

/**
 * struct index_writer - an index that is being written
 * @starts, @count: of the blocks
 * @cells: their number
 * @quarters, @quarter_count: of cells, and of their quarters, in the order of their entries
 * @at: the block that was the first of the last entry
 * @out: the entries
 */
struct index_writer {
	const uint64_t *starts;
	size_t count;
	uint64_t cells;
	struct index_cell *quarters;
	size_t quarter_count, capacity;
	size_t at;
	struct byte_buffer *out;
};

/* The block that has the first byte of text.  Most cells come in order. */
static size_t first_block(struct index_writer *w, uint64_t start)
{
	if (w->starts[w->at] > start)
		w->at = 0;
	while (w->at + 1 < w->count && w->starts[w->at + 1] <= start)
		w->at++;
	return w->at;
}

static int split(struct index_writer *w, const struct index_cell *cell)
{
	const unsigned int shift = cell->shift - TABLE_QUARTER_SHIFT;
	const unsigned int quarters = 1u << TABLE_QUARTER_SHIFT;

	if (vector_reserve(&w->quarters, &w->capacity, w->quarter_count + quarters,
			   sizeof(*w->quarters)))
		return -ENOMEM;
	for (uint64_t i = 0; i < quarters; i++)
		w->quarters[w->quarter_count++] = (struct index_cell){cell->start + (i << shift),
								      shift};
	return 0;
}

/* Where the next blocks start in a cell, as far as an entry holds them. */
static uint64_t next_starts(const struct index_writer *w, size_t first, uint64_t cell)
{
	uint64_t starts = 0;

	for (unsigned int i = 0; i < TABLE_ENTRY_STARTS; i++) {
		size_t block = first + 1 + i;
		uint64_t start = TABLE_NO_START;

		if (block < w->count && w->starts[block] - cell <= TABLE_NO_START)
			start = w->starts[block] - cell - 1;
		starts |= start << i * TABLE_START_BITS;
	}
	return starts;
}

/* Whether an entry holds all starts of blocks that matter to a lookup in its text. */
static bool is_enough(const struct index_writer *w, size_t first, const struct index_cell *text,
		      uint64_t cell)
{
	const uint64_t end = text->start + (1ull << text->shift);
	const uint64_t cell_end = cell + (1u << TABLE_CELL_SHIFT);
	size_t last = first + TABLE_ENTRY_STARTS;

	if (last >= w->count || w->starts[last] >= end)
		return true;
	return last + 1 >= w->count || w->starts[last + 1] >= cell_end;
}

static int write_entry(struct index_writer *w, struct index_cell text)
{
	const uint64_t cell = text.start >> TABLE_CELL_SHIFT << TABLE_CELL_SHIFT;
	size_t first = first_block(w, text.start);
	uint64_t entry = (uint64_t)first << TABLE_ENTRY_BLOCK | next_starts(w, first, cell);
	uint8_t bytes[TABLE_ENTRY_SIZE];
	int r = 0;

	if (!is_enough(w, first, &text, cell)) {
		entry = TABLE_ENTRY_SPLIT | (w->cells + w->quarter_count);
		r = split(w, &text);
	}
	bytes_store(bytes, entry, sizeof(bytes), false);
	byte_buffer_put(w->out, bytes, sizeof(bytes));
	return r;
}

int table_index_make(const uint64_t *starts, size_t count, uint64_t cells, struct byte_buffer *ret)
{
	struct index_writer w = {.starts = starts, .count = count, .cells = cells, .out = ret};
	int r = 0;

	for (uint64_t i = 0; i < cells && !r; i++)
		r = write_entry(&w, (struct index_cell){i << TABLE_CELL_SHIFT, TABLE_CELL_SHIFT});
	for (size_t i = 0; i < w.quarter_count && !r; i++)
		r = write_entry(&w, w.quarters[i]);
	free(w.quarters);
	return !r && ret->failed ? -ENOMEM : r;
}
