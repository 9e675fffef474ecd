/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * command.h - what the commands of `bobbin` share.
 *
 * A command is a function with its own options and help.  It returns the exit
 * status: 0, 1 for a failure (after one line on stderr), 2 for a wrong call.
 */
#ifndef BOBBIN_CLI_COMMAND_H
#define BOBBIN_CLI_COMMAND_H

#include <bobbin/reason.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#define EXIT_USAGE 2

struct command {
	const char *name, *summary;
	const char *usage; /* the whole help text, but for the list of @below */
	int (*run)(int argc, char **argv);
	const struct command *const *below; /* NULL-terminated, named "NAME WORD"; or NULL */
};

extern const struct command record_command, report_command, script_command, flamegraph_command,
	stack_command, maps_command, sframe_command;

/* "bobbin: " and the message and a line end, on stderr. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for a wrong call, with the name of the command instead: "bobbin record: ". */
void complain_use(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Run a command, under that name; getopt(3) finds it in @argv[0]. */
int run_command(const struct command *command, int argc, char **argv);

/* The line for a file that was refused: reason and offset, or the errno. */
void complain_file(const char *path, int error, const struct bobbin_error *err);

/* The command below @command that @word means, or NULL. */
const struct command *find_below(const struct command *command, const char *word);

/* Print a command's help to stdout, or a hint about it to stderr. */
int show_help(const struct command *command);
int show_usage(const struct command *command);

/* A whole decimal number between the bounds, or a complaint and false. */
bool parse_number(const char *option, const char *text, uint64_t least, uint64_t most,
		  uint64_t *ret);

/* An address, "0x1000" or "4096"; false for what is none. */
bool read_address(const char *text, uint64_t *ret);

/* The same for an option's argument, or a complaint and false. */
bool parse_address(const char *option, const char *text, uint64_t *ret);

/* Whether stdout took everything; complains if not. */
bool finish_output(void);

#endif
