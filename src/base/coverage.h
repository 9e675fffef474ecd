/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * coverage.h - sets of addresses, such as the text of a program that tables cover.
 *
 *	coverage_add(&functions, start, end) ...
 *	coverage_add(&text, start, end) ...
 *	bytes = coverage_overlap(&functions, &text);
 */
#ifndef BOBBIN_BASE_COVERAGE_H
#define BOBBIN_BASE_COVERAGE_H

#include <bobbin/range.h>

/* A set of addresses; start with {0}. */
struct coverage {
	struct bobbin_range *ranges;
	size_t count, capacity;
	bool sorted; /* ranges ascend and do not touch each other */
};

/* Add the addresses from @start to before @end; none if there are none.  0, -ENOMEM. */
int coverage_add(struct coverage *coverage, uint64_t start, uint64_t end);

/* Sort the ranges, and make one of those that overlap or touch. */
void coverage_settle(struct coverage *coverage);

/* The number of addresses in the set. */
uint64_t coverage_bytes(struct coverage *coverage);

/* The number of addresses in both sets. */
uint64_t coverage_overlap(struct coverage *a, struct coverage *b);

/* Each part of a range that is not in the set, ascending, until @sink does not return 0: that. */
int coverage_gaps(struct coverage *coverage, const struct bobbin_range *within,
		  int (*sink)(void *ctx, uint64_t start, uint64_t end), void *ctx);

void coverage_fini(struct coverage *coverage);

#endif
