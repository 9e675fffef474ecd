/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/symlist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int reserve(struct symlist *l, size_t size)
{
	size_t capacity = l->names_capacity ? l->names_capacity : 4096;
	char *names;

	if (size <= l->names_capacity - l->names_size)
		return 0;
	while (capacity - l->names_size < size)
		capacity *= 2;
	names = realloc(l->names, capacity);
	if (!names)
		return -ENOMEM;
	l->names = names;
	l->names_capacity = capacity;
	return 0;
}

int symlist_add(struct symlist *l, uint64_t start, uint64_t size, uint64_t marks, const char *name,
		size_t len)
{
	int err = reserve(l, len + 1);

	err = err ? err : interval_map_add(&l->map, start, size, marks | l->names_size);
	if (err)
		return err;
	memcpy(l->names + l->names_size, name, len);
	l->names[l->names_size + len] = '\0';
	l->names_size += len + 1;
	return 0;
}

void symlist_fini(struct symlist *l)
{
	free(l->names);
	interval_map_fini(&l->map);
	*l = (struct symlist){0};
}
