/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/function_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"
#include "convert/row_walk.h"
#include "sframe/layout.h"

int function_rows_push(struct function_rows *rows, struct bobbin_sframe_row row)
{
	if (rows->count && rows->rows[rows->count - 1].start == row.start)
		rows->count--;
	return vector_push(rows->rows, rows->count, rows->capacity, row);
}

static int read_rows(struct function_rows *rows, const struct bobbin_sframe_view *view,
		     const struct bobbin_sframe_fde *fde, struct bobbin_error *err)
{
	struct row_walk walk = row_walk(view, fde);
	struct bobbin_sframe_row row;
	int r;

	rows->count = 0;
	walk.limit = sframe_fre_limit(fde);
	while ((r = row_walk_next(&walk, err, &row)) > 0)
		if (function_rows_push(rows, row))
			return -ENOMEM;
	return r;
}

int function_rows_read(struct function_rows *rows, const struct bobbin_sframe_view *view,
		       uint32_t index, struct bobbin_error *err, struct bobbin_sframe_function *ret)
{
	struct bobbin_sframe_fde fde;
	int r = bobbin_sframe_fde(view, index, err, &fde);

	if (!r)
		r = read_rows(rows, view, &fde, err);
	if (r)
		return r;
	*ret = (struct bobbin_sframe_function){
		.start = fde.start,
		.size = fde.size,
		.rep_size = fde.rep_size,
		.signal = fde.signal,
		.rows = rows->rows,
		.count = (uint32_t)rows->count,
	};
	/* V3: without any row from the start a function has no caller; that is an answer */
	return fde.size && (rows->count || (!fde.num_fres && view->version >= 3));
}

void function_rows_fini(struct function_rows *rows)
{
	free(rows->rows);
	*rows = (struct function_rows){0};
}
