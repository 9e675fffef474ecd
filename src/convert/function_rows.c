/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/function_rows.h"

#include "convert/row_walk.h"
#include "sframe/layout.h"

int function_rows_push(struct rule_rows *rows, uint64_t start, const struct bobbin_rule *rule)
{
	struct rule_row row = {.start = start};

	if (rule_pool_of_rule(&rows->rules, rule, &row.rule))
		return -ENOMEM;
	if (rows->count && rows->row[rows->count - 1].start == start)
		rows->count--;
	return rule_rows_push(rows, row);
}

static int read_rows(struct rule_rows *rows, const struct bobbin_sframe_view *view,
		     const struct bobbin_sframe_fde *fde, struct bobbin_error *err)
{
	struct row_walk walk = row_walk(view, fde);
	struct bobbin_sframe_row row;
	int r;

	rows->count = 0;
	walk.limit = sframe_fre_limit(fde);
	while ((r = row_walk_next(&walk, err, &row)) > 0)
		if (function_rows_push(rows, fde->start + row.start, &row.rule))
			return -ENOMEM;
	return r;
}

int function_rows_read(struct rule_rows *rows, const struct bobbin_sframe_view *view,
		       uint32_t index, struct bobbin_error *err, struct listed_function *ret)
{
	struct bobbin_sframe_fde fde;
	int r = bobbin_sframe_fde(view, index, err, &fde);

	if (!r)
		r = read_rows(rows, view, &fde, err);
	if (r)
		return r;
	*ret = (struct listed_function){
		.start = fde.start,
		.size = fde.size,
		.rep_size = fde.rep_size,
		.signal = fde.signal,
		.count = (uint32_t)rows->count,
	};
	/* V3: without any row from the start a function has no caller; that is an answer */
	return fde.size && (rows->count || (!fde.num_fres && view->version >= 3));
}
