/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/code_watch.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "profile/process_table.h"

#define MS 1000000ull
#define FIRST_WAIT (50 * MS)
#define LAST_WAIT (10000 * MS)
#define LEAST_PAUSE (1 * MS)
#define PAUSE_FACTOR 20u

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool code_watch_ask(struct bobbin_unwinder *unwinder, struct process *process)
{
	struct code_watch *w = &process->code;
	uint64_t start = now(), pause;
	int r = bobbin_space_update_code(unwinder, process->space, process->pid);

	w->publishes = r >= 0 || (w->publishes && r == -ENOMEM);
	if (w->publishes) {
		pause = PAUSE_FACTOR * (now() - start);
		w->due = now() + (pause > LEAST_PAUSE ? pause : LEAST_PAUSE);
		w->wait = 0;
	} else {
		w->wait = w->wait ? 2 * w->wait : FIRST_WAIT;
		if (w->wait > LAST_WAIT)
			w->wait = LAST_WAIT;
		w->due = now() + w->wait;
	}
	return r > 0;
}

void code_watch_sweep(struct bobbin_unwinder *unwinder, struct process *process)
{
	if (process->code.publishes && now() >= process->code.due)
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

static bool leads_into_bare_memory(const struct bobbin_space *space,
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

bool code_watch_trace(struct bobbin_unwinder *unwinder, struct process *process,
		      const struct bobbin_trace *trace)
{
	struct code_watch *w = &process->code;

	/* a page may tell of code that is in files, too: look after a while */
	if (!w->publishes && !w->wait && !leads_into_bare_memory(process->space, trace)) {
		w->wait = FIRST_WAIT;
		w->due = now() + w->wait;
		return false;
	}
	if (w->publishes && !leads_into_bare_memory(process->space, trace))
		return false;
	return now() >= w->due && code_watch_ask(unwinder, process);
}
