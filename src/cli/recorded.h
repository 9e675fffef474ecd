/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recorded.h - who is sampled, by record and top: a command that is started, processes or threads
 * that run, or everything, in the machine or in a part of it.
 */
#ifndef BOBBIN_CLI_RECORDED_H
#define BOBBIN_CLI_RECORDED_H

#include <signal.h>
#include <sys/resource.h>

#include "cli/arguments.h"
#include "cli/preload.h"

/* What of the standard streams is for the program. */
enum workload_streams {
	WORKLOAD_ALL_STREAMS,
	WORKLOAD_SPARE_STDOUT, /* what it writes there goes to stderr */
	WORKLOAD_NO_STREAMS,   /* it reads nothing, and what it writes goes nowhere */
};

struct workload {
	pid_t pid;
	int go;             /* closed: the child may call exec */
	int failed;         /* tells the errno of a failed exec */
	struct rusage used; /* once it has ended: of it, and of those that it has waited for */
};

struct recorded {
	struct arguments *arguments;
	char **command;                /* NULL: there are targets, or it is everything */
	const struct preload *preload; /* into the command; or NULL */
	struct workload workload;
	struct recorder_target own; /* of @workload */
	/*
	 * Opens the recorder, by the options that recorded_start() completed: 0, or an exit status
	 * after a complaint; takes it back.
	 */
	int (*open)(void *ctx);
	void (*abort)(void *ctx);
	void *ctx;
};

/* Look up the events.  false after a complaint. */
bool recorded_find_events(struct arguments *a);

/* What is wrong with the choice of targets, or NULL. */
const char *recorded_fault(const struct arguments *a);

/* Whether there are no targets: it is everything, or everything in a part of the machine. */
bool recorded_is_all(const struct arguments *a);

/* What is asked for with -F, or what the kernel takes if that is less, which a line says. */
uint32_t recorded_frequency(const struct arguments *a);

/*
 * Find the targets, or prepare the command, have the recorder opened, and start the command.
 * @streams: of the command.  0, or an exit status after a complaint.
 */
int recorded_start(struct recorded *recorded, struct recorder_options *options,
		   enum workload_streams streams);

/*
 * Whether the command has ended, where there is one, or all that was named with -p or -t has;
 * *@status is the command's, as from waitpid(2).
 */
bool recorded_ended(struct recorded *recorded, int *status);

/* Whether all that was named with -p or -t has ended. */
bool recorded_lost_targets(const struct recorded *recorded);

/*
 * Sampling is over before the command is: ask it to end, as perf does, and insist if the user
 * does, which sets *@interrupted.
 */
void recorded_end_command(struct recorded *recorded, volatile sig_atomic_t *interrupted,
			  int *status);

/*
 * What is sampled of stacks, and where they are walked: as it is asked for; by itself in the
 * kernel, if that can be done.  And by which rules.
 */
void recorded_walk(const struct arguments *a, struct recorder_options *options);

/* Why recorder_open() failed. */
void complain_recorder(const struct recorder_options *options, enum recorder_stage stage,
		       int error);

#endif
