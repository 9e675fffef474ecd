/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recorder_state.h - a recorder, for:
 *
 *	recorder_start.c	its start
 *	recorder_sweeps.c	records, samples with a user part or one to come, and its end
 *	recorder_holds.c	samples that wait for rules
 *	recorder_walk.c		walks in the kernel
 *	recorder_waits.c	times at which threads do not run
 *	recorder_code.c		code that the kernel does not tell of
 *	recorder_cgroups.c	which cgroups processes are in
 *	recorder_area.c		processes that sample themselves
 *	recorder_heap.c		blocks that these allocate
 */
#ifndef BOBBIN_PROFILE_RECORDER_STATE_H
#define BOBBIN_PROFILE_RECORDER_STATE_H

#include "profile/cgroup_table.h"
#include "profile/live_blocks.h"
#include "profile/probe_event.h"
#include "profile/process_table.h"
#include "profile/recorder.h"
#include "profile/snapshot.h"
#include "profile/trace_payload.h"
#include "profile/tracepoint.h"
#include "unwind/module.h"

/* A process that is described, but of which the kernel sends no records; some of them are kept. */
struct foreign_process {
	int pid;                   /* 0: none */
	uint64_t start;            /* when it started, by process_start_time() */
	uint64_t asked, described; /* by clock_now() */
};

/* A process that has ended, and what was known of its cgroup. */
struct ended_process {
	int pid; /* 0: none */
	struct process_cgroup cgroup;
};

#define FOREIGN_PROCESSES 64
#define ENDED_PROCESSES 256
/* With those of wakers. */
#define RECORDER_WAIT_EVENTS 3
/* Beside that of allocated blocks. */
#define RECORDER_BLOCK_EVENTS 2

/* See recorder_waits.c. */
struct recorder_waits {
	struct sampler_events switches, wakeups; /* none: they are not wanted */
	struct tracepoint_field woken, flags;    /* of wakeups */
	uint64_t ids[RECORDER_WAIT_EVENTS];
	uint64_t blind; /* records up to this time may be missing */
	struct foreign_process foreign[FOREIGN_PROCESSES];
};

struct recorder {
	struct recorder_options options;
	struct sampler_event *events; /* those of the options, as they are opened */
	struct probe_event *probes;   /* of each, where there is one; then of entries, likewise */
	struct return_probes returns;
	struct sampler *sampler;
	struct recorder_waits waits;
	struct bobbin_unwinder *unwinder;
	struct process_table *processes;
	struct sample_event *described; /* the events, for the sink */
	struct event_ids event_ids;     /* of those, if there are several */
	struct cgroup_table cgroups;    /* that samples are of */
	char *cgroup_mount;             /* "": there is none; NULL: it was not looked for */
	struct ended_process ended[ENDED_PROCESSES]; /* by their numbers, the last ones */
	uint64_t code_due;   /* when one of all processes may be searched for code again */
	bool code_open;      /* a process is known that is to be asked now and then */
	uint64_t code_sweep; /* when all of these are asked again, by clock_now() */
	uint64_t sweeps;     /* up to now */
	struct bpf_walk *loading, *walk; /* one of them, or neither; the first is not there yet */
	struct kept_walk *walks;         /* of CPUs, to be compared; or NULL */
	size_t walk_count;
	bool walks_exact; /* programs see the time of a sample: both walks have the same */
	struct deferred_samples deferred;
	struct deferred_samples held; /* until the rules of their code are inferred */
	struct perf_event *exits;     /* of threads, to be taken in after what is held */
	size_t exit_count, exit_room;
	uint64_t analysed;     /* files, when what is held was walked again */
	uint64_t early;        /* clock_now(); until then records are read at short intervals */
	bool hurries;          /* the rings fill up while processes are followed */
	uint64_t follow_until; /* clock_now() */
	bool behind;           /* not all processes were followed by then */
	bool preloads;         /* files are read when they are mapped */
	struct snapshot_files *area_files; /* or NULL; of processes that sample themselves */
	struct perf_event *area_ends;      /* EXIT records of those that had ended last time */
	size_t area_end_count, area_end_room;
	uint64_t area_due;          /* when to look again */
	struct live_blocks *blocks; /* or NULL: no blocks are sampled */
	uint64_t block_ids[RECORDER_BLOCK_EVENTS];
	uint64_t id;      /* that marks our own records */
	uint64_t time;    /* of the last record, on the recording's clock */
	uint64_t stopped; /* clock_now(), or 0 */
	struct recorder_stats stats;
	/* the user's part of a sample begins at the same place in all of them */
	struct bobbin_frame frames[PERF_KERNEL_CHAIN_MAX + TRACE_CHAIN_MAX];
};

