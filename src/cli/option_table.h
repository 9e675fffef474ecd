/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * option_table.h - the options of all commands: one table to parse them by and to explain them.
 */
#ifndef BOBBIN_CLI_OPTION_TABLE_H
#define BOBBIN_CLI_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct arguments;

/* The commands that an option belongs to. */
enum option_owner {
	OF_RECORD = 1 << 0,
	OF_REPORT = 1 << 1,
	OF_SCRIPT = 1 << 2,
	OF_FLAMEGRAPH = 1 << 3,
	OF_STACK = 1 << 4,
	OF_MAPS = 1 << 5,
	OF_DUMP = 1 << 6,
	OF_CHECK = 1 << 7,
	OF_CONVERT = 1 << 8,
	OF_STAT = 1 << 9,
	OF_MERGE = 1 << 10,
	OF_REPAIR = 1 << 11,
	OF_PACK = 1 << 12,
	OF_UNPACK = 1 << 13,
	OF_DOCTOR = 1 << 14,
	OF_TOP = 1 << 15,
	OF_LINT = 1 << 16,
	OF_EXPORT = 1 << 17,
	OF_DIFF = 1 << 18,
	OF_COMPLETION = 1 << 19,
	OF_ANNOTATE = 1 << 20,
	OF_AGENT = 1 << 21,
	OF_CORE = 1 << 22,
	OF_HEAP = 1 << 23,
};

enum option_result {
	OPTIONS_GOOD,
	OPTIONS_HELP, /* was asked for */
	OPTIONS_UNKNOWN, /* there was a complaint: no such option, or an argument too few or too many */
	OPTIONS_BAD,     /* there was a complaint about an option's argument */
};

/*
 * Read the options of a command from @argv, and what follows them, after all members were set
 * to the defaults.  A command whose operands are another program's words, @stop, has no options
 * after the first one.
 */
enum option_result options_read(enum option_owner owner, bool stop, int argc, char **argv,
				struct arguments *ret);

/*
 * Print words, after what ends at a column, in lines of at most @width; further lines begin
 * after @indent blanks.  A space precedes each word.  Returns the last column.
 */
int print_words(const char *text, int column, int indent, int width, FILE *out);

/* A line for each option, or more. */
void options_print(enum option_owner owner, FILE *out);

/**
 * struct option_words - an option, as it is written and explained
 * @name, @letter: "--name" and "-l"; one of them may be missing
 * @argument: what its argument is called, or NULL if it takes none
 * @help: a sentence
 */
struct option_words {
	const char *name;
	char letter;
	const char *argument, *help;
};

/* The next option of a command, from *@at on, which is 0 for the first; false: there is none. */
bool options_next(enum option_owner owner, size_t *at, struct option_words *ret);

#endif
