/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/function_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"
#include "core/refusal.h"

/* Append a row; the later one of two that start at the same place holds. */
static int add_row(struct function_rows *rows, struct bobbin_sframe_function *f,
		   const struct bobbin_sframe_row *row)
{
	if (f->count && rows->rows[f->count - 1].start == row->start)
		f->count--;
	if (vector_reserve(&rows->rows, &rows->capacity, f->count + (size_t)1, sizeof(*row)))
		return -ENOMEM;
	rows->rows[f->count++] = *row;
	return 0;
}

static int read_rows(struct function_rows *rows, const struct bobbin_sframe_view *view,
		     const struct bobbin_sframe_fde *fde, struct bobbin_error *err,
		     struct bobbin_sframe_function *f)
{
	uint32_t limit = fde->pcmask ? fde->rep_size : fde->size, last = 0;
	uint64_t offset = fde->fre_off;

	for (uint32_t i = 0; i < fde->num_fres; i++) {
		struct bobbin_sframe_row row;
		struct bobbin_sframe_fre fre;
		int r = bobbin_sframe_fre(view, fde, offset, err, &fre);

		if (r)
			return r;
		if (fre.start < last)
			return refuse(err, fre.offset, BOBBIN_REASON_SFRAME_ORDER);
		if (fre.start >= limit)
			break;
		row.start = last = fre.start;
		r = bobbin_sframe_rule(view, fde, &fre, err, &row.rule);
		if (!r)
			r = add_row(rows, f, &row);
		if (r)
			return r;
		offset = fre.next;
	}
	return 0;
}

int function_rows_read(struct function_rows *rows, const struct bobbin_sframe_view *view,
		       uint32_t index, struct bobbin_error *err, struct bobbin_sframe_function *ret)
{
	struct bobbin_sframe_function f;
	struct bobbin_sframe_fde fde;
	int r = bobbin_sframe_fde(view, index, err, &fde);

	if (r)
		return r;
	f = (struct bobbin_sframe_function){
		.start = fde.start,
		.size = fde.size,
		.rep_size = fde.rep_size,
		.signal = fde.signal,
	};
	r = read_rows(rows, view, &fde, err, &f);
	if (r)
		return r;
	f.rows = rows->rows;
	*ret = f;
	/* V3: without any row from the start a function has no caller; that is an answer */
	return f.size && (f.count || (!fde.num_fres && view->version >= 3));
}

void function_rows_fini(struct function_rows *rows)
{
	free(rows->rows);
	*rows = (struct function_rows){0};
}
