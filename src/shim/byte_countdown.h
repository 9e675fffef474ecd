/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * byte_countdown.h - after how many bytes a thread's next block is sampled.
 *
 * Samples are a Poisson process over the bytes that are allocated: the distance from one to the next
 * is exponentially distributed, whatever came before.  So a block of a size is sampled with a
 * probability that depends on the size alone, by which its weight can be computed.
 */
#ifndef BOBBIN_SHIM_BYTE_COUNTDOWN_H
#define BOBBIN_SHIM_BYTE_COUNTDOWN_H

#include <stdint.h>

/* Longer than any program allocates. */
#define COUNTDOWN_NEVER (UINT64_MAX >> 1)

/* A distance with this mean, in bytes, 1 at least; *@random is the thread's, and not 0. */
uint64_t countdown_draw(uint64_t *random, uint64_t mean);

#endif
