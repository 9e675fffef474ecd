/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lookup_touches.h - how much of a section a lookup reads.
 */
#ifndef BENCH_LOOKUP_TOUCHES_H
#define BENCH_LOOKUP_TOUCHES_H

#include <bobbin/sframe.h>

/**
 * struct lookup_touches - what one lookup has read
 * @buckets: of the index, two neighbours count as one
 * @fdes: different entries of the FDE table
 * @rows: rows
 */
struct lookup_touches {
	unsigned int buckets, fdes, rows;
};

/**
 * lookup_touches() - look a PC up and count
 * @view: a checked section
 * @pc: of the section
 *
 * Runs the library's own source, in a copy that counts.
 *
 * Return: the numbers.
 */
struct lookup_touches lookup_touches(const struct bobbin_sframe_view *view, uint64_t pc);

#endif
