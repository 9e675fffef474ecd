/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * list_function.h - a function as builders take it, in a list.
 */
#ifndef BOBBIN_TESTS_LIST_FUNCTION_H
#define BOBBIN_TESTS_LIST_FUNCTION_H

#include "convert/function_list.h"

/* As function_list_add(). */
static inline int list_function(struct function_list *list, const struct bobbin_sframe_function *f)
{
	struct listed_function listed = {
		.start = f->start,
		.size = f->size,
		.rep_size = f->rep_size,
		.signal = f->signal,
		.first = list->rows.count,
		.count = f->count,
	};

	for (uint32_t i = 0; i < f->count; i++) {
		uint32_t rule;

		if (rule_pool_of_rule(&list->rows.rules, &f->rows[i].rule, &rule) ||
		    rule_rows_push(&list->rows,
				   (struct rule_row){f->start + f->rows[i].start, rule, false}))
			return -ENOMEM;
	}
	return function_list_add(list, &listed);
}

#endif
