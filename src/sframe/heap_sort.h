/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * heap_sort.h - heap sort: in place, without recursion, never worse than n log n.
 *
 *	heap_sort(order, count, a, b, a->key < b->key);
 */
#ifndef BOBBIN_SFRAME_HEAP_SORT_H
#define BOBBIN_SFRAME_HEAP_SORT_H

#include "core/deps.h"

/**
 * heap_sort() - sort an array
 * @items: the array
 * @count: of its items, 32 bits
 * @a, @b: names for pointers to two items, which @before uses
 * @before: an expression: whether *@a comes before *@b
 *
 * First each item from the middle back to the first sinks to its place below the larger
 * ones, then the largest goes to the end again and again, and the one from there sinks.
 */
#define heap_sort(items, count, a, b, before) \
	do { \
		uint32_t heap_end = (count), heap_unsorted = heap_end / 2; \
\
		while (heap_end > 1) { \
			const bool building = heap_unsorted; \
			uint64_t sink_at = building ? --heap_unsorted : 0, child; \
			const __typeof__(*(items)) sinking = \
				(items)[building ? sink_at : --heap_end]; \
\
			if (!building) \
				(items)[heap_end] = (items)[0]; \
			for (; (child = 2 * sink_at + 1) < heap_end; sink_at = child) { \
				const __typeof__(sinking) *a = &(items)[child], *b = a + 1; \
\
				child += child + 1 < heap_end && (before); \
				a = &sinking; \
				b = &(items)[child]; \
				if (!(before)) \
					break; \
				(items)[sink_at] = *b; \
			} \
			(items)[sink_at] = sinking; \
		} \
	} while (0)

#endif
