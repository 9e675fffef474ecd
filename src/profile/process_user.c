/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/process_user.h"

#include "base/clock.h"
#include "base/process_stat.h"

#define ASK_NS 10000000ull

static void ask(struct process *process, uint64_t now)
{
	struct process_owner *owner = &process->owner;

	owner->asked = now;
	owner->known |= process_user(process->pid, &owner->user);
}

bool process_user_is(struct process *process, uint32_t user)
{
	uint64_t now = clock_now();

	if (now - process->owner.asked >= ASK_NS)
		ask(process, now);
	return process->owner.known && process->owner.user == user;
}