/*
 * Of processes that sample themselves: take in what else there is to an event of an area, before it
 * is, or instead: then @over.  0 or a negative errno.
 */
int recorder_on_area(struct recorder *recorder, const struct perf_event *event, bool *over);

/*
 * After a walk, as recorder_watch_code(): what has been mapped meanwhile.  @is_held: what its sample
 * leads to is to be kept, see recorder_hold().
 */
int recorder_watch_maps(struct recorder *recorder, struct process *process,
			const struct bobbin_trace *trace, bool is_held);

/* All that was there is given: now and then, tell which processes and threads have ended. */
int recorder_sweep_area(struct recorder *recorder);

/* What the recording says of these events; borrowed from the recorder.  Their number. */
size_t recorder_describe_blocks(struct recorder *recorder, const struct perf_event_attr *sampled,
				struct sample_event *ret);

/*
 * Give the sample of a block, as recorder_put_user(), and keep it; as recorder_hold(), and keep it with
 * what is known of its stack; give that which was held, and keep it anew if it is not freed; forget one
 * that is freed; give and forget, at a time, those of a process that ends, or of all with 0.  0 or a
 * negative errno.
 */
int recorder_put_block(struct recorder *recorder, const struct perf_event *event,
		       struct process *process, struct bobbin_trace *trace);
int recorder_hold_block(struct recorder *recorder, const struct perf_event *event,
			struct bobbin_trace *trace);
int recorder_put_held_block(struct recorder *recorder, const struct perf_event *event,
			    struct process *process, struct bobbin_trace *trace);
void recorder_free_block(struct recorder *recorder, const struct perf_event *event);
int recorder_end_blocks(struct recorder *recorder, int pid, uint64_t time);

/* Give a sample that is not counted; @process: NULL if it has ended. */
int recorder_give(struct recorder *recorder, const struct perf_event *event,
		  const struct process *process, struct bobbin_trace *trace);

/* Give a record to the sink.  0 or a negative errno. */
int recorder_put(void *recorder, const struct perf_event *event);

/* Take in a record that is no sample, and give it. */
int recorder_on_record(void *recorder, const struct perf_event *event);

/* The same for one that tells what is so now. */
int recorder_on_description(void *recorder, const struct perf_event *event);

/* Tell what runs, and what it has mapped and registered.  @files: or NULL */
int recorder_describe(struct recorder *recorder, pid_t pid, struct snapshot_files *files);

/* Ask what code a process has, @page: in its page, too; give what is new. */
int recorder_ask_code(struct recorder *recorder, pid_t pid, bool page);

/* What is told of memory holds from the kernel's record of it on: images are told again. */
int recorder_tell_images_over(struct recorder *recorder, const struct perf_event *mapped);

/* Before a sample is given, ask which cgroup its process is in, if that is due.  0 or a negative errno. */
int recorder_ask_cgroup(struct recorder *recorder, struct process *process);

/* Before an EXIT record is taken in, which ends what is known of the process. */
void recorder_note_end(struct recorder *recorder, const struct perf_event *event);

/*
 * A sweep begins: ask the processes that are known to tell of their code what is new, if that is due.
 * Before a sample of such a process is walked, ask it in any case, and any process for its cgroup.  0
 * or a negative errno.
 */
int recorder_sweep_code(struct recorder *recorder);
int recorder_ask_sampled(struct recorder *recorder, struct process *process);

/*
 * After a walk: 1: something is known now that the walk may have missed, and was told; 0; or a
 * negative errno.
 */
int recorder_watch_code(struct recorder *recorder, struct process *process,
			const struct bobbin_trace *trace);

/* Count a sample and its user part, which is in recorder_trace(), and give it. */
int recorder_put_user(struct recorder *recorder, const struct perf_event *event,
		      struct process *process, struct bobbin_trace *trace);

/* Room for the user part of a sample. */
struct bobbin_trace recorder_trace(struct recorder *recorder);

/* From the sample's copy of the stack. */
int recorder_unwind(struct recorder *recorder, const struct perf_event *event,
		    struct process *process, struct bobbin_trace *trace);

