/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/kept_sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

/* The kernel's part of the call chain, up to @max entries; nobody asks for the sample's rest. */
static void keep_kernel(struct perf_event *event, uint64_t *kernel, size_t max)
{
	const struct perf_sample *sample = &event->sample;
	size_t count = perf_sample_kernel_count(sample);

	if (count > max)
		count = max;
	if (count)
		memcpy(kernel, sample->callchain, count * sizeof(*kernel));
	event->sample = (struct perf_sample){
		.ip = sample->ip,
		.period = sample->period,
		.callchain = kernel,
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
	keep_kernel(&stack->event, stack->kernel, PERF_KERNEL_CHAIN_MAX);
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

int deferred_samples_hold(struct deferred_samples *samples, const struct perf_event *event,
			  uint64_t cookie)
{
	size_t count = perf_sample_kernel_count(&event->sample);
	struct deferred_sample *s = malloc(sizeof(*s) + count * sizeof(*s->kernel));

	if (!s)
		return -ENOMEM;
	*s = (struct deferred_sample){.cookie = cookie, .event = *event};
	keep_kernel(&s->event, s->kernel, count);
	if (!samples->first)
		samples->last = &samples->first;
	*samples->last = s;
	samples->last = &s->next;
	samples->count++;
	return 0;
}

static struct deferred_sample *unlink_at(struct deferred_samples *samples,
					 struct deferred_sample **at)
{
	struct deferred_sample *s = *at;

	*at = s->next;
	if (!s->next)
		samples->last = at;
	samples->count--;
	return s;
}

struct deferred_sample *deferred_samples_take(struct deferred_samples *samples, uint32_t tid,
					      uint64_t cookie)
{
	for (struct deferred_sample **at = &samples->first; *at; at = &(*at)->next)
		if ((*at)->cookie == cookie && (*at)->event.tid == tid)
			return unlink_at(samples, at);
	return NULL;
}

struct deferred_sample *deferred_samples_drop(struct deferred_samples *samples, size_t max)
{
	return samples->count > max ? unlink_at(samples, &samples->first) : NULL;
}
