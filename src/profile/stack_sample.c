/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/stack_sample.h"

#include <string.h>
#include <time.h>

#include "profile/perf_event.h"

/* What all samples stand for is not said by each. */
static uint64_t period_of(const struct perf_event *event, const struct perf_event_attr *attr)
{
	if (event->sample.period)
		return event->sample.period;
	return !(attr->sample_type & PERF_SAMPLE_PERIOD) && !attr->freq && attr->sample_period
		       ? attr->sample_period
		       : 1;
}

struct stack_sample stack_sample_of(const struct perf_event *event,
				    const struct perf_event_attr *attr)
{
	bool monotonic = attr->use_clockid && attr->clockid == CLOCK_MONOTONIC;

	return (struct stack_sample){
		.pid = (int)event->pid,
		.tid = (int)event->tid,
		.cpu = event->cpu,
		.time = event->time,
		.code_time = monotonic ? event->time : UINT64_MAX,
		.period = period_of(event, attr),
		.id = event->id,
		.ip = event->sample.ip,
		.misc = event->misc,
		/* whatever happens is a sample */
		.weighed = !attr->freq && attr->sample_period <= 1,
		.chained = attr->sample_type & (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER),
	};
}

struct bobbin_frame stack_sample_place(const struct stack_sample *sample)
{
	return (struct bobbin_frame){
		.pc = sample->ip,
		.exact = true,
		.kernel = (sample->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL,
	};
}

struct bobbin_frame stack_sample_gap(uint32_t count)
{
	return (struct bobbin_frame){.pc = count, .source = BOBBIN_SOURCE_LEFT_OUT};
}

void stack_sample_mark(struct bobbin_trace *trace)
{
	uint32_t at = trace->count - trace->outer;

	if (!trace->left_out)
		return;
	memmove(&trace->frames[at + 1], &trace->frames[at], trace->outer * sizeof(*trace->frames));
	trace->frames[at] = stack_sample_gap(trace->left_out);
	trace->count++;
}
