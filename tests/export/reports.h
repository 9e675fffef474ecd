/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reports.h - reports of stacks as text, see stacks.h.
 */
#ifndef BOBBIN_TESTS_EXPORT_REPORTS_H
#define BOBBIN_TESTS_EXPORT_REPORTS_H

#include "export/report.h"
#include "stacks.h"

static inline struct report *report_of(void)
{
	struct report *report = NULL;

	assert_int_equal(report_open(&report), 0);
	return report;
}

static inline void add(struct report *report, const char *comm, const char *text, uint64_t weight)
{
	struct stack stack;

	stack_init(&stack, text);
	assert_int_equal(report_add(report, comm, stack.frames, stack.n, weight), 0);
}

#endif
