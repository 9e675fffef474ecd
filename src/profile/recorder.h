/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recorder.h - sample, unwind at once, give frames.
 *
 *	sampler ──► process table ──► walker ──► a sink, see stack_sample.h
 *
 * Copies of stacks are used and dropped.
 */
#ifndef BOBBIN_PROFILE_RECORDER_H
#define BOBBIN_PROFILE_RECORDER_H

#include <bobbin/unwind.h>
#include <poll.h>
#include <signal.h>
#include <sys/types.h>

#include "bpfwalk/bpf_walk.h"
#include "profile/sampler.h"
#include "profile/stack_sample.h"

/* What waits are samples of. */
#define RECORDER_WAIT_EVENT "offcpu-time"
/* And times in which others had the CPU. */
#define RECORDER_PREEMPTED_EVENT "preempted-time"
/* What tells who ends them. */
#define WAKEUPS_TRACEPOINT "sched:sched_waking"

/* Blocks of heaps: all, those that are not freed in the end, and those when somebody has asked. */
#define RECORDER_HEAP_EVENT "allocated-bytes"
#define RECORDER_LIVE_EVENT "live-bytes"
#define RECORDER_DUMP_EVENT "dumped-bytes"

/* A process, with all its threads and what they start; or one thread alone. */
struct recorder_target {
	pid_t pid;
	pid_t tid; /* 0: the whole process */
};

/* Where stacks are walked. */
enum recorder_walk {
	RECORDER_COPIES,         /* in user space */
	RECORDER_DEFERS,         /* by the kernel itself, on the way to user mode */
	RECORDER_TRIES_KERNEL,   /* in the kernel, if it can be done; else in user space */
	RECORDER_WALKS_IN_KERNEL /* in the kernel, as far as that goes */
};

struct recorder_options {
	const struct sample_sink *sink; /* takes what is sampled */
	void *sink_ctx;
	struct area_reader *area; /* the targets sample themselves, see area_reader.h; or NULL */
	bool heap;                /* with @area: blocks that are allocated, not the CPU time */
	const struct recorder_target *targets; /* as long as the recorder is open */
	size_t target_count;                   /* all of them are whole processes, or none is */
	bool all;                              /* everything that runs; there are no targets */
	const struct sampler_event *events;    /* as long as the recorder is open */
	size_t event_count;                    /* 0: what is usual; of an area, the CPU time */
	const struct cpu_choice *cpus;         /* where samples are taken; or NULL */
	const int *cgroups; /* of all, what is in these; see struct sampler_options */
	size_t cgroup_count;
	bool by_user; /* of all, what runs as this user */
	uint32_t user;
	bool enable_on_exec;  /* they are about to call exec; else they run already */
	uint32_t frequency;   /* samples a second and CPU */
	uint32_t stack_bytes; /* most of a stack that is looked at */
	size_t ring_bytes;    /* as struct sampler_options has it */
	enum recorder_walk walk;
	bool also_copy;    /* and in user space, too: compare, and keep the latter */
	double code_share; /* of a processor, that inferring rules may take; 0: all of it */
	bool holds_samples; /* until rules are inferred that they need: they come late, before a round */
	bool off_cpu;       /* also where threads wait, as samples of events of their own */
	bool wakers;        /* with @off_cpu: and who ends the waits */
	uint64_t wait_ns;   /* with @off_cpu: shorter waits are only counted */
	uint32_t max_stack; /* frames kept of a stack, 2..BOBBIN_MAX_DEPTH */
	/* once it is not 0, what does not answer is waited for no longer; or NULL */
	const volatile sig_atomic_t *hurry;
	struct bobbin_unwinder_options unwind;
	const struct infer_ops *infer; /* of inferred rules, or NULL */
};

/**
 * struct wait_stats - what was found
 * @waits, @wait_ns: given out, of threads that waited for something
 * @preempted, @preempted_ns: likewise, of those that waited for a CPU only
 * @short_waits, @short_ns: both, which took too little time
 * @cut: waits that are known in part: records were lost
 * @dropped: waits of which nothing is known, likewise
 * @wakers: of waits that were given out
 */
struct wait_stats {
	uint64_t waits, wait_ns, preempted, preempted_ns, short_waits, short_ns, cut, dropped,
		wakers;
};

/**
 * struct heap_stats - what samples of blocks stand for, in bytes
 * @allocated, @live: all; those that were not freed in the end
 * @dumps: how often somebody asked
 * @forgotten: blocks for which there was no room: that they live is not known
 */
struct heap_stats {
	uint64_t allocated, live, dumps, forgotten;
};

struct recorder_stats {
	uint64_t samples;
	uint64_t user;                         /* samples with a user part */
	uint64_t lost;                         /* records that the kernel had no room for */
	uint64_t read_until;                   /* clock_now(): of all records so far */
	uint64_t broken;                       /* records that made no sense */
	uint64_t partly;                       /* threads that may be sampled on some CPUs only */
	uint64_t deep;                         /* stacks of which frames were left out */
	unsigned int given_up;                 /* memories and files that did not answer in time */
	uint64_t left_out;                     /* pieces of registered code: no room for them */
	int cut;                               /* why the recording ended too early, or 0 */
	uint64_t reasons[BOBBIN_REASON_COUNT]; /* of user parts */
	uint64_t frames, inferred;             /* of user parts; of them, by rules from code */
	uint64_t walked;                       /* user parts that were walked in the kernel */
	uint64_t remapped;                     /* of those, cut where mappings had changed */
	uint64_t compared, in_part, differ;    /* of those, with user space's */
	int walk_error;                        /* why stacks are not walked in the kernel, or 0 */
	struct bpf_walk_stats kernel;
	struct wait_stats waits;
	struct heap_stats heap;
};

/* What failed, for a message. */
enum recorder_stage {
	RECORDER_SAMPLER,
	RECORDER_SWITCHES,
	RECORDER_WAKEUPS,
	RECORDER_OUTPUT,
	RECORDER_MEMORY,
	RECORDER_KERNEL_WALK,
	RECORDER_PROCESS
};

struct recorder;

/* 0, or a negative errno and at which stage. */
int recorder_open(const struct recorder_options *options, enum recorder_stage *stage,
		  struct recorder **ret);

/* To wait on, and for how long at most, in milliseconds. */
struct pollfd *recorder_pollfds(struct recorder *recorder, size_t *count, int *timeout);

/*
 * Take in what was sampled.  0; or a negative errno of the sink or -ENOMEM: then nothing
 * more is sampled, and what there is waits for recorder_finish().
 */
int recorder_sweep(struct recorder *recorder);

/* Give what of heaps is not freed now, with all that was sampled up to now.  As recorder_sweep(). */
int recorder_dump_blocks(struct recorder *recorder);

/* As sampler_set_frequency(). */
int recorder_set_frequency(struct recorder *recorder, uint32_t frequency);

/* Take no more samples. */
void recorder_stop(struct recorder *recorder);

/*
 * Take no more samples, and wait until the rules are there that are being inferred, unless a
 * handler sets *@interrupted.  They serve the last samples, and the next recording.
 */
void recorder_settle(struct recorder *recorder, const volatile sig_atomic_t *interrupted);

/*
 * Give the rest, and end the sink; the recorder is gone.  What that returned; stats->cut may say
 * that the last samples are missing.
 */
int recorder_finish(struct recorder *recorder, struct recorder_stats *stats);

/* The recorder, or NULL, is gone, and the sink is told to forget all. */
void recorder_abort(struct recorder *recorder);

const struct recorder_stats *recorder_stats(const struct recorder *recorder);

#endif
