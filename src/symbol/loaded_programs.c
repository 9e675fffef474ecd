/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/loaded_programs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

void loaded_programs_init(struct loaded_programs *programs)
{
	*programs = (struct loaded_programs){0};
	name_pool_init(&programs->names);
}

void loaded_programs_fini(struct loaded_programs *programs)
{
	free(programs->list);
	name_pool_fini(&programs->names);
}

/* The number of those that start at or before @address. */
static size_t count_until(const struct loaded_programs *p, uint64_t address)
{
	size_t low = 0, high = p->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (p->list[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void cut(struct loaded_programs *p, size_t from, size_t to)
{
	if (from == to)
		return;
	memmove(p->list + from, p->list + to, (p->count - to) * sizeof(*p->list));
	p->count -= to - from;
}

/* Whatever has one of the addresses. */
static void make_room(struct loaded_programs *p, const struct loaded_program *program)
{
	size_t from = count_until(p, program->start), to = from;

	if (from && program->start - p->list[from - 1].start < p->list[from - 1].size)
		from--;
	while (to < p->count && p->list[to].start - program->start < program->size)
		to++;
	cut(p, from, to);
}

int loaded_programs_add(struct loaded_programs *programs, const struct loaded_program *program)
{
	struct loaded_program own = *program;
	size_t at;
	int r;

	if (!own.size)
		return 0;
	make_room(programs, &own);
	if (programs->count == LOADED_PROGRAMS_MAX)
		return 0;
	r = name_pool_intern(&programs->names, program->name, &own.name);
	if (!r)
		r = vector_reserve(&programs->list, &programs->room, programs->count + 1,
				   sizeof(own));
	if (r)
		return r == -E2BIG ? 0 : r;
	at = count_until(programs, own.start);
	memmove(programs->list + at + 1, programs->list + at, (programs->count - at) * sizeof(own));
	programs->list[at] = own;
	programs->count++;
	return 0;
}

void loaded_programs_remove(struct loaded_programs *programs, uint64_t start)
{
	const size_t end = count_until(programs, start);

	if (end && programs->list[end - 1].start == start)
		cut(programs, end - 1, end);
}

const struct loaded_program *loaded_programs_find(const struct loaded_programs *programs,
						  uint64_t address)
{
	const size_t end = count_until(programs, address);
	const struct loaded_program *last = end ? &programs->list[end - 1] : NULL;

	return last && address - last->start < last->size ? last : NULL;
}
