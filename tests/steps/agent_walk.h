/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * agent_walk.h - have the agent in a process that is stepped walk the thread.
 */
#ifndef BOBBIN_TESTS_AGENT_WALK_H
#define BOBBIN_TESTS_AGENT_WALK_H

#include <bobbin/unwind.h>

#include "stepped_process.h"

/**
 * struct agent_walk - the trace
 * @enter: the agent's code
 */
struct agent_walk {
	uint64_t enter;
	struct bobbin_frame frames[BOBBIN_MAX_DEPTH];
	struct bobbin_trace trace;
};

/* false: no agent is loaded. */
bool agent_walk_init(const struct stepped_process *process, struct agent_walk *ret);

/* Walk a thread, which then is as it was; false: the agent did not end. */
bool agent_walk_run(struct stepped_process *process, struct agent_walk *walk);

#endif
