/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bisect.h - where a sorted sequence changes.
 *
 *	size_t i = bisect(at, 0, count, ranges[at].end > addr);
 *
 * gives the first range that ends after an address, and
 *
 *	size_t i = bisect(at, 0, count, ranges[at].start > addr);
 *
 * one more than the last range that starts at or before it.  Whatever the sequence, the
 * result is in the interval, and at most as many conditions are evaluated as the length of
 * the interval has bits.
 */
#ifndef BOBBIN_CORE_BISECT_H
#define BOBBIN_CORE_BISECT_H

/**
 * bisect() - the first index for which a condition holds
 * @at: a name for the index, which @holds uses
 * @begin: the first index
 * @end: after the last index; its type, an unsigned one, is that of the indices
 * @holds: an expression that is false up to some index and true from there on
 *
 * Return: @end if the condition holds for no index.
 */
#define bisect(at, begin, end, holds) \
	__extension__({ \
		__typeof__((end) + 0) bisect_first = (begin), bisect_end = (end); \
\
		while (bisect_first < bisect_end) { \
			const __typeof__(bisect_first) at = bisect_first + \
							    (bisect_end - bisect_first) / 2; \
\
			if (holds) \
				bisect_end = at; \
			else \
				bisect_first = at + 1; \
		} \
		bisect_first; \
	})

#endif
