/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * profile.h - a profile as it is written for other programs' viewers.
 *
 *	recording ──► events  threads  mappings ─ locations ─ lines ─ functions
 *	                  │      │                   │
 *	                  └──────┴───── totals ── stacks ──►  pprof, callgrind, OTLP
 *	                         └───── samples ───────────►  speedscope, Firefox, Chrome
 *
 * Everything is in arrays, and is referred to by its number there.  Each thing is there once, so
 * memory is proportional to what differs, and not to the samples.  These are kept with their times
 * only if that is asked for, in a file without a name.
 *
 * One thread at a time.
 */
#ifndef BOBBIN_EXPORT_PROFILE_H
#define BOBBIN_EXPORT_PROFILE_H

#include <bobbin/reason.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/frame_kind.h"
#include "base/hash_index.h"
#include "base/name_pool.h"
#include "export/profile_sample.h"

/* In place of a number. */
#define PROFILE_NONE UINT32_MAX
/* The stack without a frame. */
#define PROFILE_ROOT 0
/* What a function is called whose name is not known. */
#define PROFILE_UNKNOWN "[unknown]"

/**
 * struct profile_event - what was sampled
 * @name: as recorded: "cpu-clock", "offcpu-time"
 * @unit: of weights: "nanoseconds", "bytes" or "count"
 * @period: of what was asked for, or 0 where that was a frequency
 * @samples, @weight: the sums of all samples
 */
struct profile_event {
	const char *name, *unit;
	uint64_t period, samples, weight;
};

/**
 * struct profile_thread - a thread as long as it has a name, and is in a cgroup
 * @pid, @tid, @comm: which one
 * @cgroup: the path; "": it is not known
 * @process: what its process was called when it was first sampled
 * @first, @last: when it was sampled, by the clock of the samples, in nanoseconds
 * @samples: of it
 */
struct profile_thread {
	int pid, tid;
	const char *comm, *cgroup, *process;
	uint64_t first, last, samples;
};

/**
 * struct profile_mapping - code that processes have mapped
 * @path: of the file, or "[vdso]", "[kernel.kallsyms]", "[anon]"
 * @start, @end: addresses; @offset: of @start in the file; a whole file is at 0, wherever it was mapped
 * @build_id, @build_id_len: the file's, or 0 bytes
 * @is_file: @path is one that can be opened
 */
struct profile_mapping {
	const char *path;
	uint64_t start, end, offset;
	uint8_t build_id[20];
	uint8_t build_id_len;
	bool is_file;
};

/**
 * struct profile_function - what code is called
 * @name: as shown, never empty; @system_name: as the file spells it
 * @dso: the file's path, or in brackets what it is instead
 * @src_file: "" where it is not known
 * @kind: of its frames; that of an inlined one is the kind of the frame it is in
 */
struct profile_function {
	const char *name, *system_name, *dso, *src_file;
	enum frame_kind kind;
};

/* @line: 0 where it is not known. */
struct profile_line {
	uint32_t function, line;
};

/* The function of a place, from its start: @before, the place itself, and the rest. */
struct profile_extent {
	uint64_t before;
	uint64_t size; /* 0: it is not known */
	bool known;    /* all of it, but for the size */
};

/**
 * struct profile_location - a place in code
 * @address: in a file, the offset in it; else the process's or the kernel's; of a caller, that of
 *	the call
 * @mapping: PROFILE_NONE where nothing is mapped, and where frames were left out
 * @lines, @line_count: the first one is inlined into the second one, and so on; one at least
 * @extent: of the function that holds the code; profile_location() leaves it unknown
 */
struct profile_location {
	uint64_t address;
	uint32_t mapping, lines, line_count;
	struct profile_extent extent;
};

/* A frame and those of its callers; @depth: of frames, 0 for PROFILE_ROOT. */
struct profile_stack {
	uint32_t caller, location, depth;
};

/* Samples that differ in nothing but CPU, time and weight; @cpu: theirs, if the profile is @by_cpu. */
struct profile_total {
	uint32_t event, thread, stack, sources, cpu;
	uint8_t reason;
	bool traced;
	uint64_t samples, weight;
};

