/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind_option.h - the options of commands that unwind, and of those that ask a live
 * process.
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

#define UNWIND_USAGE \
	"      --no-sframe        use .eh_frame even where a file has .sframe\n" \
	"      --debug-path DIRS  colon-separated folders with debug files (/usr/lib/debug)\n" \
	"      --sframe-path DIRS colon-separated folders with side-files by build ID\n" \
	"                         (/usr/lib/debug/.build-id)\n"

struct bobbin_unwinder_options unwind_defaults(void);

/* Take an option of getopt_long() and its argument; false: it is none of these. */
bool unwind_option(int option, const char *arg, struct bobbin_unwinder_options *options);

/* Say that a process told of more code than there is room for, if it did. */
void complain_left_out(const struct bobbin_unwinder *unwinder, pid_t pid);

/* The only argument behind the options, a process number; 0, or EXIT_USAGE and a complaint. */
int parse_pid(int argc, char **argv, const struct command *command, pid_t *ret);

#endif
