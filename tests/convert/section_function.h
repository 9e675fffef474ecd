/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * section_function.h - a function as the public builder takes it, in a section whose memory grows.
 */
#ifndef BOBBIN_TESTS_SECTION_FUNCTION_H
#define BOBBIN_TESTS_SECTION_FUNCTION_H

#include <errno.h>

#include "convert/function_list.h"

/* As bobbin_sframe_builder_add(), with -ENOMEM instead of -ENOBUFS. */
static inline int section_maker_add(struct section_maker *maker,
				    const struct bobbin_sframe_function *function)
{
	const struct bobbin_sframe_builder *b = &maker->builder;
	int r;

	while ((r = bobbin_sframe_builder_add(&maker->builder, function)) == -ENOBUFS) {
		r = section_maker_reserve(maker, b->fde_max + UINT64_C(64),
					  b->fre_max + UINT64_C(64));
		if (r)
			return r;
	}
	return r;
}

#endif
