/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rule_range.h - a range of a space in which the rule of each address has its key.
 */
#ifndef BOBBIN_UNWIND_RULE_RANGE_H
#define BOBBIN_UNWIND_RULE_RANGE_H

#include "unwind/space.h"

struct rule_range {
	uint64_t start, size;
	uint64_t key; /* rule_cache_key() of @start; 0: there are no tables */
};

/* The one at an address; its size is 0 where nothing is mapped, or rules are not cached. */
void rule_range_find(struct bobbin_space *space, uint64_t addr, struct rule_range *ret);

#endif