/* Whether the process runs as who is recorded. */
bool recorder_is_of_user(const struct recorder *recorder, struct process *process);

/*
 * Whether the walk that made @trace lacked rules that are being inferred; @missed: those that had
 * lacked some before it.  Then it may be held, with its stack: 0 or a negative errno.
 */
bool recorder_lacks_rules(const struct recorder *recorder, uint64_t missed,
			  const struct bobbin_trace *trace);
int recorder_hold(struct recorder *recorder, const struct perf_event *event);

/* Walk what is held again, and give what has its rules now; at the end all, after a little while. */
int recorder_retry_held(struct recorder *recorder);
int recorder_end_held(struct recorder *recorder);
void recorder_close_held(struct recorder *recorder);

/* Take a record into account, after the held samples that it would change.  0 or a negative errno. */
int recorder_take_in(struct recorder *recorder, const struct perf_event *event);

/*
 * Events of switches beside those of the sampler, and of who ends waits.  Errors of sampler_add(),
 * -EACCES where the user may not see the kernel's part: there no event tells of switches; of
 * wakeups also of tracepoint_find(), -ENXIO: inside a process-ID namespace.
 */
int recorder_open_waits(struct recorder *recorder, const struct sampler_options *options);
int recorder_open_wakeups(struct recorder *recorder);
void recorder_enable_waits(const struct recorder *recorder, bool enable);

/* What the recording says of these events; borrowed from the recorder.  Their number. */
size_t recorder_describe_waits(const struct recorder *recorder,
			       const struct perf_event_attr *sampled,
			       struct sample_event ret[RECORDER_WAIT_EVENTS]);

/* Take in a record of such an event; false: it is none. */
bool recorder_on_wait(struct recorder *recorder, const struct perf_event *event, int *error);

/* Records up to that of @lost are missing. */
int recorder_lose_waits(struct recorder *recorder, const struct perf_event *lost);

/* Of threads that still wait: as long as they are known to; @count: those of which all is known. */
int recorder_end_waits(struct recorder *recorder, uint64_t time, uint64_t *count);

/* The kernel sends records of a process from now on. */
void recorder_drop_foreign(struct recorder *recorder, int pid);

/* The threads of the targets as they are now; *@ret is to be freed, also on failure.  0 or a negative errno. */
int recorder_list_threads(const struct recorder *recorder, pid_t **ret, size_t *count);

/* The sampler's, and what was added to them. */
void recorder_close_events(struct recorder *recorder);

/* The events of the options, as perf samples them without a program. */
void recorder_take_events(struct recorder *recorder);

/*
 * Mark the events that a program can sample as perf does: a sample is each hit, or each n-th one, of
 * the running thread.
 */
void recorder_choose_hits(struct recorder *recorder);
bool recorder_has_hits(const struct recorder *recorder);

/*
 * Whether stacks are to be walked in the kernel, those of hits, too; begin to load what does it; wait
 * for that, unless samples are copied meanwhile.
 */
bool recorder_wants_walk(const struct recorder *recorder);
bool recorder_wants_hits(const struct recorder *recorder);
int recorder_load_walk(struct recorder *recorder);
int recorder_take_walk(struct recorder *recorder);

/* From here on samples are walked in the kernel, as far as it goes, or will be. */
int recorder_attach_walk(struct recorder *recorder);

/*
 * Copy no more what can be walked, if the program has been loaded meanwhile; before a command starts,
 * if it is soon.
 */
void recorder_change_over(struct recorder *recorder);
void recorder_await_walk(struct recorder *recorder);

/*
 * Tell the kernel's walker what has changed.  @wait: for all tables.  In a hurry it takes no longer
 * than a ring may fill, and the rest comes the next time.
 */
void recorder_follow_all(struct recorder *recorder, bool wait);

/* The next record of perf, or sample of the program and its stack, by time: 1, 0, -EBADMSG. */
int recorder_next_event(struct recorder *recorder, struct perf_event *ret,
			const struct bpf_trace **walked);
int recorder_on_walk(struct recorder *recorder, const struct perf_event *event,
		     const struct bpf_trace *walked);

/* Compare a walk of a copy with the kernel's, if there is one; forget that, or all of them. */
void recorder_compare(struct recorder *recorder, const struct perf_event *event,
		      const struct process *process, const struct bobbin_trace *trace);
void recorder_drop_walk(struct recorder *recorder, const struct perf_event *event);
void recorder_forget_walks(struct recorder *recorder);

#endif
