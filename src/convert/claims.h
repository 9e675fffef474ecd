/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * claims.h - an address that several claim belongs to the first of them.
 *
 *	claims	0  ├────────┤
 *		1     ├──────────────┤
 *		2  ├────────────────────────┤
 *	pieces	   0        1        2
 */
#ifndef BOBBIN_CONVERT_CLAIMS_H
#define BOBBIN_CONVERT_CLAIMS_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct claim - a function, or a part of one with a single owner
 * @start, @end: addresses; an empty range claims nothing
 * @view, @index: of the function
 */
struct claim {
	uint64_t start, end;
	uint32_t view, index;
};

/*
 * Share out what claims hold: allocated pieces take the place of @count allocated claims, below
 * UINT32_MAX.  As in lookups, an address goes to the earliest view, there to the function that
 * starts last, and of those to the last index.  The pieces, less than twice as many as claims,
 * ascend and do not overlap, and those of one function do not touch.  n log n.  0, -ENOMEM.
 */
int claims_settle(struct claim **claims, size_t *count);

#endif
