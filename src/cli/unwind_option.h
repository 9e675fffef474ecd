/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind_option.h - what commands that ask a live process have in common.
 */
#ifndef BOBBIN_CLI_UNWIND_OPTION_H
#define BOBBIN_CLI_UNWIND_OPTION_H

#include <bobbin/unwind.h>
#include <sys/types.h>

#include "cli/command.h"

enum {
	UNWIND_NO_SFRAME = 512,
	UNWIND_DEBUG_PATH,
	UNWIND_SFRAME_PATH
};

/* clang-format off */
#define UNWIND_OPTIONS \
	{"no-sframe", no_argument, NULL, UNWIND_NO_SFRAME}, \
	{"debug-path", required_argument, NULL, UNWIND_DEBUG_PATH}, \
	{"sframe-path", required_argument, NULL, UNWIND_SFRAME_PATH}
/* clang-format on */

struct bobbin_unwinder_options unwind_defaults(void);

/* Take an option of getopt_long(); false: it is none of these. */
bool unwind_option(int option, struct bobbin_unwinder_options *options);

/* The only argument behind the options, a process number; 0, or EXIT_USAGE and a complaint. */
int parse_pid(int argc, char **argv, const struct command *command, pid_t *ret);

#endif
