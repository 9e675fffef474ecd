/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/wait_budget.h"

#include <stddef.h>

/* What is used of a budget, after what has been added to it since. */
static uint64_t used_at(const struct wait_budget *budget, uint64_t now_us)
{
	uint64_t refill = (now_us - budget->at_us) / WAIT_REFILL;

	return budget->used_us > refill ? budget->used_us - refill : 0;
}

struct wait_budget *wait_budget_find(struct wait_budgets *budgets, pid_t pid)
{
	for (size_t i = 0; i < WAIT_BUDGETS; i++)
		if (budgets->list[i].pid == pid)
			return &budgets->list[i];
	return NULL;
}

bool wait_budget_is_spent(const struct wait_budget *budget, uint64_t deadline_us, uint64_t now_us)
{
	return used_at(budget, now_us) >= WAIT_DEADLINES * deadline_us;
}

/* A free place, or that of the process which has used least. */
static struct wait_budget *place_for_another(struct wait_budgets *budgets, uint64_t now_us)
{
	struct wait_budget *least = budgets->list;

	for (size_t i = 1; i < WAIT_BUDGETS && least->pid; i++) {
		struct wait_budget *b = &budgets->list[i];

		if (!b->pid || used_at(b, now_us) < used_at(least, now_us))
			least = b;
	}
	return least;
}

void wait_budget_use(struct wait_budgets *budgets, const struct wait_budget *process,
		     uint64_t waited_us, uint64_t deadline_us)
{
	struct wait_budget *b = wait_budget_find(budgets, process->pid);
	uint64_t used = 0;

	if (b && b->started == process->started) {
		used = used_at(b, process->at_us);
	} else {
		b = b ? b : place_for_another(budgets, process->at_us);
		*b = *process;
	}
	b->used_us = used + waited_us;
	b->at_us = process->at_us;
	if (!b->spent_once && wait_budget_is_spent(b, deadline_us, b->at_us)) {
		b->spent_once = true;
		budgets->spent_count++;
	}
}
