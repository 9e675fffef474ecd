/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * zigzag.h - signed numbers as unsigned ones, near zero small ones.
 *
 *	0, -1, 1, -2, …  are  0, 1, 2, 3, …
 */
#ifndef BOBBIN_SIDEFILE_ZIGZAG_H
#define BOBBIN_SIDEFILE_ZIGZAG_H

#include <stdint.h>

static inline uint64_t zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1 ^ -(value & 1));
}

#endif
