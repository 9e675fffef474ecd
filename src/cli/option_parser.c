/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * option_parser.c - options as they are given, and as help explains them, by the table.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/option_row.h"
#include "cli/option_table.h"
#include "infer/code_table.h"
#include "infer/machine.h"

/* Pages come from slow disks, too, and the machine may be busy. */
#define DEADLINE_MS 1000
/* The columns of a line of help, and where its text begins. */
#define HELP_WIDTH 95
#define HELP_INDENT 27

/* What getopt_long(3) returns for a long option: this and its row. */
#define LONG_OPTION 256

/* The command's options for getopt_long(3); "+:", two characters for each option. */
struct getopt_forms {
	char shorts[2 * OPTION_ROWS_MAX + 3];
	struct option longs[OPTION_ROWS_MAX + 1];
};

static void make_forms(enum option_owner owner, bool stop, struct getopt_forms *ret)
{
	struct option *last = ret->longs;
	char *at = ret->shorts;

	if (stop)
		*at++ = '+';
	/* a missing argument is told from an unknown option, and both are left to us */
	*at++ = ':';
	for (size_t i = 0; i < option_row_count; i++) {
		const struct option_row *row = &option_rows[i];

		if (!(row->owners & owner))
			continue;
		if (row->letter)
			*at++ = row->letter;
		if (row->letter && row->argument)
			*at++ = ':';
		if (row->name)
			*last++ = (struct option){row->name, row->argument != NULL, NULL,
						  LONG_OPTION + (int)i};
	}
	*at = '\0';
	*last = (struct option){0};
}

static size_t count_matches(const struct option *longs, const char *name)
{
	size_t length = strcspn(name, "="), count = 0;

	for (; longs->name; longs++)
		count += !strncmp(longs->name, name, length);
	return count;
}

/* What getopt_long(3) found wrong with an option, @word of the command line, in its words. */
static void complain_option(const struct getopt_forms *forms, int c, const char *word)
{
	bool is_missing = c == ':';
	char letter[2] = {(char)optopt, '\0'};

	if (optopt >= LONG_OPTION)
		complain_use(is_missing ? "option '--%s' requires an argument"
					: "option '--%s' doesn't allow an argument",
			     option_rows[optopt - LONG_OPTION].name);
	else if (optopt)
		complain_use(is_missing ? "option requires an argument -- '%s'"
					: "invalid option -- '%s'",
			     letter);
	else if (count_matches(forms->longs, word + 2) > 1)
		complain_use("option '%s' is ambiguous", word);
	else
		complain_use("unrecognized option '%s'", word);
}

/* The row of what getopt_long(3) returned, and how it was spelled; NULL: there is none. */
static const struct option_row *find_row(enum option_owner owner, int c, char spelling[24])
{
	if (c >= LONG_OPTION) {
		snprintf(spelling, 24, "--%s", option_rows[c - LONG_OPTION].name);
		return &option_rows[c - LONG_OPTION];
	}
	snprintf(spelling, 24, "-%c", c);
	for (size_t i = 0; i < option_row_count; i++)
		if (option_rows[i].owners & owner && option_rows[i].letter == c)
			return &option_rows[i];
	return NULL;
}

static void set_defaults(enum option_owner owner, struct arguments *a)
{
	*a = (struct arguments){.unwind = {.size = sizeof(a->unwind), .deadline_ms = DEADLINE_MS},
				.infer = machine_any_is_read() ? &code_table_ops : NULL,
				.naming = {.inlines = true, .demangle = true}};
	for (size_t i = 0; i < option_row_count; i++)
		if (option_rows[i].owners & owner && option_rows[i].initial)
			option_rows[i].take(&(struct option_use){&option_rows[i], NULL,
								 option_rows[i].initial, a});
}

enum option_result options_read(enum option_owner owner, bool stop, int argc, char **argv,
				struct arguments *ret)
{
	struct getopt_forms forms;
	char spelling[24];
	int c;

	set_defaults(owner, ret);
	make_forms(owner, stop, &forms);
	opterr = 0;
	while ((c = getopt_long(argc, argv, forms.shorts, forms.longs, NULL)) != -1) {
		const struct option_row *row = find_row(owner, c, spelling);

		if (!row) {
			complain_option(&forms, c, argv[optind - 1]);
			return OPTIONS_UNKNOWN;
		}
		if (row->letter == 'h')
			return OPTIONS_HELP;
		if (!row->take(&(struct option_use){row, spelling, optarg, ret}))
			return OPTIONS_BAD;
		if (row->given)
			*(bool *)((char *)ret + row->given) = true;
	}
	ret->argc = argc;
	ret->argv = argv;
	ret->operands = argv + optind;
	ret->operand_count = argc - optind;
	return OPTIONS_GOOD;
}

/* "  -n, --name ARGUMENT"; returns its length. */
static int print_head(const struct option_row *row, FILE *out)
{
	char letter[] = {'-', row->letter, '\0'};

	return fprintf(out, "  %2s%s%s%s%s%s", row->letter ? letter : "",
		       row->letter && row->name ? ", "
		       : row->name              ? "  "
						: "",
		       row->name ? "--" : "", row->name ? row->name : "", row->argument ? " " : "",
		       row->argument ? row->argument : "");
}

int print_words(const char *text, int column, int indent, int width, FILE *out)
{
	while (*text) {
		int length = (int)strcspn(text, " ");
		const char *gap = column < 0 ? "" : " ";

		if (column + 1 + length > width) {
			fprintf(out, "\n%*s", indent, "");
			column = indent - 1;
			gap = "";
		}
		fprintf(out, "%s%.*s", gap, length, text);
		column += 1 + length;
		text += length + (text[length] == ' ');
	}
	return column;
}

static void print_row(const struct option_row *row, FILE *out)
{
	int column = print_head(row, out);
	char initial[64];

	column += fprintf(out, "%*s", HELP_INDENT - 1 - column, "");
	column = print_words(row->help, column, HELP_INDENT, HELP_WIDTH, out);
	if (row->initial) {
		snprintf(initial, sizeof(initial), "(%s)", row->initial);
		print_words(initial, column, HELP_INDENT, HELP_WIDTH, out);
	}
	fputc('\n', out);
}

void options_print(enum option_owner owner, FILE *out)
{
	for (size_t i = 0; i < option_row_count; i++)
		if (option_rows[i].owners & owner)
			print_row(&option_rows[i], out);
}

bool options_next(enum option_owner owner, size_t *at, struct option_words *ret)
{
	while (*at < option_row_count) {
		const struct option_row *row = &option_rows[(*at)++];

		if (!(row->owners & owner))
			continue;
		*ret = (struct option_words){row->name, row->letter, row->argument, row->help};
		return true;
	}
	return false;
}
