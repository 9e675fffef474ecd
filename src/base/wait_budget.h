/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wait_budget.h - for how long processes may keep us waiting in all.
 *
 * A deadline bounds one read.  A process that answers each read just in time would still take
 * all of our time.  So each one has a budget of a few deadlines, which refills slowly, and
 * nothing of a process is read while it has none left.
 */
#ifndef BOBBIN_BASE_WAIT_BUDGET_H
#define BOBBIN_BASE_WAIT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Processes that are remembered. */
#define WAIT_BUDGETS 64
/* A budget has so many deadlines, */
#define WAIT_DEADLINES 5
/* and so much of the time that passes is added to it: at last a process costs a tenth. */
#define WAIT_REFILL 10

struct wait_budget {
	pid_t pid; /* 0: none */
	bool spent_once;
	uint64_t started; /* the process's start, since its number may be another's later */
	uint64_t used_us, at_us;
};

struct wait_budgets {
	struct wait_budget list[WAIT_BUDGETS];
	unsigned int spent_count; /* processes whose budget was spent once */
};

/* What is known of a process, or NULL; its @started may be another process's. */
struct wait_budget *wait_budget_find(struct wait_budgets *budgets, pid_t pid);

/* Whether nothing is left at a time. */
bool wait_budget_is_spent(const struct wait_budget *budget, uint64_t deadline_us, uint64_t now_us);

/* A process has kept us waiting until now. */
void wait_budget_use(struct wait_budgets *budgets, const struct wait_budget *process,
		     uint64_t waited_us, uint64_t deadline_us);

#endif
