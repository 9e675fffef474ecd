/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * function_rows.h - a function of a section as the builder takes it.
 *
 *	struct function_rows rows = {0};
 *
 *	while (index < view.num_fdes)
 *		if (function_rows_read(&rows, &view, index++, &error, &function) > 0)
 *			section_maker_add(&maker, &function);
 *	function_rows_fini(&rows);
 */
#ifndef BOBBIN_CONVERT_FUNCTION_ROWS_H
#define BOBBIN_CONVERT_FUNCTION_ROWS_H

#include <bobbin/sframe.h>
#include <bobbin/sframe_builder.h>

/* The rows of one function after another; starts as all zero. */
struct function_rows {
	struct bobbin_sframe_row *rows;
	size_t count, capacity;
};

/* Add a row; it replaces one before it that starts at the same place.  0, -ENOMEM. */
int function_rows_push(struct function_rows *rows, struct bobbin_sframe_row row);

/**
 * function_rows_read() - decode a function and all of its rows
 * @rows: memory
 * @view: a checked section
 * @index: of the function, < @view->num_fdes
 * @err: where and why on failure, or NULL
 * @ret: the function, valid until the next call with @rows
 *
 * Rows that cover no PC are left out.  At each PC the rows in @ret give the same rule as
 * lookups.
 *
 * Return: 1; 0 for a function that covers no PC; -EBADMSG; -ENOMEM.
 */
int function_rows_read(struct function_rows *rows, const struct bobbin_sframe_view *view,
		       uint32_t index, struct bobbin_error *err,
		       struct bobbin_sframe_function *ret);

void function_rows_fini(struct function_rows *rows);

#endif
