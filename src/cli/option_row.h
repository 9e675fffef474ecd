/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * option_row.h - the rows of the table of options, and what takes an option's argument.
 */
#ifndef BOBBIN_CLI_OPTION_ROW_H
#define BOBBIN_CLI_OPTION_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arguments;
struct option_row;

/**
 * struct option_use - an option that was given, or is not, but has a default
 * @row: the option
 * @spelling: as it was given, or NULL
 * @text: its argument
 * @a: where it is stored
 */
struct option_use {
	const struct option_row *row;
	const char *spelling, *text;
	struct arguments *a;
};

/**
 * struct option_row - an option
 * @owners: the commands that have it
 * @name, @letter: "--name" and "-l"; one of them may be missing
 * @argument: what help calls its argument, or NULL if it takes none
 * @initial: the argument that is taken where the option is not given, or NULL
 * @help: a sentence
 * @take: stores an argument; false after a complaint
 * @field: offset of the member of struct arguments
 * @given: of the member that says that the option was given, or 0
 * @least, @most: bounds of a number; @most 0: there is none
 */
struct option_row {
	unsigned int owners;
	const char *name;
	char letter;
	const char *argument, *initial, *help;
	bool (*take)(const struct option_use *use);
	size_t field, given;
	uint64_t least, most;
};

/* The table, of all commands: option_table.c. */
#define OPTION_ROWS_MAX 256

extern const struct option_row option_rows[];
extern const size_t option_row_count;

#endif
