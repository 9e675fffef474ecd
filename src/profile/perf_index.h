/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_index.h - the records of a recording in the order of time.
 *
 * A recording is ordered within the buffer of each CPU only.  One pass over the
 * file notes time and place of each record, sixteen bytes for each; the sort
 * is stable, so that records of one time stay in the order of the file.
 */
#ifndef BOBBIN_PROFILE_PERF_INDEX_H
#define BOBBIN_PROFILE_PERF_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct perf_index_entry {
	uint64_t time;  /* nanoseconds */
	uint64_t place; /* the owner's business */
};

struct perf_index {
	struct perf_index_entry *entries;
	size_t count, capacity;
};

/* Append to an index, which is zero at first.  0 or -ENOMEM. */
int perf_index_add(struct perf_index *index, uint64_t time, uint64_t place);

/*
 * Order by time.  Needs as much memory again while it runs; what is in order already costs one
 * comparison.  0 or -ENOMEM.
 */
int perf_index_sort(struct perf_index *index);

void perf_index_fini(struct perf_index *index);

#endif
