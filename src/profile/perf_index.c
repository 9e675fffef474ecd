/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdbool.h>

#include "base/vector.h"
#include "profile/perf_index.h"

int perf_index_add(struct perf_index *index, uint64_t time, uint64_t place)
{
	if (vector_reserve(&index->entries, &index->capacity, index->count + 1,
			   sizeof(*index->entries)))
		return -ENOMEM;
	index->entries[index->count++] = (struct perf_index_entry){.time = time, .place = place};
	return 0;
}

/* Merge [0, mid) and [mid, n) of @from into @to. */
static void merge(const struct perf_index_entry *from, size_t mid, size_t n,
		  struct perf_index_entry *to)
{
	size_t left = 0, right = mid;

	if (mid >= n || from[mid - 1].time <= from[mid].time) {
		memcpy(to, from, n * sizeof(*to));
		return;
	}
	for (size_t i = 0; i < n; i++) {
		bool take_left = right == n || (left < mid && from[left].time <= from[right].time);

		to[i] = from[take_left ? left++ : right++];
	}
}

static void merge_runs(const struct perf_index_entry *from, size_t run, size_t count,
		       struct perf_index_entry *to)
{
	for (size_t i = 0; i < count; i += 2 * run) {
		size_t n = count - i < 2 * run ? count - i : 2 * run;

		merge(from + i, run, n, to + i);
	}
}

static bool is_sorted(const struct perf_index *index)
{
	for (size_t i = 1; i < index->count; i++)
		if (index->entries[i - 1].time > index->entries[i].time)
			return false;
	return true;
}

int perf_index_sort(struct perf_index *index)
{
	struct perf_index_entry *from = index->entries, *to, *merged;

	if (is_sorted(index))
		return 0;
	to = reallocarray(NULL, index->count, sizeof(*to));
	if (!to)
		return -ENOMEM;
	for (size_t run = 1; run < index->count; run *= 2) {
		merge_runs(from, run, index->count, to);
		merged = to;
		to = from;
		from = merged;
	}
	free(to);
	index->entries = from;
	index->capacity = index->count;
	return 0;
}

void perf_index_fini(struct perf_index *index)
{
	free(index->entries);
	*index = (struct perf_index){0};
}
