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

/**
 * vector_reserve() - make room for elements
 * @array: address of the pointer to the array, which may move
 * @capacity: elements that there is room for; in and out
 * @need: elements that there must be room for
 * @size: bytes of an element
 *
 * Grows at least by half, so that appending costs constant time.
 *
 * Return: 0, or -ENOMEM with the array as it was.
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

/**
 * vector_push() - append an element
 * @items: the pointer to the array, which may move
 * @count: elements of the array; in and out
 * @capacity: elements that there is room for; in and out
 * @...: the element
 *
 * Return: 0, or -ENOMEM with the array as it was.
 */
#define vector_push(items, count, capacity, ...) \
	(vector_reserve(&(items), &(capacity), (count) + (size_t)1, sizeof(*(items))) \
		 ? -ENOMEM \
		 : ((void)((items)[(count)++] = (__VA_ARGS__)), 0))

/**
 * vector_by_start() - the order of elements that begin with a uint64_t
 * @a: an element
 * @b: another one
 *
 * For qsort() and bsearch().
 */
static inline int vector_by_start(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/**
 * vector_trim() - give back the room that an array does not use
 * @array: as for vector_reserve()
 * @capacity: as for vector_reserve()
 * @count: elements of the array
 * @size: bytes of an element
 */
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
