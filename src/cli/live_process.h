/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * live_process.h - a running process that a command looks at.
 */
#ifndef BOBBIN_CLI_LIVE_PROCESS_H
#define BOBBIN_CLI_LIVE_PROCESS_H

#include <bobbin/process.h>

#include "cli/arguments.h"

struct live_process {
	pid_t pid;
	struct bobbin_unwinder *unwinder;
	struct bobbin_process *process;
};

/* The only operand, a number of a process, or a complaint and false. */
bool parse_pid(const struct arguments *arguments, pid_t *ret);

/* Errors as bobbin_process_open().  live_process_close() follows in any case. */
int live_process_open(const struct bobbin_unwinder_options *options, const struct infer_ops *infer,
		      pid_t pid, struct live_process *ret);
void live_process_close(struct live_process *live);

/*
 * Say which of the code that the process registered could not be read; that it is not allowed
 * only if @denied.  Files are unwound all the same.
 */
void live_process_tell_code(const struct live_process *live, bool denied);

#endif
