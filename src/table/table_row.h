/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_row.h - the rows of a table in the making.
 */
#ifndef BOBBIN_TABLE_TABLE_ROW_H
#define BOBBIN_TABLE_TABLE_ROW_H

#include "table/table_rules.h"

struct table_row {
	uint64_t start;
	uint32_t rule; /* index in the rules */
	bool begins;
};

/**
 * struct numbered_rows - rows whose rules have numbers
 * @rules: their rules
 * @rows, @count: the rows, ascending, at least one
 * @end: of the last one
 */
struct numbered_rows {
	const struct table_rules *rules;
	const struct table_row *rows;
	size_t count;
	uint64_t end;
};

static inline uint32_t row_number(const struct numbered_rows *rows, size_t i)
{
	return rows->rules->rules[rows->rows[i].rule].numbers[rows->rows[i].begins];
}

#endif
