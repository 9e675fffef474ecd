/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recorder's samples of code whose rules are being inferred: they are walked again and given when
 * the rules are there.  Until then what they need of their process stays as it is, or is kept.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/native_arch.h"
#include "base/vector.h"
#include "profile/recorder_state.h"
#include "unwind/space.h"

/* That are held at most, with their stacks. */
#define HELD_BYTES ((size_t)32 << 20)
/* For their rules, at the end. */
#define HELD_WAIT_NS (20 * NS_PER_SECOND)
/* Threads that have ended, and are not forgotten yet. */
#define HELD_EXITS 256

/* Samples to be given however they are walked: of a process, of a thread of it only, or all. */
struct hold_choice {
	uint32_t pid, tid;
	bool all;
};

static bool is_chosen(const struct hold_choice *choice, const struct perf_event *event)
{
	return choice->all ||
	       (event->pid == choice->pid && (!choice->tid || event->tid == choice->tid));
}

/* Whether a walk has just lacked rules, of @missed that did so before. */
bool recorder_lacks_rules(const struct recorder *r, uint64_t missed,
			  const struct bobbin_trace *trace)
{
	/* whose copies of stacks are mended for the first walk only */
	if (r->returns.count)
		return false;
	return r->options.holds_samples && trace->reason != BOBBIN_REASON_OUTERMOST &&
	       unwinder_missed_code(r->unwinder) != missed;
}

/* @anyway: also if rules are still missing.  1: it was given; 0; or a negative errno. */
static int give(struct recorder *r, const struct perf_event *event, bool anyway)
{
	uint64_t missed = unwinder_missed_code(r->unwinder);
	struct bobbin_trace trace = recorder_trace(r);
	struct thread *thread;
	int error;

	error = process_table_thread(r->processes, (int)event->pid, (int)event->tid, &thread);
	if (error)
		return error;
	sample_trace(r->unwinder, native_arch(), thread->process, &event->sample, &trace);
	if (!anyway && recorder_lacks_rules(r, missed, &trace))
		return 0;
	error = event->sample.block ? recorder_put_held_block(r, event, thread->process, &trace)
				    : recorder_put_user(r, event, thread->process, &trace);
	return error ? error : 1;
}

static bool holds_of(const struct recorder *r, uint32_t pid)
{
	const struct deferred_sample *s = r->held.first;

	while (s && s->event.pid != pid)
		s = s->next;
	return s;
}

/* With its last thread a process ends, and what it has not freed is given before. */
static int end_thread(struct recorder *r, const struct perf_event *event)
{
	const struct thread *thread = process_table_find(r->processes, (int)event->tid);
	int error = 0;

	if (thread && thread->process->threads == 1)
		error = recorder_end_blocks(r, (int)event->pid, event->time - 1);
	return error ? error : process_table_event(r->processes, event);
}

/* Forget the threads that have ended of which nothing is held any more. */
static int end_exits(struct recorder *r)
{
	size_t kept = 0;
	int error = 0;

	for (size_t i = 0; i < r->exit_count && !error; i++) {
		if (holds_of(r, r->exits[i].pid))
			r->exits[kept++] = r->exits[i];
		else
			error = end_thread(r, &r->exits[i]);
	}
	r->exit_count = kept;
	return error;
}

/* Walk again; @choice: only these, and give them all; NULL: give those that have their rules. */
static int give_held(struct recorder *r, const struct hold_choice *choice)
{
	struct deferred_samples before = r->held;
	struct deferred_sample *s;
	int error = 0;

	r->held = (struct deferred_samples){0};
	while ((s = deferred_samples_drop(&before, 0))) {
		int given = 0;

		if (!error && (!choice || is_chosen(choice, &s->event)))
			given = give(r, &s->event, choice);
		if (given < 0)
			error = given;
		if (given)
			free(s);
		else
			deferred_samples_add(&r->held, s);
	}
	return error ? error : end_exits(r);
}

int recorder_hold(struct recorder *r, const struct perf_event *event)
{
	const struct thread *thread = process_table_find(r->processes, (int)event->tid);
	int error = deferred_samples_hold(&r->held, event, 0);

	if (thread)
		sample_keep_code(r->unwinder, thread->process, &event->sample);
	while (!error && r->held.bytes > HELD_BYTES) {
		struct deferred_sample *s = deferred_samples_drop(&r->held, 0);
		int given = give(r, &s->event, true);

		free(s);
		error = given < 0 ? given : 0;
	}
	return error;
}

