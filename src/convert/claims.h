/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * claims.h - who gets an address that several claim: the first of them.
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

/* A range of addresses; empty ones claim nothing. */
struct claim {
	uint64_t start, end;
};

/**
 * struct claim_piece - a range that nobody else gets
 * @start, @end: addresses, @start < @end
 * @owner: index of the claim
 */
struct claim_piece {
	uint64_t start, end;
	uint32_t owner;
};

/*
 * Share out what @count claims hold, each address to the claim of the lowest
 * index.  The pieces, less than twice as many as claims, ascend and do not
 * overlap, and those of one owner do not touch; they become the caller's.
 * n log n.  0, -ENOMEM.
 */
int claims_settle(const struct claim *claims, uint32_t count, struct claim_piece **pieces,
		  size_t *piece_count);

#endif
