/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_set.h - a set of addresses of code: a bit for each byte.
 */
#ifndef BOBBIN_INFER_CODE_SET_H
#define BOBBIN_INFER_CODE_SET_H

#include <bobbin/types.h>
#include <errno.h>
#include <stdlib.h>

struct code_set {
	uint8_t *bits;
	uint64_t base, size;
};

/* For addresses from @start to before @end.  0, -ENOMEM. */
static inline int code_set_init(struct code_set *set, uint64_t start, uint64_t end)
{
	*set = (struct code_set){calloc((end - start) / 8 + 1, 1), start, end - start};
	return set->bits ? 0 : -ENOMEM;
}

static inline void code_set_fini(struct code_set *set)
{
	free(set->bits);
}

static inline bool code_set_has(const struct code_set *set, uint64_t addr)
{
	const uint64_t at = addr - set->base;

	return at < set->size && set->bits[at / 8] & 1u << at % 8;
}

static inline void code_set_add(struct code_set *set, uint64_t start, uint64_t end)
{
	for (uint64_t at = start - set->base; at < end - set->base && at < set->size; at++)
		set->bits[at / 8] |= (uint8_t)(1u << at % 8);
}

#endif
