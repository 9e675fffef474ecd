/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * walk_comparison.h - whether two walks of one stack say the same.
 *
 * The kernel's walk of a sample comes first, and user space's, from the copy of the same
 * stack, next on the same CPU, at about the same time.
 */
#ifndef BOBBIN_PROFILE_WALK_COMPARISON_H
#define BOBBIN_PROFILE_WALK_COMPARISON_H

#include <bobbin/unwind.h>

#include "profile/perf_event.h"

struct walk_comparison;

enum walk_agreement {
	WALKS_AGREE,
	WALKS_AGREE_IN_PART, /* as far as the copy goes, or user space need not guess */
	WALKS_DIFFER,
	WALKS_UNCOMPARED /* there is none of the kernel, or none of user space */
};

/* 0 or -ENOMEM.  @comparison may be NULL at the end. */
int walk_comparison_open(struct walk_comparison **ret);
void walk_comparison_close(struct walk_comparison *comparison);

/* Keep the kernel's walk. */
void walk_comparison_keep(struct walk_comparison *comparison, const struct perf_event *event,
			  const struct bobbin_trace *trace);

/* Records were lost: what comes next need not be of the same sample. */
void walk_comparison_forget(struct walk_comparison *comparison);

/* A sample comes, or another walk: what was kept of its CPU is of no use any more. */
void walk_comparison_drop(struct walk_comparison *comparison, const struct perf_event *event);

/* Compare user space's walk of a sample with what is kept, which is dropped. */
enum walk_agreement walk_comparison_check(struct walk_comparison *comparison,
					  const struct perf_event *event,
					  const struct bobbin_trace *trace);

#endif
