/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * completion.h - scripts by which shells complete the command line.
 */
#ifndef BOBBIN_CLI_COMPLETION_H
#define BOBBIN_CLI_COMPLETION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/option_table.h"

/**
 * struct completed_command - a command, as a shell should know it
 * @name: one word, or two: that of a group goes first
 * @summary: a few words
 * @operand: what an operand is, as option tables call an argument; or NULL, if there is none
 * @is_group: others are below it, which follow it
 * @options: its rows of the option table
 */
struct completed_command {
	const char *name, *summary, *operand;
	bool is_group;
	enum option_owner options;
};

/* Print the script of a shell, "bash" or "zsh"; false: there is none for it. */
bool completion_print(const char *shell, const struct completed_command *commands, size_t count,
		      FILE *out);

#endif
