/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/process_user.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/text_file.h"

#define ASK_NS 10000000ull

static void ask(struct process *process, uint64_t now)
{
	struct process_owner *owner = &process->owner;
	char name[32], status[1024];
	long user;

	owner->asked = now;
	snprintf(name, sizeof(name), "/proc/%d/status", process->pid);
	text_file_read(name, status, sizeof(status));
	user = text_number_after(status, "\nUid:");
	if (user < 0)
		return;
	owner->known = true;
	owner->user = (uint32_t)user;
}

bool process_user_is(struct process *process, uint32_t user)
{
	uint64_t now = clock_now();

	if (now - process->owner.asked >= ASK_NS)
		ask(process, now);
	return process->owner.known && process->owner.user == user;
}
