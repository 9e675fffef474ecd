/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cpu_budget.h - how often an agent may sample for the CPU time that it is granted.
 */
#ifndef BOBBIN_AGENT_CPU_BUDGET_H
#define BOBBIN_AGENT_CPU_BUDGET_H

#include <stdint.h>

/**
 * struct cpu_budget - what is granted, and what was used
 * @limit: per cent of one processor; 0: there is none
 * @most, @frequency: samples a second and CPU, that were asked for and that are taken
 * @used: per cent, in the last interval
 * @calm: intervals, up to now, in which so little was used that the frequency may be raised
 * @used_ns, @at_ns: CPU time so far, and when it was so much
 */
struct cpu_budget {
	double limit;
	uint32_t most, frequency;
	double used;
	uint32_t calm;
	uint64_t used_ns, at_ns;
};

/*
 * An interval is over: so much CPU time was used since the start, and it is this time, both in
 * nanoseconds.  Halves the frequency when more was used than granted, down to 1, and
 * doubles it when that would have left a part of the grant unused for four intervals.  The frequency from now on, which is
 * @budget->frequency.
 */
uint32_t cpu_budget_take(struct cpu_budget *budget, uint64_t used_ns, uint64_t now_ns);

#endif