int recorder_retry_held(struct recorder *r)
{
	uint64_t analysed;

	if (!r->held.count)
		return 0;
	analysed = unwinder_analysed_code(r->unwinder);
	if (analysed == r->analysed)
		return 0;
	r->analysed = analysed;
	return give_held(r, NULL);
}

static int give_all(struct recorder *r)
{
	return r->held.count ? give_held(r, &(struct hold_choice){.all = true}) : 0;
}

int recorder_end_held(struct recorder *r)
{
	uint64_t until = clock_now() + HELD_WAIT_NS;
	int error = recorder_retry_held(r);

	while (!error && r->held.count && unwinder_await_code(r->unwinder, until))
		error = recorder_retry_held(r);
	return error ? error : give_all(r);
}

/* A thread with the number of one that has ended. */
static bool comes_again(const struct recorder *r, const struct perf_event *fork)
{
	for (size_t i = 0; i < r->exit_count; i++)
		if (r->exits[i].tid == fork->tid || r->exits[i].pid == fork->pid)
			return true;
	return false;
}

/* As records spell it, or as /proc does. */
static bool is_anonymous(const char *path)
{
	return !*path || !strcmp(path, "//anon");
}

/* Whether a mapping has what is known to be there; it may begin or end elsewhere. */
static bool is_same_code(const struct mapping *known, const struct perf_mmap *m)
{
	if (is_anonymous(known->path))
		return is_anonymous(m->filename);
	return !strcmp(known->path, m->filename) &&
	       m->pgoff - m->addr == known->offset - known->start;
}

/* Of processes that sample themselves all mappings are told again. */
static bool is_told_again(const struct recorder *r, const struct bobbin_space *space,
			  const struct perf_mmap *m)
{
	if (!r->options.area)
		return false;
	for (size_t i = 0; i < space->maps.count; i++) {
		const struct mapping *known = &space->maps.list[i];

		if (known->start < m->addr + m->len && m->addr < known->end &&
		    !is_same_code(known, m))
			return false;
	}
	return true;
}

/* Something is mapped over code that a held sample may have been in. */
static bool maps_over(const struct recorder *r, const struct perf_event *event)
{
	const struct perf_mmap *m = &event->mmap;
	struct thread *thread = process_table_find(r->processes, (int)event->tid);
	struct bobbin_space *space = thread ? thread->process->space : NULL;

	return !space ||
	       (space_overlaps(space, m->addr, m->addr + m->len) && !is_told_again(r, space, m));
}

/* The thread gets another name. */
static bool renames(const struct recorder *r, const struct perf_event *event)
{
	const struct thread *thread = process_table_find(r->processes, (int)event->tid);

	return !thread || strncmp(thread->comm, event->comm.comm, COMM_SIZE - 1) != 0;
}

static int hold_exit(struct recorder *r, const struct perf_event *event)
{
	int error = r->exit_count < HELD_EXITS ? 0 : give_all(r);

	return error ? error : vector_push(r->exits, r->exit_count, r->exit_room, *event);
}

/* What has to be given before a record is taken in: false: nothing. */
static bool must_give(const struct recorder *r, const struct perf_event *event,
		      struct hold_choice *ret)
{
	*ret = (struct hold_choice){.pid = event->pid};
	switch (event->type) {
	case PERF_RECORD_FORK:
		ret->all = true;
		return comes_again(r, event);
	case PERF_RECORD_COMM:
		if (!event->comm.exec)
			ret->tid = event->tid;
		return event->comm.exec || renames(r, event);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return maps_over(r, event);
	default:
		return false;
	}
}

int recorder_take_in(struct recorder *r, const struct perf_event *event)
{
	struct hold_choice choice;
	int error = 0;

	if (r->held.count && event->type == PERF_RECORD_EXIT && holds_of(r, event->pid))
		return hold_exit(r, event);
	if (r->held.count && must_give(r, event, &choice))
		error = give_held(r, &choice);
	/* a new program has none of the old one's blocks */
	if (!error && event->type == PERF_RECORD_COMM && event->comm.exec)
		error = recorder_end_blocks(r, (int)event->pid, event->time - 1);
	if (!error && event->type == PERF_RECORD_EXIT)
		return end_thread(r, event);
	return error ? error : process_table_event(r->processes, event);
}

void recorder_close_held(struct recorder *r)
{
	struct deferred_sample *s;

	while ((s = deferred_samples_drop(&r->held, 0)))
		free(s);
	free(r->exits);
}
