/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * targets.h - the running processes or threads that record is attached to.
 */
#ifndef BOBBIN_CLI_TARGETS_H
#define BOBBIN_CLI_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/recorder.h"

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

#endif
