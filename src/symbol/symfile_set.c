/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/symfile_set.h"

#include "base/vector.h"

#include <errno.h>
#include <stdlib.h>

static void measure(struct symfile_set *set, struct symfile *f)
{
	set->memory -= f->memory;
	symfile_measure(f);
	set->memory += f->memory;
}

static void forget(struct symfile_set *set, unsigned int number)
{
	struct symfile *f = set->files[number];

	if (!f)
		return;
	set->memory -= f->memory;
	symfile_free(f);
	set->files[number] = NULL;
}

static int make_room(struct symfile_set *set, unsigned int number)
{
	int err = vector_reserve(&set->files, &set->capacity, (size_t)number + 1,
				 sizeof(struct symfile *));

	while (!err && set->count <= number)
		set->files[set->count++] = NULL;
	return err;
}

int symfile_set_put(struct symfile_set *set, unsigned int number, const struct symbol_file *file,
		    void *image, size_t image_size)
{
	int err = make_room(set, number);

	if (!err && !image && set->files[number])
		return symfile_set_paths(set->files[number], file->path, file->open_path);
	if (!err)
		forget(set, number);
	err = err ? err : symfile_new(file, image, image_size, &set->files[number]);
	if (err)
		free(image);
	return err;
}

struct symfile *symfile_set_get(const struct symfile_set *set, unsigned int number)
{
	return number < set->count ? set->files[number] : NULL;
}

static struct symfile *least_recent(const struct symfile_set *set)
{
	struct symfile *least = NULL;

	for (size_t i = 0; i < set->count; i++) {
		struct symfile *f = set->files[i];

		if (f && f->state == SYMFILE_OPEN && (!least || f->used < least->used))
			least = f;
	}
	return least;
}

/* Shut the least recently used, at last @current itself, if it may still be read again. */
static void enforce_limit(struct symfile_set *set, struct symfile *current)
{
	while (set->memory > set->context.limit) {
		struct symfile *f = least_recent(set);

		if (!f || (f == current && !symfile_may_grow(f)))
			break;
		f->overgrown += f == current;
		symfile_shut(f);
		measure(set, f);
	}
}

int symfile_set_resolve(struct symfile_set *set, unsigned int number, uint64_t offset,
			struct symbol *ret, size_t max, struct offset_range *holds)
{
	struct symfile *f = set->files[number];
	int n;

	f->used = ++set->clock;
	n = symfile_resolve(f, &set->context, offset, ret, max, holds);
	measure(set, f);
	enforce_limit(set, f);
	return n;
}

unsigned int symfile_set_open(const struct symfile_set *set)
{
	unsigned int n = 0;

	for (size_t i = 0; i < set->count; i++)
		n += set->files[i] && set->files[i]->state == SYMFILE_OPEN;
	return n;
}

void symfile_set_fini(struct symfile_set *set)
{
	for (unsigned int i = 0; i < set->count; i++)
		forget(set, i);
	free(set->files);
	*set = (struct symfile_set){0};
}
