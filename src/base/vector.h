/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vector.h - room in a growing array.
 *
 * An array is a pointer, a count and a capacity that its owner keeps.
 *
 *	return vector_push(v->items, v->count, v->capacity, item);
 */
#ifndef BOBBIN_BASE_VECTOR_H
#define BOBBIN_BASE_VECTOR_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Make room for @need elements of @size bytes.  @array: address of the pointer to the array, which
 * may move.  Grows at least by half, so that appending costs constant time.  0, or -ENOMEM with the
 * array as it was.
 */
static inline int vector_reserve(void *array, size_t *capacity, size_t need, size_t size)
{
	size_t more = *capacity + *capacity / 2 + 16;
	void *moved;

	if (need <= *capacity)
		return 0;
	if (more < need)
		more = need;
	/* pointers of all types: memcpy() may read and write them */
	memcpy(&moved, array, sizeof(moved));
	moved = reallocarray(moved, more, size);
	if (!moved)
		return -ENOMEM;
	memcpy(array, &moved, sizeof(moved));
	*capacity = more;
	return 0;
}

/* Append an element; @items may move.  0, or -ENOMEM with the array as it was. */
#define vector_push(items, count, capacity, ...) \
	(vector_reserve(&(items), &(capacity), (count) + (size_t)1, sizeof(*(items))) \
		 ? -ENOMEM \
		 : ((void)((items)[(count)++] = (__VA_ARGS__)), 0))

/* The order of elements that begin with a uint64_t, for qsort() and bsearch(). */
static inline int vector_by_start(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Give back the room that an array of @count elements does not use. */
static inline void vector_trim(void *array, size_t *capacity, size_t count, size_t size)
{
	void *moved;

	if (!count || count >= *capacity)
		return;
	memcpy(&moved, array, sizeof(moved));
	moved = reallocarray(moved, count, size);
	if (!moved)
		return;
	memcpy(array, &moved, sizeof(moved));
	*capacity = count;
}

#endif
