/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sample_merge.h - the samples of some threads of a profile as one sequence, in the order of time.
 */
#ifndef BOBBIN_EXPORT_SAMPLE_MERGE_H
#define BOBBIN_EXPORT_SAMPLE_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "export/profile.h"

struct sample_merge;

/* @threads: their numbers, which are copied.  0, or -ENOMEM. */
int sample_merge_open(const struct profile *profile, const uint32_t *threads, size_t count,
		      struct sample_merge **ret);
void sample_merge_close(struct sample_merge *merge); /* or NULL */

/* Begin with the first sample, again. */
void sample_merge_rewind(struct sample_merge *merge);

/* The next sample.  1; 0 at the end; or the errno of reading it. */
int sample_merge_next(struct sample_merge *merge, struct profile_sample *ret);

#endif
