/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/code_watch.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "unwind/remote_update.h"
#include "unwind/space.h"

#define MS 1000000ull
#define READ_PAUSE (1 * MS)
#define READ_FACTOR 20u
#define SEARCH_PAUSE (50 * MS)
#define SEARCH_FACTOR 200u
/* Programs compile soon after they begin, and nobody should miss it for one search too early. */
#define QUICK_SEARCHES 8u
#define LAST_WAIT (10000 * MS)

/* What the recorder itself takes: that others had the CPU meanwhile costs nobody anything. */
static uint64_t own_time(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t at_least(uint64_t value, uint64_t least)
{
	return value > least ? value : least;
}

/* @door: one of them */
static bool ask(struct bobbin_unwinder *unwinder, struct process *process, struct code_door *d,
		unsigned int door)
{
	uint64_t start = own_time(), cost;
	bool known = d->open;
	int r = unwinder_update_code(unwinder, process->space, process->pid, door);

	cost = own_time() - start;
	d->open = r >= 0 || (d->open && r == -ENOMEM);
	if (d->open) {
		/* the first time it was searched for, too */
		d->due = clock_now() +
			 (known ? at_least(READ_FACTOR * cost, READ_PAUSE) : READ_PAUSE);
		d->wait = 0;
		return r > 0;
	}
	if (d->searches < QUICK_SEARCHES) {
		d->searches++;
		d->due = clock_now() + at_least(READ_FACTOR * cost, READ_PAUSE);
	} else {
		d->due = clock_now() + at_least(SEARCH_FACTOR * cost, SEARCH_PAUSE);
	}
	d->wait = at_least(2 * d->wait, SEARCH_PAUSE);
	if (d->wait > LAST_WAIT)
		d->wait = LAST_WAIT;
	d->search = at_least(clock_now() + d->wait, d->due);
	return false;
}

bool code_watch_ask_page(struct bobbin_unwinder *unwinder, struct process *process)
{
	return ask(unwinder, process, &process->code.page, REMOTE_PAGE);
}

static bool ask_images(struct bobbin_unwinder *unwinder, struct process *process)
{
	return ask(unwinder, process, &process->code.images, REMOTE_IMAGES);
}

bool code_watch_ask(struct bobbin_unwinder *unwinder, struct process *process)
{
	bool news = code_watch_ask_page(unwinder, process);

	return ask_images(unwinder, process) || news;
}

static bool is_due(const struct code_door *d)
{
	return clock_now() >= d->due;
}

bool code_watch_sweep(struct bobbin_unwinder *unwinder, struct process *process)
{
	struct code_watch *w = &process->code;
	bool news = w->page.open && is_due(&w->page) && code_watch_ask_page(unwinder, process);

	return (w->images.open && is_due(&w->images) && ask_images(unwinder, process)) || news;
}

/* Memory without a file: made by a compiler, or filled by a loader. */
static bool is_bare(const struct bobbin_space *space, const struct bobbin_frame *frame)
{
	struct bobbin_place_info place;
	const char *path;

	if (bobbin_space_find(space, bobbin_frame_lookup_pc(frame), &place))
		return true;
	path = place.mapping.path;
	return (path[0] != '/' && path[0] != '[') || !strncmp(path, "//", 2) ||
	       !strncmp(path, "[anon", 5) || !strncmp(path, "/memfd:", 7);
}

/* Whether a walk met code that has no file and no unwind table of its own. */
static bool leads_into_bare_memory(const struct bobbin_space *space,
				   const struct bobbin_trace *trace)
{
	for (uint32_t i = 0; i < trace->count; i++) {
		bool last = i + 1 == trace->count && trace->reason != BOBBIN_REASON_OUTERMOST;

		if ((last || trace->frames[i].source == BOBBIN_SOURCE_FRAME_POINTER) &&
		    is_bare(space, &trace->frames[i]))
			return true;
	}
	return false;
}

bool code_watch_has_bare_code(const struct bobbin_space *space, const struct bobbin_trace *trace)
{
	for (uint32_t i = 0; i < trace->count; i++)
		switch (trace->frames[i].source) {
		case BOBBIN_SOURCE_EH_FRAME:
			if (space->remote && is_bare(space, &trace->frames[i]))
				return true;
			break;
		case BOBBIN_SOURCE_DEBUG_FRAME:
		case BOBBIN_SOURCE_SIDEFILE:
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
	bool bare = leads_into_bare_memory(process->space, trace), news = false;

	if (!w->page.search)
		w->page.search = clock_now() + SEARCH_PAUSE;
	if (is_due(&w->page) && (bare || (!w->page.open && clock_now() >= w->page.search)))
		news = code_watch_ask_page(unwinder, process);
	if (bare && is_due(&w->images))
		news |= ask_images(unwinder, process);
	return news;
}
