/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe_event.h - probes as tracepoints that the kernel is told of, and what those of returns hide.
 *
 *	p:bobbin/NAME FILE:OFFSET ──uprobe_events──► events/bobbin/NAME
 *
 * The kernel's own events of probes cannot be inherited, so they would be of all processes.  Those
 * of a tracepoint can: the kernel has a breakpoint in the processes that are sampled, and in no
 * others, whose hits cost nothing and fill no ring.
 *
 * A description outlives a recorder that is killed, but then nothing is trapped by it any more; the
 * next recorder removes it.
 *
 * Where returns of functions are probed, return addresses on stacks are replaced:
 *
 *	call ──► sample of the function's entry: where its return address is, and what it is
 *		──► the kernel puts the address of [uprobes] there
 *	sample ──► in its copy of the stack, the return address is put back
 *
 * So there is an event of the entry beside each uretprobe of the recording.  What is not known, since a
 * function was called before it was probed or since records were lost, is left alone: a walk ends there,
 * see BOBBIN_REASON_PROBED.  As the kernel does, it is taken for over what is below the stack pointer
 * of a later call.
 */
#ifndef BOBBIN_PROFILE_PROBE_EVENT_H
#define BOBBIN_PROFILE_PROBE_EVENT_H

#include "profile/process_table.h"
#include "profile/sampler.h"

#define PROBE_NAME_SIZE 64

/* @name: empty: there is none. */
struct probe_event {
	char name[PROBE_NAME_SIZE];
	uint64_t id; /* perf_event_attr.config of PERF_TYPE_TRACEPOINT */
};

/*
 * Describe the place in a file, or the returns of the function that begins there.  0; -EACCES, -EPERM:
 * not allowed to change tracefs; or another negative errno: @ret is empty.
 */
int probe_event_open(const char *path, uint64_t offset, bool returns, struct probe_event *ret);

/* After the last event of perf that is of it; empty or not. */
void probe_event_close(struct probe_event *probe);

/* Remove descriptions whose recorders are gone. */
void probe_events_clean(void);

/* Zero: there are none. */
struct return_probes {
	struct sampler_events *entries;
	size_t count;
	uint8_t *copy; /* of a stack */
	uint64_t regs[64];
};

/* Whether there are, of these events. */
bool return_probes_wanted(const struct sampler_event *events, size_t count);

/*
 * Beside the events of @sampler.  @events: with probes by paths; @entries: of the place where each
 * uretprobe's function begins, empty where the kernel was not told of it.  Errors of sampler_add().
 */
int return_probes_open(struct return_probes *probes, struct sampler *sampler,
		       const struct sampler_options *options, const struct sampler_event *events,
		       size_t count, const struct probe_event *entries);
void return_probes_close(struct return_probes *probes);

/* Whether a sample is of an entry. */
bool return_probes_have(const struct return_probes *probes, uint64_t id);

/* A function whose return is probed has been called.  0 or -ENOMEM. */
int return_probes_enter(struct thread *thread, const struct perf_event *event);

/* A child has its parent's calls on its copy of the stack.  0 or -ENOMEM. */
int return_probes_fork(const struct thread *parent, struct thread *child);

/* Nothing is known of any thread any more. */
void return_probes_forget(struct process_table *processes);

/*
 * Put return addresses back into the sample's copy of the stack, and who is on the way back from a
 * function, in the kernel's page, into its caller.  What is replaced is valid until the next call.
 */
void return_probes_restore(struct return_probes *probes, const struct thread *thread,
			   struct perf_sample *sample);

#endif
