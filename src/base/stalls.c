/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/stalls.h"

#include <stddef.h>

#include "base/clock.h"
#include "base/process_stat.h"

/* What is used of a budget, after what has been added to it since. */
static uint64_t used_at(const struct wait_budget *budget, uint64_t now_us)
{
	uint64_t refill = (now_us - budget->at_us) / WAIT_REFILL;

	return budget->used_us > refill ? budget->used_us - refill : 0;
}

/* What is known of a process, or NULL; its @started may be another process's. */
static struct wait_budget *wait_budget_find(struct wait_budgets *budgets, pid_t pid)
{
	for (size_t i = 0; i < WAIT_BUDGETS; i++)
		if (budgets->list[i].pid == pid)
			return &budgets->list[i];
	return NULL;
}

/* Whether nothing is left at a time. */
static bool wait_budget_is_spent(const struct wait_budget *budget, uint64_t deadline_us,
				 uint64_t now_us)
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

/* A process has kept us waiting until now. */
static void wait_budget_use(struct wait_budgets *budgets, const struct wait_budget *process,
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

/* A file is opened, and perhaps copied. */
#define FILE_FACTOR 3
/* All files of a process are refused when so many were silent, */
#define FILES_MAX 2
/* and all that belongs to a user. */
#define USER_MAX 4
/* However much was waited before. */
#define SHORTEST_US 20000
#define HURRY_US 250000
/* So many deadlines, if it had less than a whole one. */
#define PAUSE 10

#define UNKNOWN_USER UINT32_MAX

static uint64_t now_us(void)
{
	return clock_now() / 1000;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint32_t user_of(pid_t pid)
{
	uint32_t user;

	return pid && process_user(pid, &user) ? user : UNKNOWN_USER;
}

static bool is_same_process(const struct stall *stall, pid_t pid)
{
	return stall->pid == pid && stall->started == process_start_time(pid);
}

/* Who is root is nobody's victim. */
static bool is_shut_by(const struct stall *stall, uint32_t user)
{
	return user && user != UNKNOWN_USER && stall->user == user;
}

static bool is_refused(const struct stalls *stalls, pid_t pid, uint64_t path)
{
	unsigned int count = stalls->count < STALLS_MAX ? stalls->count : STALLS_MAX;
	unsigned int files = 0, users = 0;
	uint32_t user = stalls->knows_shut_users ? user_of(pid) : UNKNOWN_USER;
	uint64_t now = count ? now_us() : 0;

	for (unsigned int i = 0; i < count; i++) {
		const struct stall *s = &stalls->list[i];

		if (s->until_us <= now)
			continue;
		if (is_shut_by(s, user) && ++users == USER_MAX)
			return true;
		if (!s->path != !path || !is_same_process(s, pid))
			continue;
		if (s->path == path || (pid && ++files == FILES_MAX))
			return true;
	}
	return false;
}

static bool is_out_of_budget(struct stalls *stalls, pid_t pid)
{
	const struct wait_budget *b = pid ? wait_budget_find(&stalls->budgets, pid) : NULL;

	return b && wait_budget_is_spent(b, stalls->deadline_us, now_us()) &&
	       b->started == process_start_time(pid);
}

bool stalls_refuse(struct stalls *stalls, pid_t pid, uint64_t path)
{
	return is_refused(stalls, pid, path) || is_out_of_budget(stalls, pid);
}

/* What all have used of a deadline for files by now. */
static uint64_t used_us(const struct stalls *stalls)
{
	uint64_t refill = (now_us() - stalls->at_us) / WAIT_REFILL;

	return stalls->used_us > refill ? stalls->used_us - refill : 0;
}

uint64_t stalls_limit_ns(const struct stalls *stalls, bool is_file)
{
	uint64_t whole = (is_file ? FILE_FACTOR : 1) * stalls->deadline_us, used = used_us(stalls);

	if (stalls->hurry && *stalls->hurry)
		whole = least(whole, HURRY_US);
	if (whole >= SHORTEST_US)
		whole = whole > used + SHORTEST_US ? whole - used : SHORTEST_US;
	return whole * 1000;
}

void stalls_note_answer(struct stalls *stalls, pid_t pid, uint64_t waited_us)
{
	const struct wait_budget process = {
		.pid = pid, .started = process_start_time(pid), .at_us = now_us()};

	wait_budget_use(&stalls->budgets, &process, waited_us, stalls->deadline_us);
}

void stalls_note_silence(struct stalls *stalls, pid_t pid, uint64_t path, uint64_t waited_us)
{
	bool had_all = waited_us >= stalls->deadline_us;
	uint32_t user = user_of(pid);
	unsigned int users = 0;
	uint64_t now = now_us();

	stalls->list[stalls->count++ % STALLS_MAX] = (struct stall){
		.pid = pid,
		.user = user,
		.started = process_start_time(pid),
		.path = path,
		.until_us = had_all ? UINT64_MAX : now + PAUSE * stalls->deadline_us,
	};
	stalls->used_us = least(used_us(stalls) + waited_us, FILE_FACTOR * stalls->deadline_us);
	stalls->at_us = now;
	for (unsigned int i = 0; i < STALLS_MAX; i++)
		users += is_shut_by(&stalls->list[i], user);
	stalls->knows_shut_users |= users >= USER_MAX;
}

unsigned int stalls_given_up(const struct stalls *stalls)
{
	return stalls->count + stalls->budgets.spent_count;
}
