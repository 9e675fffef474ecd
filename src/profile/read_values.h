/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * read_values.h - how much counters have counted since they were read before.
 *
 *	sample of a group's leader: leader 1000, other 60
 *	the next one:               leader 2000, other 75  ──► 1000 and 15 more
 *
 * A sample with PERF_SAMPLE_READ carries what counters have reached, of the event itself or of its
 * whole group.  It stands for what each has counted since the last sample that carried it.
 */
#ifndef BOBBIN_PROFILE_READ_VALUES_H
#define BOBBIN_PROFILE_READ_VALUES_H

#include "base/hash_index.h"

/* Of one counter, in one thread where its threads count apart. */
struct read_value {
	uint64_t id, value;
	uint32_t tid;
};

/* All zero: none has been read. */
struct read_values {
	struct read_value *known;
	size_t count, room;
	struct hash_index index;
};

/*
 * What a counter has counted since the last call for it: all of @value at the first, and after it
 * was set back.  @tid: 0 if it counts for all threads alike; @seed: of the hash, always the same.
 * 0 or -ENOMEM.
 */
int read_values_take(struct read_values *values, uint64_t seed, uint64_t id, uint32_t tid,
		     uint64_t value, uint64_t *ret);

void read_values_fini(struct read_values *values);

#endif
