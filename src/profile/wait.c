/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/wait.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

static void keep_kernel(struct kept_stack *stack, const struct perf_sample *sample)
{
	size_t count = perf_sample_kernel_part(sample, stack->kernel, WAIT_KERNEL_MAX);

	stack->event.sample = (struct perf_sample){
		.ip = sample->ip,
		.callchain = stack->kernel,
		.callchain_nr = count,
	};
}

static int keep_stack(struct kept_stack *stack, const struct perf_event *event,
		      const struct bobbin_trace *trace)
{
	/* never NULL, so that readers may copy none */
	if (vector_reserve(&stack->frames, &stack->frame_room, (size_t)trace->count + 1,
			   sizeof(*stack->frames)))
		return -ENOMEM;
	if (trace->count)
		memcpy(stack->frames, trace->frames, trace->count * sizeof(*stack->frames));
	stack->trace = *trace;
	stack->trace.frames = stack->frames;
	stack->event = *event;
	keep_kernel(stack, &event->sample);
	return 0;
}

int wait_begin(struct wait **wait, const struct perf_event *event, const struct bobbin_trace *trace)
{
	struct wait *w = *wait ? *wait : calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	*wait = w;
	w->open = w->runnable = w->woken = false;
	if (keep_stack(&w->left, event, trace))
		return -ENOMEM;
	w->open = true;
	return 0;
}

int wait_woken(struct wait *wait, const struct perf_event *event, const struct bobbin_trace *trace)
{
	if (keep_stack(&wait->waker, event, trace))
		return -ENOMEM;
	wait->woken = true;
	return 0;
}

bool wait_end(struct wait *wait, uint64_t time, uint64_t *duration)
{
	if (!wait || !wait->open)
		return false;
	wait->open = false;
	if (time < wait->left.event.time)
		return false;
	*duration = time - wait->left.event.time;
	return true;
}

void wait_forget_user(struct wait *wait)
{
	if (!wait)
		return;
	wait->left.trace.count = 0;
	wait->left.trace.left_out = 0;
	wait->left.trace.reason = BOBBIN_REASON_NO_USER;
}

void wait_free(struct wait *wait)
{
	if (!wait)
		return;
	free(wait->left.frames);
	free(wait->waker.frames);
	free(wait);
}
