/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/code_watch.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory_origin.h"
#include "profile/text_records.h"
#include "unwind/module.h"
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
/* Of all searches without a cause together; who reads for the recorder takes as much again. */
#define ALL_FACTOR 1000u

/* What the recorder itself takes: that others had the CPU meanwhile costs nobody anything. */
static uint64_t own_time(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t at_least(uint64_t value, uint64_t least)
{
	return value > least ? value : least;
}

/* Nothing was found, at such a cost. */
static void wait_longer(struct code_door *d, uint64_t cost)
{
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
}

/* @door: one of them */
static bool ask(struct code_watcher *watcher, struct process *process, struct code_door *d,
		unsigned int door)
{
	uint64_t start = own_time(), cost;
	bool known = d->open;
	int r = unwinder_update_code(watcher->unwinder, process->space, process->pid, door);

	cost = own_time() - start;
	d->open = r >= 0 || (d->open && r == -ENOMEM);
	watcher->any_open |= d->open;
	if (d->open) {
		/* the first time it was searched for, too */
		d->due = clock_now() +
			 (known ? at_least(READ_FACTOR * cost, READ_PAUSE) : READ_PAUSE);
		d->wait = 0;
		return r > 0;
	}
	wait_longer(d, cost);
	return false;
}

bool code_watch_ask_page(struct code_watcher *watcher, struct process *process)
{
	return ask(watcher, process, &process->code.page, REMOTE_PAGE);
}

bool code_watch_ask_images(struct code_watcher *watcher, struct process *process)
{
	return ask(watcher, process, &process->code.images, REMOTE_IMAGES);
}

static bool is_due(const struct code_door *d)
{
	return clock_now() >= d->due;
}

bool code_watch_begins(struct code_watcher *watcher)
{
	bool any = watcher->any_open;

	watcher->any_open = false;
	return any;
}

bool code_watch_sweep(struct code_watcher *watcher, struct process *process)
{
	struct code_watch *w = &process->code;
	bool news;

	/* a child that is born with its parent's is told apart from others by the next sweep */
	watcher->any_open |= w->page.open || w->images.open;
	news = w->page.open && is_due(&w->page) && code_watch_ask_page(watcher, process);

	return (w->images.open && is_due(&w->images) && code_watch_ask_images(watcher, process)) ||
	       news;
}

bool code_watch_is_bare(const struct bobbin_space *space, const struct bobbin_frame *frame)
{
	struct bobbin_place_info place;

	return bobbin_space_find(space, bobbin_frame_lookup_pc(frame), &place) ||
	       memory_may_be_made(place.mapping.path);
}

/* Left by what the stack or the code says. */
static bool is_without_table(const struct bobbin_frame *frame)
{
	return frame->source == BOBBIN_SOURCE_FRAME_POINTER ||
	       frame->source == BOBBIN_SOURCE_PATH || frame->source == BOBBIN_SOURCE_GUESS;
}

/* Whether a walk met code that has no file and no unwind table of its own. */
static bool leads_into_bare_memory(const struct bobbin_space *space,
				   const struct bobbin_trace *trace)
{
	for (uint32_t i = 0; i < trace->count; i++) {
		bool last = i + 1 == trace->count && trace->reason != BOBBIN_REASON_OUTERMOST;

		if ((last || is_without_table(&trace->frames[i])) &&
		    code_watch_is_bare(space, &trace->frames[i]))
			return true;
	}
	return false;
}

bool code_watch_has_bare_code(const struct bobbin_space *space, const struct bobbin_trace *trace)
{
	for (uint32_t i = 0; i < trace->count; i++)
		switch (trace->frames[i].source) {
		case BOBBIN_SOURCE_EH_FRAME:
			if (space->remote && code_watch_is_bare(space, &trace->frames[i]))
				return true;
			break;
		case BOBBIN_SOURCE_DEBUG_FRAME:
		case BOBBIN_SOURCE_SIDEFILE: /* of files only */
		case BOBBIN_SOURCE_LEFT_OUT:
			break;
		default:
			if (code_watch_is_bare(space, &trace->frames[i]))
				return true;
		}
	return false;
}

/*
 * Whoever has a sample when the time has come is next, so those with many samples come first.
 * true: something is new.
 */
static bool search_without_cause(struct code_watcher *watcher, struct process *process)
{
	const struct code_door *page = &process->code.page;
	uint64_t now = clock_now(), start;
	bool news;

	if (page->open || now < watcher->due || now < page->search || now < page->due)
		return false;
	start = own_time();
	news = code_watch_ask_page(watcher, process);
	watcher->due = now + ALL_FACTOR * (own_time() - start);
	return news;
}

bool code_watch_trace(struct code_watcher *watcher, struct process *process,
		      const struct bobbin_trace *trace)
{
	struct code_watch *w = &process->code;
	bool bare = leads_into_bare_memory(process->space, trace), news;

	if (!w->page.search)
		w->page.search = clock_now() + SEARCH_PAUSE;
	if (bare)
		news = is_due(&w->page) && code_watch_ask_page(watcher, process);
	else
		news = search_without_cause(watcher, process);
	if (bare && is_due(&w->images))
		news |= code_watch_ask_images(watcher, process);
	return news;
}

/* Made memory, or a file that has no code of its own, such as one of hugetlbfs. */
static bool leads_into_a_copy(struct code_watcher *watcher, struct process *process,
			      const struct bobbin_trace *trace)
{
	const struct bobbin_frame *last;

	if (leads_into_bare_memory(process->space, trace))
		return true;
	if (!trace->count || trace->reason == BOBBIN_REASON_OUTERMOST)
		return false;
	last = &trace->frames[trace->count - 1];
	return !unwinder_module(watcher->unwinder, process->space, bobbin_frame_lookup_pc(last));
}

int code_watch_text(struct code_watcher *watcher, struct process *process,
		    const struct bobbin_trace *trace, uint64_t id, snapshot_sink sink, void *ctx)
{
	const struct remote_process remote = {unwinder_reader(watcher->unwinder), process->pid};
	struct code_door *d = &process->code.text;
	uint64_t start;
	int count;

	if (!is_due(d) || clock_now() < d->search || !leads_into_a_copy(watcher, process, trace))
		return 0;
	start = own_time();
	count = text_records(&remote, id, sink, ctx);
	if (count > 0)
		*d = (struct code_door){
			.due = clock_now() +
			       at_least(READ_FACTOR * (own_time() - start), READ_PAUSE)};
	else
		wait_longer(d, own_time() - start);
	/* what nobody searches for without a cause waits for its cost only, at first */
	if (d->searches < QUICK_SEARCHES)
		d->search = 0;
	return count;
}
