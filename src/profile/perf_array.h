/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_array.h - arrays that grow while a file is read.
 */
#ifndef BOBBIN_PROFILE_PERF_ARRAY_H
#define BOBBIN_PROFILE_PERF_ARRAY_H

#include <errno.h>
#include <stdlib.h>

/* Room for one more element of @size bytes behind @count of them.  0 or -ENOMEM. */
static inline int perf_array_reserve(void **array, size_t count, size_t *max, size_t size)
{
	size_t more = *max ? 2 * *max : 16;
	void *grown;

	if (count < *max)
		return 0;
	grown = reallocarray(*array, more, size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*max = more;
	return 0;
}

#endif
