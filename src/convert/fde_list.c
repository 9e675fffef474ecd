/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/fde_list.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"
#include "core/bisect.h"

/* Runs to merge, at most; each FDE is compared with the ends of all of them. */
#define MAX_RUNS 16
#define NO_FDE UINT32_MAX

/* Most FDEs take fewer bytes; unused pages take no memory. */
#define USUAL_FDE_SIZE 40

struct vector {
	struct listed_fde *fdes;
	size_t count, capacity;
};

static int append(struct vector *v, struct listed_fde fde)
{
	return vector_push(v->fdes, v->count, v->capacity, fde);
}

static int by_start(const void *a, const void *b)
{
	const struct listed_fde *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/**
 * struct run - ascending FDEs, with others in between
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
 * Distribute FDEs among runs: each is added to the first one that it can follow.  So the tails
 * of runs descend, and mostly it is the previous FDE's run.  @next links them.  The number of
 * runs, 0: too many.
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

/* The run that begins with the lowest FDE. */
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
 * Linkers write FDEs in the order of the objects.  The code of each object is in few sections
 * (ordinary, unlikely, at startup), each in the same order.
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

/* Keep sorted FDEs in which no other starts; of those with the same start the longest. */
static size_t keep_live(struct listed_fde *fdes, size_t count)
{
	size_t kept = 0, next;

	for (size_t i = 0; i < count; i = next) {
		const struct listed_fde *live = NULL;
		uint64_t limit = UINT64_MAX;

		for (next = i + 1; next < count && fdes[next].start == fdes[i].start;)
			next++;
		if (next < count)
			limit = fdes[next].start;
		for (; i < next; i++)
			if (fdes[i].end <= limit && (!live || fdes[i].end >= live->end))
				live = &fdes[i];
		if (live)
			fdes[kept++] = *live;
	}
	return kept;
}

static int collect(const struct bobbin_cfi_view *view, uint32_t index, struct fde_list *list,
		   struct vector *ret)
{
	struct bobbin_error error;
	struct bobbin_cfi_fde fde = {0};
	uint64_t offset = 0;
	size_t live;
	int r;

	if (vector_reserve(&ret->fdes, &ret->capacity, view->frame_size / USUAL_FDE_SIZE,
			   sizeof(*ret->fdes)))
		return -ENOMEM;
	while ((r = bobbin_cfi_next_like(view, &offset, &fde, &error, &fde)) != 0) {
		if (r < 0) {
			if (!list->malformed++)
				list->reason = error.reason;
			continue;
		}
		if (fde.start == fde.end)
			continue;
		if (!bobbin_cfi_has_code(view, &fde)) {
			list->dead++;
			continue;
		}
		r = append(ret, (struct listed_fde){fde.start, fde.end, fde.offset, fde.next,
						    fde.cie, fde.insn, index});
		if (r)
			return r;
	}
	r = sort(ret);
	if (r)
		return r;
	live = keep_live(ret->fdes, ret->count);
	list->dead += ret->count - live;
	ret->count = live;
	return 0;
}

/* Add the FDEs of @more at addresses that @all does not cover. */
static int unite(struct vector *all, const struct vector *more)
{
	const size_t known = all->count;
	size_t from = 0;
	int r = 0;

	for (size_t i = 0; i < more->count && !r; i++) {
		const struct listed_fde *fde = &more->fdes[i];

		while (from < known && all->fdes[from].end <= fde->start)
			from++;
		if (from == known || all->fdes[from].start >= fde->end)
			r = append(all, *fde);
	}
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
			free(all.fdes);
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

const struct listed_fde *fde_list_find(const struct fde_list *list, uint64_t addr)
{
	size_t after = bisect(i, 0, list->count, list->fdes[i].start > addr);

	return after && addr < list->fdes[after - 1].end ? &list->fdes[after - 1] : NULL;
}

int listed_fde_start(const struct bobbin_cfi_view *views, const struct listed_fde *listed,
		     struct bobbin_error *err, struct bobbin_cfi_rows *rows)
{
	const struct bobbin_cfi_view *view = &views[listed->view];
	struct bobbin_cfi_fde *fde = &rows->fde;
	int r;

	if (rows->view == view && fde->cie == listed->cie) {
		fde->start = listed->start;
		fde->end = listed->end;
		fde->offset = listed->offset;
		fde->next = fde->insn_end = listed->next;
		fde->insn = listed->insn;
		return bobbin_cfi_rows_again(fde, err, rows);
	}
	r = bobbin_cfi_fde(view, listed->offset, err, fde);
	if (!r)
		r = bobbin_cfi_rows_init(view, fde, err, rows);
	if (r)
		rows->view = NULL;
	return r;
}

void fde_list_fini(struct fde_list *list)
{
	free(list->fdes);
	*list = (struct fde_list){0};
}
