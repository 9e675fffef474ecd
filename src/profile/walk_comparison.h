/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * walk_comparison.h - whether two walks of one stack say the same.
 *
 * The kernel's walk of a sample comes first, and user space's, from the copy of the same
 * stack, next on the same CPU.
 */
#ifndef BOBBIN_PROFILE_WALK_COMPARISON_H
#define BOBBIN_PROFILE_WALK_COMPARISON_H

#include <bobbin/unwind.h>

#include "profile/perf_event.h"

struct walk_comparison;

/* 0 or -ENOMEM.  @comparison may be NULL at the end. */
int walk_comparison_open(struct walk_comparison **ret);
void walk_comparison_close(struct walk_comparison *comparison);

/* Keep the kernel's walk. */
void walk_comparison_keep(struct walk_comparison *comparison, const struct perf_event *event,
			  const struct bobbin_trace *trace);

/* Records were lost: what comes next need not be of the same sample. */
void walk_comparison_forget(struct walk_comparison *comparison);

/*
 * 0: user space's walk says the same as the kernel's, as far as it goes; 1: it does not; -ENOENT:
 * the kernel has given out none of this sample.
 */
int walk_comparison_check(struct walk_comparison *comparison, const struct perf_event *event,
			  const struct bobbin_trace *trace);

#endif
