/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * workload.h - the program that a recording starts.
 */
#ifndef BOBBIN_CLI_WORKLOAD_H
#define BOBBIN_CLI_WORKLOAD_H

#include <stdbool.h>
#include <sys/types.h>

struct workload {
	pid_t pid;
	int go;     /* closed: the child may call exec */
	int failed; /* tells the errno of a failed exec */
};

/*
 * Fork a child that waits.  @spare_stdout: standard output is not for it, what it writes
 * there goes to stderr.  0 or a negative errno.
 */
int workload_prepare(char **argv, bool spare_stdout, struct workload *ret);

/* Let it call exec.  0, or the negative errno of exec; then it is reaped. */
int workload_start(struct workload *workload);

/* End a child that has not been started. */
void workload_cancel(struct workload *workload);

/* Whether it has ended; *@status as from waitpid(2). */
bool workload_ended(struct workload *workload, int *status);

#endif
