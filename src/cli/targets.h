/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * targets.h - what is sampled: running processes or threads, a part of the machine, and by which
 * events.
 *
 *	cycles, cpu-clock, page-faults …	of the kernel's counters; :u or :k at the end
 *	SYSTEM:NAME				a tracepoint
 *	uprobe:FILE:FUNCTION[+OFFSET]		a place in a file, at which programs pass by
 *	uretprobe:FILE:FUNCTION			where the function returns to
 */
#ifndef BOBBIN_CLI_TARGETS_H
#define BOBBIN_CLI_TARGETS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/recorder.h"

/* Processes and threads that run. */
struct targets {
	struct recorder_target *all;
	int *pidfds; /* of @all: of its process */
	size_t count, capacity;
	/* processes that run already and are not sampled, started by those that are */
	pid_t *children;
	uint64_t *cpu_ms; /* of @children, when the recording began */
	size_t child_count, child_capacity;
	bool with_children; /* sample them, too */
};

/*
 * Take the argument of -p (@threads false) or -t: a number, or for -p a name, or a list of them,
 * "12,34".  A name is the one that ps(1) and pgrep(1) show, and stands for all processes that
 * have it.  false after a complaint.
 */
bool targets_parse(struct targets *targets, const char *option, const char *list, bool threads);

/* Whether there are processes and single threads. */
bool targets_are_mixed(const struct targets *targets);

/* Find the processes, and their children.  0, or an exit status after a complaint. */
int targets_open(struct targets *targets);
void targets_close(struct targets *targets);

/* Whether all of them have ended. */
bool targets_ended(const struct targets *targets);

/* One line to stderr, if there are children. */
void targets_tell_children(const struct targets *targets);

/* The CPU time that the children have used since targets_open(), in milliseconds. */
uint64_t targets_missed_ms(const struct targets *targets);

/* A part of the machine: CPUs, cgroups, a user. */
struct scope {
	struct cpu_choice cpus;
	char *cgroup_names; /* a list, or NULL */
	int *cgroups;       /* their folders */
	size_t cgroup_count;
	bool by_user;
	uint32_t user;
};

/* Take the argument of -C, a list of numbers and ranges, "0,2-3".  false after a complaint. */
bool scope_parse_cpus(struct scope *scope, const char *option, const char *list);

/* Take the argument of --user, a number or a name.  false after a complaint. */
bool scope_parse_user(struct scope *scope, const char *option, const char *user);

/* Find the cgroups, if there are any.  0, or an exit status after a complaint. */
int scope_open(struct scope *scope);
void scope_close(struct scope *scope);

struct event_list {
	struct sampler_event *events;
	size_t count, capacity;
};

/*
 * Add the events of a list, "cycles,sched:sched_switch".  @debug_path: folders with debug files.
 * false after a complaint.
 */
bool event_list_parse(struct event_list *list, const char *option, const char *text,
		      const char *debug_path);

/*
 * How often they make samples, the usual one, too.  @period: of all, or 0; @frequent: a frequency
 * was asked for, also of those that make a sample each time otherwise.  false after a complaint.
 */
bool event_list_complete(struct event_list *list, uint64_t period, bool frequent);

/* Whether there are no tracepoints and no probes. */
bool event_list_is_of_counters(const struct event_list *list);

void event_list_close(struct event_list *list);

#endif
