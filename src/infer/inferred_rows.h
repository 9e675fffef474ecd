/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * inferred_rows.h - what inference has found.
 */
#ifndef BOBBIN_INFER_INFERRED_ROWS_H
#define BOBBIN_INFER_INFERRED_ROWS_H

#include <bobbin/types.h>
#include <stddef.h>
#include <stdlib.h>

/**
 * struct infer_row - addresses with one rule
 * @start, @end: of them
 * @function: where the function starts; its parts may be anywhere
 * @word: the packed rule; 0: there is none, while rows are gathered
 * @verified: the grade
 * @own: it is in the function's range, not in a part elsewhere
 */
struct infer_row {
	uint64_t start, end;
	uint64_t function;
	uint64_t word;
	bool verified, own;
};

/**
 * struct infer_counts - what was done
 * @functions, @verified: analysed, and of them
 * @rejected: what was tried as a function and is none
 * @spent: functions whose budget was spent; they have no rows
 * @skipped: functions that were not looked at, since the file's budget was spent
 * @instructions: that were reached
 */
struct infer_counts {
	uint64_t functions, verified, rejected, spent, skipped, instructions;
};

struct infer_rows {
	struct infer_row *rows;
	size_t count, capacity;
	struct infer_counts counts;
};

static inline void infer_rows_fini(struct infer_rows *rows)
{
	free(rows->rows);
	*rows = (struct infer_rows){0};
}

/*
 * Sort rows of all functions, and make those of them that overlap one.  Where functions share code,
 * they should agree.  Where not, what is verified holds; if rows of one grade disagree, none does.
 * 0, -ENOMEM.
 */
int infer_rows_resolve(struct infer_rows *rows);

#endif
