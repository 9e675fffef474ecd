/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/code_watch.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "profile/process_table.h"

#define MS 1000000ull
#define READ_PAUSE (1 * MS)
#define READ_FACTOR 20u
#define SEARCH_PAUSE (50 * MS)
#define SEARCH_FACTOR 200u
#define LAST_WAIT (10000 * MS)

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t at_least(uint64_t value, uint64_t least)
{
	return value > least ? value : least;
}

bool code_watch_ask(struct bobbin_unwinder *unwinder, struct process *process)
{
	struct code_watch *w = &process->code;
	uint64_t start = now(), cost;
	int r = bobbin_space_update_code(unwinder, process->space, process->pid);

	cost = now() - start;
	w->publishes = r >= 0 || (w->publishes && r == -ENOMEM);
	if (w->publishes) {
		w->due = now() + at_least(READ_FACTOR * cost, READ_PAUSE);
		w->wait = 0;
		return r > 0;
	}
	w->due = now() + at_least(SEARCH_FACTOR * cost, SEARCH_PAUSE);
	w->wait = at_least(2 * w->wait, SEARCH_PAUSE);
	if (w->wait > LAST_WAIT)
		w->wait = LAST_WAIT;
	w->search = at_least(now() + w->wait, w->due);
	return false;
}

bool code_watch_sweep(struct bobbin_unwinder *unwinder, struct process *process)
{
	return process->code.publishes && now() >= process->code.due &&
	       code_watch_ask(unwinder, process);
}

/* Memory without a file: made by a compiler, or filled by a loader. */
static bool is_bare(const struct bobbin_space *space, const struct bobbin_frame *frame)
{
	struct bobbin_place_info place;
	const char *path;

	if (bobbin_space_find(space, frame->exact ? frame->pc : frame->pc - 1, &place))
		return true;
	path = place.mapping.path;
	return (path[0] != '/' && path[0] != '[') || !strncmp(path, "//", 2) ||
	       !strncmp(path, "[anon", 5) || !strncmp(path, "/memfd:", 7);
}

bool code_watch_leads_into_bare_memory(const struct bobbin_space *space,
				       const struct bobbin_trace *trace)
{
	for (uint32_t i = 0; i < trace->count; i++) {
		bool last = i + 1 == trace->count && trace->reason != BOBBIN_OUTERMOST;

		if ((last || trace->frames[i].source == BOBBIN_FROM_FRAME_POINTER) &&
		    is_bare(space, &trace->frames[i]))
			return true;
	}
	return false;
}

bool code_watch_has_bare_code(const struct bobbin_space *space, const struct bobbin_trace *trace)
{
	for (uint32_t i = 0; i < trace->count; i++)
		switch (trace->frames[i].source) {
		case BOBBIN_FROM_EH_FRAME:
		case BOBBIN_FROM_DEBUG_FRAME:
		case BOBBIN_FROM_SIDEFILE:
			break; /* of files only */
		default:
			if (is_bare(space, &trace->frames[i]))
				return true;
		}
	return false;
}

bool code_watch_trace(struct bobbin_unwinder *unwinder, struct process *process,
		      const struct bobbin_trace *trace)
{
	struct code_watch *w = &process->code;
	bool bare = code_watch_leads_into_bare_memory(process->space, trace);

	if (!w->search)
		w->search = now() + SEARCH_PAUSE;
	if (!bare && (w->publishes || now() < w->search))
		return false;
	return now() >= w->due && code_watch_ask(unwinder, process);
}
