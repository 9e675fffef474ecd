/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stack_sample.h - one sample with its stack, wherever it comes from, and what takes samples.
 *
 *	registers and copy of the stack, or the kernel's chain ──► trace
 *	recorder, session ──► struct sample_sink ──► perf.data, another thread, tree, lines
 *
 * A recorder calls begin, then sample and record in its own order, round after each sweep over its
 * rings, and end or abort.  A session calls sample only.  Each function returns 0; -E2BIG for what
 * was too large and is left out; or another negative errno: then nothing follows but the end.
 */
#ifndef BOBBIN_PROFILE_STACK_SAMPLE_H
#define BOBBIN_PROFILE_STACK_SAMPLE_H

#include <bobbin/step.h>
#include <bobbin/unwind.h>

#include "profile/perf_event.h"

struct cgroup;
struct process;
struct process_table;

/* A sample; everything is valid while a sink takes it. */
struct stack_sample {
	const char *event; /* its name */
	size_t event_number;
	int pid, tid;
	uint32_t cpu;
	uint64_t time, period;
	uint64_t code_time; /* @time by CLOCK_MONOTONIC; UINT64_MAX: it has another clock */
	const char *comm;
	const struct cgroup *cgroup;   /* NULL: it is not known */
	const struct process *process; /* NULL: it has ended, and there is no user part */
	/* leaf first, kernel before user; of those that were left out, one has the number as PC */
	const struct bobbin_frame *frames;
	size_t count;
	uint64_t id, ip; /* as recordings have them: of the event, and where it happened */
	uint16_t misc;
	bool weighed;              /* the event has its samples' periods from what happened, such as
				    * how long it took, not from how often it is sampled */
	bool chained;              /* it was recorded with a call chain or a stack */
	bool traced;               /* @reason is known */
	enum bobbin_reason reason; /* why the user part ended */
};

/* What @event says, which has these attributes: all but the event, comm, process and stack. */
struct stack_sample stack_sample_of(const struct perf_event *event,
				    const struct perf_event_attr *attr);

/* Where it happened, as the frame of a sample that has no other. */
struct bobbin_frame stack_sample_place(const struct stack_sample *sample);

/* What stands for @count frames that were left out. */
struct bobbin_frame stack_sample_gap(uint32_t count);

/* Insert it where a walk has left some out; @trace: its frames have room for one more. */
void stack_sample_mark(struct bobbin_trace *trace);

/* The mask to ask the kernel for: all that a rule may name. */
uint64_t sample_regs_mask(const struct bobbin_arch *arch);

/* Registers by their DWARF numbers, and @pc, as a sample with that mask has them. */
void sample_regs_order(const struct bobbin_arch *arch, uint64_t pc,
		       const uint64_t gpr[BOBBIN_REG_COUNT], uint64_t ret[BOBBIN_REG_COUNT + 1]);

/*
 * The leaf's registers; they borrow @gpr.  false: the sample has none that
 * could be unwound (a kernel thread, a 32-bit program).
 */
bool sample_regs(const struct bobbin_arch *arch, const struct perf_sample *sample,
		 uint64_t gpr[BOBBIN_REG_COUNT], struct bobbin_regs *ret);

/*
 * Unwind the user part; @trace as for bobbin_unwind().  Without a frame, and
 * with BOBBIN_REASON_NO_USER, where the sample has no user part: a kernel thread, or a
 * program that is in exec and has no registers of its own yet.  Of a 32-bit program
 * the leaf is all there is.
 */
void sample_trace(struct bobbin_unwinder *unwinder, const struct bobbin_arch *arch,
		  struct process *process, const struct perf_sample *sample,
		  struct bobbin_trace *trace);

/* As unwinder_keep_code(), for a sample that is to be walked later. */
void sample_keep_code(struct bobbin_unwinder *unwinder, struct process *process,
		      const struct perf_sample *sample);

/*
 * A user part that the kernel has walked, with marks and leaf first, as a trace; @trace as there.
 */
void chain_trace(struct bobbin_unwinder *unwinder, struct bobbin_space *space, const uint64_t *pcs,
		 uint64_t count, struct bobbin_trace *trace);

/* An event that is sampled; its first id marks the records that it made. */
struct sample_event {
	struct perf_event_attr attr;
	const char *name;
	const uint64_t *ids;
	size_t nr_ids;
};

/* Where samples come from; lives until the end. */
struct sample_source {
	struct bobbin_unwinder *unwinder;
	struct process_table *processes; /* as of what was given last */
	const struct sample_event *events;
	size_t event_count; /* 1 at least */
};

/**
 * struct sample_sink - functions of a sink: those that its source calls
 * @begin: before all others
 * @sample: valid during the call
 * @record: MMAP, MMAP2, COMM, FORK, EXIT, LOST or LOST_SAMPLES, likewise; by a session COMM alone,
 *	and only if there is such a function
 * @round: nothing that is given later is older than what was given before the last round
 * @end: there is no more; @error: why that is sooner than it should be, or 0
 * @abort: instead: forget it all; NULL: there is nothing to forget
 */
struct sample_sink {
	int (*begin)(void *ctx, const struct sample_source *source);
	int (*sample)(void *ctx, const struct stack_sample *sample);
	int (*record)(void *ctx, const struct perf_event *event);
	int (*round)(void *ctx);
	int (*end)(void *ctx, int error);
	void (*abort)(void *ctx);
};

#endif
