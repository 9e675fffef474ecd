// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "infer/uncovered_code.h"

static int add_gap(void *ctx, uint64_t start, uint64_t end)
{
	return coverage_add(ctx, start, end);
}

int uncovered_code_find(struct program *program, struct coverage *functions, struct coverage *ret)
{
	int r = 0;

	/* covered functions are not analysed, but their starts are known */
	for (size_t i = 0; i < functions->count && !r; i++)
		r = program_add_start(program, functions->ranges[i].start, START_SYMBOL);
	for (size_t i = 0; i < program->code.count && !r; i++)
		r = coverage_gaps(functions, &program->code.ranges[i], add_gap, ret);
	coverage_settle(ret);
	return r;
}
