/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vector.h - room in a growing array.
 *
 * An array is a pointer, a count and a capacity that its owner keeps; this is
 * the one function that makes it longer.
 */
#ifndef BOBBIN_TEXT_VECTOR_H
#define BOBBIN_TEXT_VECTOR_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

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
	void **at = array;
	void *moved;

	if (need <= *capacity)
		return 0;
	if (more < need)
		more = need;
	moved = reallocarray(*at, more, size);
	if (!moved)
		return -ENOMEM;
	*at = moved;
	*capacity = more;
	return 0;
}

#endif
