/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * workload.h - the program that a recording starts.
 */
#ifndef BOBBIN_CLI_WORKLOAD_H
#define BOBBIN_CLI_WORKLOAD_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

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

/* Fork a child that waits.  0 or a negative errno. */
int workload_prepare(char **argv, enum workload_streams streams, struct workload *ret);

/* Let it call exec.  0, or the negative errno of exec; then it is reaped. */
int workload_start(struct workload *workload);

/* End a child that has not been started. */
void workload_cancel(struct workload *workload);

/* Whether it has ended; *@status as from waitpid(2). */
bool workload_ended(struct workload *workload, int *status);

#endif
