/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/walk_comparison.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/trace_payload.h"

/* From a walk to the sample of the same stack, which the kernel takes next. */
#define MATCH_NS 10000000ull

struct kept_walk {
	bool valid;
	uint32_t tid;
	uint64_t time;
	struct bobbin_trace trace;
	struct bobbin_frame frames[TRACE_CHAIN_MAX];
};

/* @exact: programs see the time of a sample on this kernel, so both walks have the same */
struct walk_comparison {
	bool exact;
	size_t cpu_count;
	struct kept_walk *cpus;
};

int walk_comparison_open(struct walk_comparison **ret)
{
	struct walk_comparison *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->cpu_count = (size_t)sysconf(_SC_NPROCESSORS_CONF);
	c->cpus = calloc(c->cpu_count, sizeof(*c->cpus));
	if (!c->cpus) {
		free(c);
		return -ENOMEM;
	}
	*ret = c;
	return 0;
}

void walk_comparison_close(struct walk_comparison *comparison)
{
	if (!comparison)
		return;
	free(comparison->cpus);
	free(comparison);
}

void walk_comparison_keep(struct walk_comparison *comparison, const struct perf_event *event,
			  const struct bobbin_trace *trace)
{
	struct kept_walk *kept;

	if (event->cpu >= comparison->cpu_count)
		return;
	kept = &comparison->cpus[event->cpu];
	kept->valid = true;
	kept->tid = event->tid;
	kept->time = event->time;
	kept->trace = *trace;
	memcpy(kept->frames, trace->frames, trace->count * sizeof(*trace->frames));
}

void walk_comparison_forget(struct walk_comparison *comparison)
{
	for (size_t i = 0; i < comparison->cpu_count; i++)
		comparison->cpus[i].valid = false;
}

static bool same_frame(const struct bobbin_frame *a, const struct bobbin_frame *b)
{
	return a->pc == b->pc && a->source == b->source && a->exact == b->exact;
}

/*
 * Whether a walk ends where the copy of the stack does, or at what is below it, or has guessed; it
 * may be empty.
 */
static bool is_part(const struct bobbin_trace *trace)
{
	return trace->reason == BOBBIN_REASON_STACK_END ||
	       trace->reason == BOBBIN_REASON_NEW_SPACE ||
	       trace->reason == BOBBIN_REASON_STACK_HOLE ||
	       trace->reason == BOBBIN_REASON_BELOW_SP ||
	       trace->reason == BOBBIN_REASON_OTHER_STACK || trace->reason == BOBBIN_REASON_LIKELY;
}

static bool is_walked(const struct bobbin_frame *frame)
{
	return frame->source != BOBBIN_SOURCE_KERNEL && frame->source != BOBBIN_SOURCE_GUESS;
}

/*
 * Frames of a trace whose callers user space knows, from the leaf.  It looks at code that was made
 * at run time when the sample is read, and may have to guess what the kernel has seen.
 */
static uint32_t walked_frames(const struct bobbin_trace *trace)
{
	uint32_t count = 0;

	while (count < trace->count && is_walked(&trace->frames[count]))
		count++;
	/* why the last one has no caller may be that the copy ends */
	return count && is_part(trace) ? count - 1 : count;
}

static bool same_walk(const struct kept_walk *kept, const struct bobbin_trace *trace)
{
	bool whole = trace->reason == BOBBIN_REASON_OUTERMOST;
	uint32_t count = walked_frames(trace);

	if (!whole && !is_part(trace))
		return false;
	if (whole && (kept->trace.count != trace->count || kept->trace.left_out != trace->left_out))
		return false;
	/* a copy that ends early has other frames after the gap */
	if (!whole && kept->trace.left_out && count > trace->max - trace->outer)
		count = trace->max - trace->outer;
	if (count > kept->trace.count)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!same_frame(&kept->frames[i], &trace->frames[i]))
			return false;
	return true;
}

void walk_comparison_drop(struct walk_comparison *comparison, const struct perf_event *event)
{
	if (event->cpu < comparison->cpu_count)
		comparison->cpus[event->cpu].valid = false;
}

/* Whether a walk is of the sample's stack.  Where times are not exact the sample's is later. */
static bool is_of_sample(struct walk_comparison *comparison, const struct kept_walk *kept,
			 const struct perf_event *event)
{
	if (!kept->valid || kept->tid != event->tid)
		return false;
	if (event->time == kept->time)
		return comparison->exact = true;
	return !comparison->exact && event->time - kept->time + MATCH_NS < 2 * MATCH_NS;
}

enum walk_agreement walk_comparison_check(struct walk_comparison *comparison,
					  const struct perf_event *event,
					  const struct bobbin_trace *trace)
{
	const struct kept_walk *kept;
	bool match;

	if (event->cpu >= comparison->cpu_count)
		return WALKS_UNCOMPARED;
	kept = &comparison->cpus[event->cpu];
	match = is_of_sample(comparison, kept, event);
	walk_comparison_drop(comparison, event);
	if (!match || trace->reason == BOBBIN_REASON_NO_USER)
		return WALKS_UNCOMPARED;
	if (!same_walk(kept, trace))
		return WALKS_DIFFER;
	return is_part(trace) ? WALKS_AGREE_IN_PART : WALKS_AGREE;
}
