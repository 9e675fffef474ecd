/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * range.h - ranges of addresses: where a file has code.
 *
 * Freestanding, without state: safe in every context.
 */
#ifndef BOBBIN_RANGE_H
#define BOBBIN_RANGE_H

#include <bobbin/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Addresses @start to @end - 1. */
struct bobbin_range {
	uint64_t start, end;
};

/**
 * bobbin_ranges_hold() - whether one range holds all of another
 * @ranges: ascending and not touching each other
 * @count: their number
 * @start: first address that is looked for
 * @size: bytes from there; with none, the end of a range is a part of it, too
 *
 * Time is logarithmic in @count.
 *
 * Return: whether they do; false if the bytes wrap around.
 */
bool bobbin_ranges_hold(const struct bobbin_range *ranges, size_t count, uint64_t start,
			uint64_t size);

#ifdef __cplusplus
}
#endif

#endif
