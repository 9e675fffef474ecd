/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * added_row.h - rows of code that has no call-frame information.
 */
#ifndef BOBBIN_CONVERT_ADDED_ROW_H
#define BOBBIN_CONVERT_ADDED_ROW_H

#include <bobbin/types.h>
#include <stddef.h>

/**
 * struct added_row - a rule for some addresses
 * @start, @end: the addresses
 * @function: where their function starts; rows of one function that touch stay together
 * @word: the rule, packed
 */
struct added_row {
	uint64_t start, end;
	uint64_t function;
	uint64_t word;
};

/* Rows, ascending and without overlaps, none of them in code of a live FDE. */
struct added_rows {
	const struct added_row *row;
	size_t count;
};

#endif
