/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples whose user part the kernel finds itself, when their thread returns to user mode.
 */
#include <stdlib.h>

#include "profile/perf_format.h"
#include "profile/recorder_state.h"
#include "profile/sample_trace.h"
#include "unwind/unwinder.h"

/* The kernel does not say why it stopped: at a root, which has no caller, or before. */
static void find_end(struct recorder *r, struct process *process, struct bobbin_trace *trace)
{
	struct bobbin_frame *last = &trace->frames[trace->count - 1];
	struct bobbin_rule rule;

	last->source = (uint8_t)unwinder_rule(r->unwinder, process->space,
					      bobbin_frame_lookup_pc(last), &rule);
	if (rule.cfa.how == BOBBIN_HOW_NO_RULE || rule.ra.how != BOBBIN_HOW_UNDEFINED)
		return;
	/* it does not say either whether it went by frame pointers, which leave callers out */
	trace->reason = chain_keeps_records(r->unwinder, process->space, trace->frames,
					    trace->count - 1)
				? BOBBIN_REASON_OUTERMOST
				: BOBBIN_REASON_LIKELY;
}

static struct bobbin_trace chain_trace(struct recorder *r, struct process *process,
				       const uint64_t *pcs, uint64_t count)
{
	struct bobbin_trace trace = recorder_trace(r);
	bool deep = false;

	for (uint64_t i = 0; i < count && !deep; i++) {
		if (pcs[i] >= PERF_CONTEXT_MAX)
			continue;
		deep = trace.count == trace.max;
		if (!deep)
			trace.frames[trace.count++] = (struct bobbin_frame){
				.pc = pcs[i],
				.exact = !trace.count,
				.source = BOBBIN_SOURCE_KERNEL,
			};
	}
	trace.reason = deep ? BOBBIN_REASON_DEPTH : BOBBIN_REASON_KERNEL_END;
	if (!trace.count)
		trace.reason = BOBBIN_REASON_NO_USER;
	else if (!deep)
		find_end(r, process, &trace);
	return trace;
}

static int put_chain(struct recorder *r, const struct perf_event *event, struct process *process,
		     const uint64_t *pcs, uint64_t count)
{
	struct bobbin_trace trace = chain_trace(r, process, pcs, count);
	int error = trace.count ? recorder_watch_code(r, process, &trace) : 0;

	return error < 0 ? error : recorder_put_user(r, event, process, &trace);
}

int recorder_defer(struct recorder *r, const struct perf_event *event, struct process *process)
{
	const struct perf_sample *sample = &event->sample;
	size_t kernel = perf_sample_kernel_count(sample);
	uint64_t cookie;
	int error;

	if (!perf_sample_is_deferred(sample, &cookie))
		return put_chain(r, event, process, sample->callchain + kernel,
				 sample->callchain_nr - kernel);
	error = deferred_samples_hold(&r->deferred, event, cookie);
	return error ? error : recorder_give_up(r, DEFERRED_SAMPLES_MAX);
}

int recorder_on_user_chain(struct recorder *r, const struct perf_event *event)
{
	const struct perf_user_chain *chain = &event->user_chain;
	struct deferred_sample *s;
	int error = 0;

	while (!error && (s = deferred_samples_take(&r->deferred, event->tid, chain->cookie))) {
		struct thread *thread;

		error = process_table_thread(r->processes, (int)s->event.pid, (int)s->event.tid,
					     &thread);
		if (!error)
			error = put_chain(r, &s->event, thread->process, chain->pcs, chain->count);
		free(s);
	}
	return error;
}

int recorder_give_up(struct recorder *r, size_t max)
{
	struct deferred_sample *s;
	int error = 0;

	while (!error && (s = deferred_samples_drop(&r->deferred, max))) {
		struct bobbin_trace trace = recorder_trace(r);
		struct thread *thread;

		trace.reason = BOBBIN_REASON_CHAIN_MISSING;
		error = process_table_thread(r->processes, (int)s->event.pid, (int)s->event.tid,
					     &thread);
		if (!error)
			error = recorder_put_user(r, &s->event, thread->process, &trace);
		free(s);
	}
	return error;
}
