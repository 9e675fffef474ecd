/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "backtrace/stack_addresses.h"

static bool is_by_table(const struct bobbin_frame *frame)
{
	return frame->source == BOBBIN_SOURCE_EH_FRAME || frame->source == BOBBIN_SOURCE_SFRAME ||
	       frame->source == BOBBIN_SOURCE_TRAMPOLINE;
}

/* false: that is enough. */
static bool take(struct stack_addresses *s, const struct bobbin_frame *frame)
{
	if (s->tables && !is_by_table(frame))
		return false;
	if (s->skip) {
		s->skip--;
		return true;
	}
	if (s->count < s->max) {
		s->addresses[s->count++] = (void *)(uintptr_t)frame->pc;
		return s->count < s->max || s->more_max;
	}
	return ++s->more < s->more_max;
}

/* How many frames are still wanted. */
static size_t wanted(const struct stack_addresses *s)
{
	return s->skip + s->max - s->count + s->more_max - s->more;
}

/* The usual case: all of @frames, which are not more than are wanted. */
static void take_all(struct stack_addresses *s, const struct bobbin_frame *frames, size_t count)
{
	void **to = &s->addresses[s->count];

	for (size_t i = 0; i < count; i++)
		to[i] = (void *)(uintptr_t)frames[i].pc;
	s->count += count;
}

/* false: that is enough. */
static bool take_some(struct stack_addresses *s, const struct bobbin_frame *frames, size_t count)
{
	if (!s->tables && !s->skip && !s->more_max) {
		take_all(s, frames, count);
		return s->count < s->max;
	}
	for (size_t i = 0; i < count; i++)
		if (!take(s, &frames[i]))
			return false;
	return true;
}

void bobbin_stack_addresses(struct walk_place *place, const struct bobbin_regs *caller,
			    struct stack_addresses *ret)
{
	struct bobbin_frame frames[WALK_FRAMES];
	struct bobbin_trace trace = {.frames = frames, .reason = BOBBIN_REASON_DEPTH};

	ret->count = ret->more = 0;
	while (trace.reason == BOBBIN_REASON_DEPTH && wanted(ret)) {
		trace.max = wanted(ret) < WALK_FRAMES ? (uint32_t)wanted(ret) : WALK_FRAMES;
		bobbin_object_walk(place, caller, &trace);
		caller = NULL;
		if (!take_some(ret, frames, trace.count))
			return;
	}
}
