/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/cpu_budget.h"

/* Doubled, it is to stay below the limit even if it is all for samples. */
#define RAISE_BELOW 0.4
/* Work comes in bursts: a rate that goes up and down tells nobody anything. */
#define CALM_INTERVALS 4

uint32_t cpu_budget_take(struct cpu_budget *budget, uint64_t used_ns, uint64_t now_ns)
{
	const uint64_t time = now_ns - budget->at_ns;

	if (!time)
		return budget->frequency;
	budget->used = 100.0 * (double)(used_ns - budget->used_ns) / (double)time;
	budget->used_ns = used_ns;
	budget->at_ns = now_ns;
	if (budget->limit <= 0)
		return budget->frequency;
	budget->calm = budget->used < RAISE_BELOW * budget->limit ? budget->calm + 1 : 0;
	if (budget->used > budget->limit && budget->frequency > 1) {
		budget->frequency /= 2;
	} else if (budget->calm >= CALM_INTERVALS && budget->frequency < budget->most) {
		const uint32_t twice = 2 * budget->frequency;

		budget->frequency = twice < budget->most ? twice : budget->most;
		budget->calm = 0;
	}
	return budget->frequency;
}
