/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * command.h - what the commands of `bobbin` share.
 *
 * A command is a function of its options and operands.  It returns the exit
 * status: 0, 1 for a failure (after one line on stderr), 2 for a wrong call.
 */
#ifndef BOBBIN_CLI_COMMAND_H
#define BOBBIN_CLI_COMMAND_H

#include <bobbin/reason.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/option_table.h"

#define EXIT_USAGE 2

struct arguments;

/**
 * struct command - a command
 * @name, @summary: for the list of commands
 * @usage, @notes: help before and after the options; @notes may be NULL
 * @options: the rows of the option table
 * @least, @most: the number of its operands
 * @wanted: what to say if it is another one
 * @runs_program: the first operand and what follows it are another program's
 * @run: NULL if there is @below
 * @below: NULL-terminated, named "NAME WORD"; or NULL
 */
struct command {
	const char *name, *summary, *usage, *notes;
	enum option_owner options;
	int least, most;
	const char *wanted;
	bool runs_program;
	int (*run)(struct arguments *arguments);
	const struct command *const *below;
};

#define ANY_NUMBER INT_MAX

extern const struct command record_command, report_command, script_command, flamegraph_command,
	stack_command, maps_command, sframe_command;

/* What is below the last one. */
extern const struct command sframe_check_command, sframe_convert_command, sframe_dump_command,
	sframe_merge_command, sframe_pack_command, sframe_repair_command, sframe_stat_command,
	sframe_unpack_command;

/* "bobbin: " and the message and a line end, on stderr. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for a wrong call, with the name of the command instead: "bobbin record: ". */
void complain_use(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Run a command, or the one below it that is named next, with what follows its name. */
int run_command(const struct command *command, int argc, char **argv);

/* The line for a file that was refused: reason and offset, or the errno. */
void complain_file(const char *path, int error, const struct bobbin_error *err);

/* The command below @command that @word means, or NULL. */
const struct command *find_below(const struct command *command, const char *word);

/* Print a command's help to stdout, or a hint about it to stderr. */
int show_help(const struct command *command);
int show_usage(const struct command *command);

/* The same, after a complaint about what it was called with. */
int refuse_call(const struct command *command, const char *fault);

/* A whole decimal number between the bounds, or a complaint and false. */
bool parse_number(const char *option, const char *text, uint64_t least, uint64_t most,
		  uint64_t *ret);

/* The only operand, a number of a process, or a complaint and false. */
bool parse_pid(const struct arguments *arguments, pid_t *ret);

/* An address, "0x1000" or "4096"; false for what is none. */
bool read_address(const char *text, uint64_t *ret);

/* Whether stdout took everything; complains if not. */
bool finish_output(void);

#endif
