/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recorder.h - sample, unwind at once, write call chains.
 *
 *	sampler ──► process table ──► walker ──► perf.data
 *
 * Copies of stacks are used and dropped: what is written is a call chain of
 * the kernel's and the user's part, see also trace_payload.h.
 */
#ifndef BOBBIN_PROFILE_RECORDER_H
#define BOBBIN_PROFILE_RECORDER_H

#include <bobbin/unwind.h>
#include <poll.h>
#include <sys/types.h>

#include "profile/kernel_walk.h"

struct byte_buffer;
struct recorder;

/* Whoever looks at what is recorded, to keep bytes with it; functions may be NULL. */
struct recorder_names {
	void *ctx;
	/* of each user trace; 0 or a negative errno, which ends the recording */
	int (*trace)(void *ctx, struct bobbin_space *space, const struct bobbin_trace *trace);
	/* at the end; @ret is empty before and the recorder's after.  An errno costs the bytes */
	int (*finish)(void *ctx, struct bobbin_unwinder *unwinder, struct byte_buffer *ret);
};

/* A process, with all its threads and what they start; or one thread alone. */
struct recorder_target {
	pid_t pid;
	pid_t tid; /* 0: the whole process */
};

struct recorder_options {
	const char *path;                      /* of the file, or "-" */
	const struct recorder_target *targets; /* until the recorder is open */
	size_t target_count;                   /* all of them are whole processes, or none is */
	bool all;                              /* everything that runs; there are no targets */
	bool enable_on_exec;  /* they are about to call exec; else they run already */
	uint32_t frequency;   /* samples a second and CPU */
	uint32_t stack_bytes; /* most of a stack that is looked at */
	bool kernel_walk;     /* walk stacks in the kernel, where that can be done */
	bool also_copy;       /* and in user space, too: compare, and keep the latter */
	uint32_t max_stack;   /* frames kept of a stack, 2..BOBBIN_MAX_DEPTH */
	const char *version;  /* for the file's header */
	const char *const *argv;
	struct bobbin_unwinder_options unwind;
	struct recorder_names names;
	unsigned int names_feature; /* the number that the bytes of @names have in the file */
};

struct recorder_stats {
	uint64_t samples;
	uint64_t user;                         /* samples with a user part */
	uint64_t lost;                         /* records that the kernel had no room for */
	uint64_t broken;                       /* records that made no sense */
	uint64_t deep;                         /* stacks of which frames were left out */
	uint64_t told;                         /* functions whose names were kept beside the file */
	unsigned int given_up;                 /* memories and files that did not answer in time */
	uint64_t left_out;                     /* pieces of registered code: no room for them */
	int told_error;                        /* why some of them were not, or 0 */
	int cut;                               /* why the recording ended too early, or 0 */
	uint64_t kept;                         /* samples that are in the file */
	uint64_t reasons[BOBBIN_REASON_COUNT]; /* of user parts */
	uint64_t walked;                       /* user parts that were walked in the kernel */
	uint64_t remapped;                     /* of those, cut where mappings had changed */
	uint64_t compared, in_part, differ;    /* of those, with user space's */
	struct kernel_walk_stats kernel;
};

/* What failed, for a message. */
enum recorder_stage {
	RECORDER_SAMPLER,
	RECORDER_OUTPUT,
	RECORDER_MEMORY,
	RECORDER_KERNEL_WALK,
	RECORDER_PROCESS
};

/* 0, or a negative errno and at which stage. */
int recorder_open(const struct recorder_options *options, enum recorder_stage *stage,
		  struct recorder **ret);

/* To wait on, and for how long at most, in milliseconds. */
struct pollfd *recorder_pollfds(struct recorder *recorder, size_t *count, int *timeout);

/*
 * Take in what was sampled.  0; or a negative errno of writing or -ENOMEM: then nothing
 * more is sampled, and what there is waits for recorder_finish().
 */
int recorder_sweep(struct recorder *recorder);

/* Take no more samples. */
void recorder_stop(struct recorder *recorder);

/*
 * End the recording; the recorder is gone.  0; there is a file, of which stats->cut may say
 * that it lacks the last samples.  Or what went wrong, then there is no file.
 */
int recorder_finish(struct recorder *recorder, struct recorder_stats *stats);

/* Leave no file. */
void recorder_abort(struct recorder *recorder);

const struct recorder_stats *recorder_stats(const struct recorder *recorder);

#endif
