/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/fde_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text/vector.h"

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

static void sort(struct vector *v)
{
	for (size_t i = 1; i < v->count; i++) {
		if (by_start(&v->fdes[i - 1], &v->fdes[i]) > 0) {
			qsort(v->fdes, v->count, sizeof(*v->fdes), by_start);
			return;
		}
	}
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
	struct bobbin_cfi_fde fde;
	uint64_t offset = 0;
	int r;

	while ((r = bobbin_cfi_next(view, &offset, &error, &fde)) != 0) {
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
	sort(ret);
	clip(ret);
	return 0;
}

/* Append the parts of @fde that no range of @taken, from @*from on, holds. */
static int append_rest(const struct vector *taken, size_t *from, struct listed_fde fde,
		       struct vector *ret)
{
	size_t i = *from;
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
	if (!r)
		sort(all);
	return r;
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
