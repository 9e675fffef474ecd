/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/fde_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text/vector.h"

/* So many runs are merged; each FDE is compared with the ends of all of them. */
#define MAX_RUNS 16
#define NO_FDE UINT32_MAX

struct vector {
	struct listed_fde *fdes;
	size_t count, capacity;
};

static int append(struct vector *v, struct listed_fde fde)
{
	if (vector_reserve(&v->fdes, &v->capacity, v->count + 1, sizeof(*v->fdes)))
		return -ENOMEM;
	v->fdes[v->count++] = fde;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct listed_fde *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/**
 * struct run - FDEs that ascend, although others may stand between them
 * @head, @tail: the first and the last one
 */
struct run {
	uint32_t head, tail;
};

static bool follows(const struct vector *v, const struct run *run, uint32_t i)
{
	return by_start(&v->fdes[run->tail], &v->fdes[i]) <= 0;
}

/*
 * Deal FDEs to runs; each gets to the first one that it can follow.  So the tails of
 * runs descend, and mostly it is the run of the one before.  @next links them.  The
 * number of runs, 0: too many.
 */
static unsigned int deal(const struct vector *v, uint32_t *next, struct run *runs)
{
	unsigned int count = 0, r = 0;

	if (v->count >= NO_FDE)
		return 0;
	for (uint32_t i = 0; i < v->count; i++) {
		if (r && follows(v, &runs[r - 1], i))
			r = 0;
		while (r < count && !follows(v, &runs[r], i))
			r++;
		if (r == MAX_RUNS)
			return 0;
		if (r == count)
			runs[count++].head = i;
		else
			next[runs[r].tail] = i;
		runs[r].tail = i;
		next[i] = NO_FDE;
	}
	return count;
}

/* Of several runs, the one that begins with the least FDE. */
static unsigned int least_of(const struct vector *v, const struct run *runs, unsigned int count)
{
	unsigned int least = 0;

	for (unsigned int r = 1; r < count; r++)
		if (by_start(&v->fdes[runs[r].head], &v->fdes[runs[least].head]) < 0)
			least = r;
	return least;
}

/* Mostly several FDEs of one run come before those of all others. */
static void merge(const struct vector *v, const uint32_t *next, struct run *runs,
		  unsigned int count, struct listed_fde *ret)
{
	while (count) {
		unsigned int least = least_of(v, runs, count);
		struct run run = runs[least];

		runs[least] = runs[--count];
		least = least_of(v, runs, count);
		do {
			*ret++ = v->fdes[run.head];
			run.head = next[run.head];
		} while (run.head != NO_FDE &&
			 (!count || by_start(&v->fdes[run.head], &v->fdes[runs[least].head]) < 0));
		if (run.head != NO_FDE)
			runs[count++] = run;
	}
}

/*
 * Linkers write FDEs in the order of the objects, each of which has code in few
 * sections (ordinary, unlikely, at startup), where it comes in the same order.
 */
static int sort(struct vector *v)
{
	struct listed_fde *sorted;
	struct run runs[MAX_RUNS];
	unsigned int count;
	uint32_t *next;

	if (v->count < 2)
		return 0;
	next = reallocarray(NULL, v->count, sizeof(*next));
	if (!next)
		return -ENOMEM;
	count = deal(v, next, runs);
	if (!count)
		qsort(v->fdes, v->count, sizeof(*v->fdes), by_start);
	if (count > 1) {
		sorted = reallocarray(NULL, v->count, sizeof(*sorted));
		if (!sorted) {
			free(next);
			return -ENOMEM;
		}
		merge(v, next, runs, count, sorted);
		free(v->fdes);
		v->fdes = sorted;
		v->capacity = v->count;
	}
	free(next);
	return 0;
}

/* Sorted FDEs end where the next begins; of those with one start the last stays. */
static void clip(struct vector *v)
{
	size_t kept = 0;

	for (size_t i = 0; i < v->count; i++) {
		struct listed_fde fde = v->fdes[i];

		if (i + 1 < v->count && fde.end > v->fdes[i + 1].start)
			fde.end = v->fdes[i + 1].start;
		if (fde.start < fde.end)
			v->fdes[kept++] = fde;
	}
	v->count = kept;
}

static int collect(const struct bobbin_cfi_view *view, uint32_t index, struct fde_list *list,
		   struct vector *ret)
{
	struct bobbin_error error;
	struct bobbin_cfi_fde fde = {0};
	uint64_t offset = 0;
	int r;

	while ((r = bobbin_cfi_next_like(view, &offset, &fde, &error, &fde)) != 0) {
		if (r < 0) {
			if (!list->malformed++)
				list->reason = error.reason;
			continue;
		}
		if (fde.start >= fde.end)
			continue;
		r = append(ret, (struct listed_fde){fde.start, fde.end, fde.offset, index});
		if (r)
			return r;
	}
	r = sort(ret);
	if (!r)
		clip(ret);
	return r;
}

/* Append the parts of @fde that no range of @taken, from @*from on, holds. */
static int append_rest(const struct vector *taken, size_t *from, struct listed_fde fde,
		       struct vector *ret)
{
	size_t i = *from, most = ret->count + FDE_LIST_PARTS;
	int r;

	while (i < taken->count && taken->fdes[i].end <= fde.start)
		i++;
	*from = i;
	for (; i < taken->count && taken->fdes[i].start < fde.end; i++) {
		struct listed_fde part = fde;

		part.end = taken->fdes[i].start;
		fde.start = taken->fdes[i].end;
		if (part.start >= part.end)
			continue;
		if (ret->count == most)
			return 0;
		r = append(ret, part);
		if (r)
			return r;
	}
	return fde.start < fde.end ? append(ret, fde) : 0;
}

/* Add what @more has and @all has not. */
static int unite(struct vector *all, const struct vector *more)
{
	const struct vector taken = *all;
	struct vector united = {0};
	size_t from = 0;
	int r = 0;

	for (size_t i = 0; i < more->count && !r; i++)
		r = append_rest(&taken, &from, more->fdes[i], &united);
	for (size_t i = 0; i < united.count && !r; i++)
		r = append(all, united.fdes[i]);
	free(united.fdes);
	return r ? r : sort(all);
}

int fde_list_init(const struct bobbin_cfi_view *views, unsigned int count, struct fde_list *ret)
{
	struct fde_list list = {0};
	struct vector all = {0};
	int r = 0;

	for (unsigned int i = 0; i < count && !r; i++) {
		struct vector more = {0};

		r = collect(&views[i], i, &list, &more);
		if (!r && !all.count) {
			all = more;
			continue;
		}
		if (!r)
			r = unite(&all, &more);
		free(more.fdes);
	}
	if (r) {
		free(all.fdes);
		return r;
	}
	list.fdes = all.fdes;
	list.count = all.count;
	*ret = list;
	return 0;
}

void fde_list_fini(struct fde_list *list)
{
	free(list->fdes);
	*list = (struct fde_list){0};
}
