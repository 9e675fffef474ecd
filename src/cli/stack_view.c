/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/stack_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

/* Frames that may be added. */
#define MOST_ADDED 3

static bool adds_nothing(const struct stack_view *view, enum wall_side side)
{
	return !view->by_process && !view->by_thread && side == WALL_NONE;
}

static void add_side(struct stack_view *view, enum wall_side side)
{
	static const struct call_frame frames[] = {
		[WALL_ON_CPU] = {.name = "[on CPU]", .kind = FRAME_ON_CPU},
		[WALL_OFF_CPU] = {.name = "[off CPU]", .kind = FRAME_OFF_CPU},
		[WALL_PREEMPTED] = {.name = "[preempted]", .kind = FRAME_OFF_CPU},
	};

	if (side == WALL_NONE)
		return;
	view->frames[view->count] = frames[side];
	view->frames[view->count++].dso = "[time]";
}

static void add_number(struct stack_view *view, char name[STACK_VIEW_NAME], const char *what,
		       int number)
{
	snprintf(name, STACK_VIEW_NAME, "[%s %d]", what, number);
	view->frames[view->count++] = (struct call_frame){.name = name, .kind = FRAME_COMMAND};
}

ssize_t stack_view_make(struct stack_view *view, const struct stack_sample *sample,
			const struct named_stack *stack, enum wall_side side,
			const struct call_frame **ret)
{
	if (adds_nothing(view, side)) {
		*ret = stack->frames;
		return (ssize_t)stack->count;
	}
	if (vector_reserve(&view->frames, &view->room, stack->count + MOST_ADDED,
			   sizeof(*view->frames)))
		return -ENOMEM;
	view->count = 0;
	if (view->by_process)
		add_number(view, view->process, "process", sample->pid);
	if (view->by_thread)
		add_number(view, view->thread, "thread", sample->tid);
	if (view->sides_first)
		add_side(view, side);
	if (stack->count)
		memcpy(view->frames + view->count, stack->frames,
		       stack->count * sizeof(*view->frames));
	view->count += stack->count;
	if (!view->sides_first)
		add_side(view, side);
	*ret = view->frames;
	return (ssize_t)view->count;
}

void stack_view_fini(struct stack_view *view)
{
	free(view->frames);
	view->frames = NULL;
}
