/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/sample_merge.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* @next: the sample of a thread that comes next, in @samples. */
struct merged_thread {
	struct profile_samples samples;
	const struct profile_sample *next;
};

/* @heap: threads that have more samples; none is later than those at twice its place and beyond. */
struct sample_merge {
	struct merged_thread *threads;
	struct merged_thread **heap;
	size_t count, heap_count;
	bool begun;
};

int sample_merge_open(const struct profile *profile, const uint32_t *threads, size_t count,
		      struct sample_merge **ret)
{
	struct sample_merge *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->threads = calloc(count + 1, sizeof(*m->threads));
	m->heap = calloc(count + 1, sizeof(struct merged_thread *));
	if (!m->threads || !m->heap) {
		sample_merge_close(m);
		return -ENOMEM;
	}
	m->count = count;
	for (size_t i = 0; i < count; i++) {
		m->threads[i].samples.profile = profile;
		m->threads[i].samples.thread = threads[i];
	}
	*ret = m;
	return 0;
}

void sample_merge_close(struct sample_merge *merge)
{
	if (!merge)
		return;
	free(merge->threads);
	free(merge->heap);
	free(merge);
}

void sample_merge_rewind(struct sample_merge *merge)
{
	for (size_t i = 0; i < merge->count; i++) {
		struct profile_samples *samples = &merge->threads[i].samples;

		samples->chunk = samples->at = samples->count = 0;
	}
	merge->heap_count = 0;
	merge->begun = false;
}

static bool comes_before(const struct merged_thread *a, const struct merged_thread *b)
{
	return a->next->time < b->next->time || (a->next->time == b->next->time && a < b);
}

static void sift_up(struct sample_merge *m, size_t at)
{
	struct merged_thread *own = m->heap[at];

	for (; at && comes_before(own, m->heap[(at - 1) / 2]); at = (at - 1) / 2)
		m->heap[at] = m->heap[(at - 1) / 2];
	m->heap[at] = own;
}

static void sift_down(struct sample_merge *m)
{
	struct merged_thread *own = m->heap[0];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < m->heap_count) {
		if (child + 1 < m->heap_count && comes_before(m->heap[child + 1], m->heap[child]))
			child++;
		if (!comes_before(m->heap[child], own))
			break;
		m->heap[at] = m->heap[child];
		at = child;
	}
	m->heap[at] = own;
}

static int begin(struct sample_merge *m)
{
	for (size_t i = 0; i < m->count; i++) {
		struct merged_thread *thread = &m->threads[i];
		int r = profile_samples_next(&thread->samples, &thread->next);

		if (r < 0)
			return r;
		if (!r)
			continue;
		m->heap[m->heap_count] = thread;
		sift_up(m, m->heap_count++);
	}
	m->begun = true;
	return 0;
}

int sample_merge_next(struct sample_merge *merge, struct profile_sample *ret)
{
	int r = merge->begun ? 0 : begin(merge);
	struct merged_thread *first;

	if (r || !merge->heap_count)
		return r;
	first = merge->heap[0];
	*ret = *first->next;
	r = profile_samples_next(&first->samples, &first->next);
	if (r < 0)
		return r;
	if (!r)
		merge->heap[0] = merge->heap[--merge->heap_count];
	if (merge->heap_count)
		sift_down(merge);
	return 1;
}
