/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Caches change no trace: the same walk with and without them, while the map changes.
 */
#include "storm.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unwind/own_walk.h"

#define ROOM 64
#define REPEATS 256 /* walks that remember between two that do not */
#define TRIES 3

struct kept_trace {
	struct bobbin_frame frames[ROOM];
	struct bobbin_trace trace;
};

static void walk(const struct own_code *code, const struct bobbin_regs *regs,
		 struct kept_trace *ret)
{
	ret->trace = (struct bobbin_trace){.frames = ret->frames, .max = ROOM};
	walk_own_stack(code, regs, NULL, &ret->trace);
}

static bool same(const struct kept_trace *a, const struct kept_trace *b)
{
	if (a->trace.reason != b->trace.reason || a->trace.count != b->trace.count)
		return false;
	for (uint32_t i = 0; i < a->trace.count; i++)
		if (a->frames[i].pc != b->frames[i].pc ||
		    a->frames[i].source != b->frames[i].source ||
		    a->frames[i].exact != b->frames[i].exact)
			return false;
	return true;
}

/* false: the traces differ, although a second walk without caches gives the first trace. */
static bool compare_once(const struct bobbin_regs *regs)
{
	const struct own_code code = read_own_code();
	struct own_code forgetful = code;
	struct kept_trace before, with, after;
	bool equal = true;

	forgetful.slots = NULL;
	walk(&forgetful, regs, &before);
	for (unsigned int i = 0; i < REPEATS; i++) {
		walk(&code, regs, &with);
		equal &= same(&before, &with);
	}
	if (equal) {
		atomic_fetch_add_explicit(&storm_counters.compared, REPEATS, memory_order_relaxed);
		return true;
	}
	walk(&forgetful, regs, &after);
	return !same(&before, &after);
}

void storm_compare(const struct bobbin_regs *regs)
{
	static const char what[] = "a trace is another with what is remembered\n";

	/* a library may come and go between two walks */
	for (unsigned int i = 0; i < TRIES; i++)
		if (compare_once(regs))
			return;
	atomic_fetch_add(&storm_counters.wrong, 1);
	if (write(2, what, sizeof(what) - 1) < 0)
		abort();
}
