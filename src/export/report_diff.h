/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report_diff.h - what has changed between two profiles, in the manner of `perf diff`.
 *
 *	# Baseline    Delta  Shared Object  Symbol
 *	# ........  .......  .............  .........
 *	#
 *	    20.00%  +10.50%  cc1            [.] parse
 *	     7.25%   -7.25%  cc1            [.] emit
 *
 * Of each function, its own share of all that was sampled, and by how many percentage points it is
 * greater in the second profile.  Files are known by the last parts of their paths, so that another
 * build of a program is compared with the first one.
 */
#ifndef BOBBIN_EXPORT_REPORT_DIFF_H
#define BOBBIN_EXPORT_REPORT_DIFF_H

#include "export/report.h"

/**
 * struct report_diff_side - one of the profiles
 * @report: of all its samples
 * @path: what it is called
 * @samples: how many
 */
struct report_diff_side {
	const struct report *report;
	const char *path;
	uint64_t samples;
};

/*
 * Print the changes from @before to @after, the greatest first.  Of @options count the event, the
 * keys and the limit, which is one of percentage points.  0 or -ENOMEM.  Write errors stay in @out.
 */
int report_diff_write(const struct report_diff_side *before, const struct report_diff_side *after,
		      const struct report_options *options, FILE *out);

#endif
