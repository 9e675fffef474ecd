/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A compiled table of any rows, and then any table.
 *
 *	u16 length of the rows | rows: u8 kind, u16 size, u16 rule, each | changes: u16 place, u8
 *
 * Contract: what was put in is found; a table that anybody has changed is refused, or its
 * lookups stay in it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/promise.h"
#include "table/compiled_table.h"
#include "table/table_builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROW_SIZE 5
#define CHANGE_SIZE 3
#define TEXT 0x401234

/* What the low bits of a row's kind say of where it stands. */
enum row_kind {
	ROW_NEXT,
	ROW_BEGINS,
	ROW_AFTER_A_GAP,
	ROW_WIDE,
};

struct expected_row {
	uint64_t start, end;
	struct bobbin_rule rule;
};

static uint32_t u16_at(const uint8_t *p)
{
	return (uint32_t)(p[0] | p[1] << 8);
}

static struct bobbin_rule rule_of(const uint8_t *p, bool wide)
{
	return (struct bobbin_rule){
		.cfa = {.how = BOBBIN_HOW_AT_REG,
			.reg = 7,
			.off = (int32_t)(8 * u16_at(p) + 8 + (wide ? 1 : 0))},
		.ra = {.how = BOBBIN_HOW_IN_CFA_MEM, .off = -8},
		.fp = {.how = BOBBIN_HOW_SAME},
		.index = BOBBIN_NO_INDEX,
	};
}

/* Add a row at @at; where it ends. */
static uint64_t add_row(struct table_builder *b, const uint8_t *p, uint64_t at,
			struct expected_row *ret)
{
	unsigned int kind = p[0] % 4;

	if (b->rows.count && (kind == ROW_BEGINS || kind == ROW_AFTER_A_GAP))
		promise(!table_builder_end(b, at));
	if (b->rows.count && kind == ROW_AFTER_A_GAP)
		at += 1 + p[0] / 4;
	if (!b->rows.count || kind == ROW_BEGINS || kind == ROW_AFTER_A_GAP)
		promise(!table_builder_begin(b, at));
	ret->rule = rule_of(p + 3, kind == ROW_WIDE);
	ret->start = at;
	ret->end = at + 1 + u16_at(p + 1) % (p[0] & 64 ? 64 : 40000);
	promise(!table_builder_rule(b, at, &ret->rule));
	return ret->end;
}

static void find(const struct compiled_table *table, uint64_t pc,
		 const struct bobbin_rule *expected)
{
	struct compiled_row row;
	struct bobbin_rule rule;

	promise(!compiled_table_find(table, pc, &row));
	promise(row.start <= pc && pc < row.end);
	promise(!compiled_table_rule(table, &row, &rule));
	promise(bobbin_rule_equal(&rule, expected));
}

static void find_all(const struct compiled_table *table, const struct expected_row *rows,
		     size_t count)
{
	struct compiled_row row;

	for (size_t i = 0; i < count; i++) {
		find(table, rows[i].start, &rows[i].rule);
		find(table, rows[i].start + (rows[i].end - rows[i].start) / 2, &rows[i].rule);
		find(table, rows[i].end - 1, &rows[i].rule);
		if (i + 1 == count || rows[i + 1].start > rows[i].end)
			promise(compiled_table_find(table, rows[i].end, &row) == -ENOENT);
	}
}

static void change(uint8_t *bytes, uint64_t size, const uint8_t *changes, size_t count)
{
	struct compiled_table table;
	struct compiled_row row;
	struct bobbin_rule rule;

	for (size_t i = 0; i < count; i++)
		bytes[u16_at(changes + i * CHANGE_SIZE) % size] = changes[i * CHANGE_SIZE + 2];
	if (compiled_table_init(bytes, size, NULL, &table))
		return;
	for (uint64_t i = 0; i < 4096; i++) {
		uint64_t pc = table.start + (table.end - table.start) / 4096 * i;

		if (compiled_table_find(&table, pc, &row))
			continue;
		compiled_table_rule(&table, &row, &rule);
		/* which looks at many rows */
		if (i % 1024 == 0)
			compiled_table_function(&table, &row);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t count = size < 2 ? 0 : u16_at(data), i;
	struct expected_row *rows;
	struct table_builder b;
	struct compiled_table table;
	uint64_t at = TEXT, length;
	uint8_t *bytes;

	if (!count || count > (size - 2) / ROW_SIZE)
		return 0;
	rows = calloc(count, sizeof(*rows));
	promise(rows && !table_builder_init(bobbin_arch_amd64(), NULL, 0, &b));
	for (i = 0; i < count; i++)
		at = add_row(&b, data + 2 + i * ROW_SIZE, at, &rows[i]);
	promise(!table_builder_end(&b, at));
	promise(!table_builder_make(&b, &bytes, &length));
	promise(!compiled_table_init(bytes, length, NULL, &table));
	find_all(&table, rows, count);
	i = 2 + count * ROW_SIZE;
	change(bytes, length, data + i, (size - i) / CHANGE_SIZE);
	table_builder_fini(&b);
	free(bytes);
	free(rows);
	return 0;
}