struct sample_spool;

/**
 * struct profile - all of it; writers read it, profile_*() below change it
 * @start: the time of day of the first sample, in nanoseconds; 0: it is not known
 * @first, @last: times of samples
 * @host: the machine's name, or NULL
 * @by_cpu: samples of several CPUs are not added up; set before the first one
 */
struct profile {
	struct profile_event *events;
	struct profile_thread *threads;
	struct profile_mapping *mappings;
	struct profile_function *functions;
	struct profile_line *lines;
	struct profile_location *locations;
	struct profile_stack *stacks;
	struct profile_total *totals;
	size_t event_count, thread_count, mapping_count, function_count, line_count, location_count,
		stack_count, total_count;
	uint64_t start, first, last;
	const char *host;
	bool by_cpu;
	/* what finds them, and more room; for profile.c */
	size_t event_room, thread_room, mapping_room, function_room, line_room, location_room,
		stack_room, total_room;
	struct hash_index thread_index, mapping_index, function_index, location_index, stack_index,
		total_index;
	struct name_pool names;
	struct sample_spool *spool; /* or NULL */
};

/* @timed: samples are kept in the order in which they are added.  0, or a negative errno. */
int profile_open(bool timed, struct profile **ret);
void profile_close(struct profile *profile); /* or NULL */

/*
 * Each puts the number of a thing into @ret, which is new or was there; strings are copied, NULL
 * stands for "".  0, -ENOMEM, or -E2BIG for 2^32 - 2 of them.
 */
int profile_event(struct profile *profile, const struct profile_event *event, uint32_t *ret);
int profile_thread(struct profile *profile, const struct profile_thread *thread, uint32_t *ret);
int profile_mapping(struct profile *profile, const struct profile_mapping *mapping, uint32_t *ret);
int profile_function(struct profile *profile, const struct profile_function *function,
		     uint32_t *ret);
int profile_location(struct profile *profile, uint64_t address, uint32_t mapping,
		     const struct profile_line *lines, uint32_t line_count, uint32_t *ret);

/* Where it was recorded.  0 or -ENOMEM. */
int profile_set_host(struct profile *profile, const char *host);

/* The stack of a frame at @location that @caller has called.  Events are new each time. */
int profile_stack(struct profile *profile, uint32_t caller, uint32_t location, uint32_t *ret);

/* Add a sample.  0; -ENOMEM, -E2BIG as above; -EOVERFLOW; or the errno of writing it. */
int profile_add(struct profile *profile, const struct profile_sample *sample);

/**
 * struct profile_samples - where reading the samples of a thread has got to
 *
 * Starts as all zero but for @profile and @thread.
 */
struct profile_samples {
	const struct profile *profile;
	uint32_t thread;
	size_t chunk, at; /* how far it is */
	size_t count;     /* in @samples */
	struct profile_sample samples[64];
};

/* The next sample of a thread, in order.  1; 0 at the end; or the errno of reading it. */
int profile_samples_next(struct profile_samples *samples, const struct profile_sample **ret);

/* An event that says how long CPUs have worked: "cpu-clock", "task-clock:u". */
static inline bool profile_is_clock(const struct profile_event *event)
{
	const size_t length = strcspn(event->name, ":");

	return (length == strlen("cpu-clock") && !memcmp(event->name, "cpu-clock", length)) ||
	       (length == strlen("task-clock") && !memcmp(event->name, "task-clock", length));
}

/* The words in which formats say why a stack ended: "OUTERMOST", or NULL if that is not known. */
static inline const char *profile_reason(bool traced, uint8_t reason)
{
	return traced ? bobbin_reason_name((enum bobbin_reason)reason) : NULL;
}

/* What viewers show at first: the number of the first event that has samples, or 0. */
static inline uint32_t profile_main_event(const struct profile *profile)
{
	for (size_t i = 0; i < profile->event_count; i++)
		if (profile->events[i].samples)
			return (uint32_t)i;
	return 0;
}

/*
 * Sources of rules by their names, ".eh_frame, code", in @text, which is cut where it is full.  The
 * result is @text.
 */
const char *profile_sources(uint32_t sources, char *text, size_t size);

#endif
