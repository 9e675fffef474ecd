/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * walk_comparison.h - compare the kernel's walk of a sample with user space's.
 *
 * The kernel's walk comes first.  User space's, from the copy of the same stack, is the next one of
 * the same CPU, at about the same time.
 */
#ifndef BOBBIN_PROFILE_WALK_COMPARISON_H
#define BOBBIN_PROFILE_WALK_COMPARISON_H

#include <bobbin/unwind.h>

#include "profile/perf_event.h"

struct walk_comparison;

enum walk_agreement {
	WALKS_AGREE,
	WALKS_AGREE_IN_PART, /* up to where the copy ends, or user space guesses */
	WALKS_DIFFER,
	WALKS_UNCOMPARED /* one of them is missing */
};

/* 0 or -ENOMEM.  @comparison may be NULL at the end. */
int walk_comparison_open(struct walk_comparison **ret);
void walk_comparison_close(struct walk_comparison *comparison);

/* Keep the kernel's walk. */
void walk_comparison_keep(struct walk_comparison *comparison, const struct perf_event *event,
			  const struct bobbin_trace *trace);

/* Forget all walks: records were lost, so the next one may be of another sample. */
void walk_comparison_forget(struct walk_comparison *comparison);

/* Forget the walk of the event's CPU. */
void walk_comparison_drop(struct walk_comparison *comparison, const struct perf_event *event);

/* Compare user space's walk of a sample with the kernel's, which is forgotten then. */
enum walk_agreement walk_comparison_check(struct walk_comparison *comparison,
					  const struct perf_event *event,
					  const struct bobbin_trace *trace);

#endif
