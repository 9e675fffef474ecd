/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * function_rows.h - the rows of a function of an SFrame section.
 *
 *	while (index < view.num_fdes)
 *		if (function_rows_read(&rows, &view, index++, &error, &function) > 0)
 *			…
 */
#ifndef BOBBIN_CONVERT_FUNCTION_ROWS_H
#define BOBBIN_CONVERT_FUNCTION_ROWS_H

#include <bobbin/sframe.h>

#include "convert/function_list.h"

/* Add a row; it replaces one before it that starts at the same place.  0, -ENOMEM. */
int function_rows_push(struct rule_rows *rows, uint64_t start, const struct bobbin_rule *rule);

/**
 * function_rows_read() - decode a function and all of its rows
 * @rows: its rows replace those that are there
 * @view: a checked section
 * @index: of the function, < @view->num_fdes
 * @err: where and why on failure, or NULL
 * @ret: the function
 *
 * Rows that cover no PC are left out.  At each PC the rows give the same rule as lookups.
 *
 * Return: 1; 0 for a function that covers no PC; -EBADMSG; -ENOMEM.
 */
int function_rows_read(struct rule_rows *rows, const struct bobbin_sframe_view *view,
		       uint32_t index, struct bobbin_error *err, struct listed_function *ret);

#endif
