/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_touches.c - the library's lookup once more, counting.
 *
 * The functions that load numbers are wrapped, then compiled_table.c is compiled after them under
 * other names.  Bytes that it reads one by one are in lines of which it loads numbers, too, but
 * for those that say what pairs mean and where functions begin.
 */
#include "table_touches.h"

#include "core/memory.h"
#include "core/refusal.h"

#define LINE 64
#define MAX_LINES 64

static struct {
	uintptr_t lines[MAX_LINES];
	unsigned int count;
} touched;

static const uint8_t *touch(const uint8_t *p)
{
	uintptr_t line = (uintptr_t)p / LINE;

	for (unsigned int i = 0; i < touched.count; i++)
		if (touched.lines[i] == line)
			return p;
	if (touched.count < MAX_LINES)
		touched.lines[touched.count++] = line;
	return p;
}

#define load_u16(p, big_endian) load_u16(touch(p), big_endian)
#define load_u32(p, big_endian) load_u32(touch(p), big_endian)
#define load_u64(p, big_endian) load_u64(touch(p), big_endian)
#define compiled_table_init counted_table_init
#define compiled_table_find counted_table_find
#define compiled_table_rule counted_table_rule
#define compiled_table_number counted_table_number
#define compiled_table_begins counted_table_begins
#define compiled_table_is_none counted_table_is_none
#define compiled_table_function counted_table_function

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "table/compiled_table.c"

struct table_touches table_touches(const struct compiled_table *table, uint64_t vaddr)
{
	uintptr_t index = (uintptr_t)table->index / LINE, blocks = (uintptr_t)table->blocks / LINE;
	struct table_touches ret = {0};
	struct compiled_row row;

	touched.count = 0;
	counted_table_find(table, vaddr, &row);
	for (unsigned int i = 0; i < touched.count; i++) {
		ret.shared += touched.lines[i] < index;
		ret.index += touched.lines[i] >= index && touched.lines[i] < blocks;
		ret.blocks += touched.lines[i] >= blocks;
	}
	return ret;
}
