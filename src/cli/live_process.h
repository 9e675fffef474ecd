/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * live_process.h - a running process that a command looks at, and why one cannot be looked at.
 */
#ifndef BOBBIN_CLI_LIVE_PROCESS_H
#define BOBBIN_CLI_LIVE_PROCESS_H

#include <bobbin/process.h>
#include <stdbool.h>
#include <sys/types.h>

struct infer_ops;

struct live_process {
	pid_t pid;
	struct bobbin_unwinder *unwinder;
	struct bobbin_process *process;
};

/* The number of a process, or a complaint and false. */
bool parse_pid(const char *text, pid_t *ret);

/* Errors as bobbin_process_open().  live_process_close() follows in any case. */
int live_process_open(const struct bobbin_unwinder_options *options, const struct infer_ops *infer,
		      pid_t pid, struct live_process *ret);
void live_process_close(struct live_process *live);

/*
 * Say which of the code that the process registered could not be read; that it is not allowed
 * only if @denied.  Files are unwound all the same.
 */
void live_process_tell_code(const struct live_process *live, bool denied);

/*
 * The line for what is so for everybody: it has ended and nobody has waited for it, it is the
 * kernel's.  @kind: "process" or "thread".  false: it is neither, and nothing was said.
 */
bool complain_nothing_there(const char *kind, pid_t id);

/* The line for an error of looking at it, with the reason if that can be known. */
void complain_process(const char *kind, pid_t id, int error);

#endif
