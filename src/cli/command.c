/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "export/safe_text.h"

static char called_as[64] = "bobbin";

static int run_below(const struct command *command, int argc, char **argv)
{
	const struct command *below;

	if (argc < 2)
		return show_usage(command);
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"))
		return show_help(command);
	below = find_below(command, argv[1]);
	if (below)
		return run_command(below, argc - 1, argv + 1);
	complain("there is no command '%s %s'", command->name, argv[1]);
	return show_usage(command);
}

static int refuse_operands(const struct command *command, const struct arguments *a)
{
	if (command->most)
		return refuse_call(command, command->wanted);
	complain_use("unexpected argument '%s'", a->operands[0]);
	return show_usage(command);
}

static int run_with(const struct command *command, enum option_result read, struct arguments *a)
{
	switch (read) {
	case OPTIONS_HELP:
		return show_help(command);
	case OPTIONS_UNKNOWN:
		return show_usage(command);
	case OPTIONS_BAD:
		return EXIT_USAGE;
	default:
		if (a->operand_count < command->least || a->operand_count > command->most)
			return refuse_operands(command, a);
		return command->run(a);
	}
}

int run_command(const struct command *command, int argc, char **argv)
{
	enum option_result read;
	struct arguments a;
	int status;

	if (command->below)
		return run_below(command, argc, argv);
	snprintf(called_as, sizeof(called_as), "bobbin %s", command->name);
	/* getopt(3) complains under this name */
	argv[0] = called_as;
	read = options_read(command->options, command->runs_program, argc, argv, &a);
	status = run_with(command, read, &a);
	targets_close(&a.targets);
	return status;
}

static void complain_by(const char *name, const char *format, va_list args)
{
	char *text;
	int r = vasprintf(&text, format, args);

	fflush(stdout);
	fprintf(stderr, "%s: ", name);
	/* names in it may come from files */
	safe_text_plain(stderr, r < 0 ? strerror(ENOMEM) : text);
	if (r >= 0)
		free(text);
	fputc('\n', stderr);
}

void complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain_by("bobbin", format, args);
	va_end(args);
}

void complain_use(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain_by(called_as, format, args);
	va_end(args);
}

void complain_file(const char *path, int error, const struct bobbin_error *err)
{
	if (err && err->reason)
		complain("%s: offset 0x%" PRIx64 ": %s", path, err->offset,
			 bobbin_reason_str(err->reason));
	else
		complain("%s: %s", path, strerror(-error));
}

static const char *last_word(const char *name)
{
	const char *space = strrchr(name, ' ');

	return space ? space + 1 : name;
}

const struct command *find_below(const struct command *command, const char *word)
{
	for (size_t i = 0; command->below && command->below[i]; i++)
		if (!strcmp(last_word(command->below[i]->name), word))
			return command->below[i];
	return NULL;
}

int show_help(const struct command *command)
{
	fputs(command->usage, stdout);
	options_print(command->options, stdout);
	if (command->notes)
		fputs(command->notes, stdout);
	for (size_t i = 0; command->below && command->below[i]; i++)
		printf("  %-12s %s\n", last_word(command->below[i]->name),
		       command->below[i]->summary);
	return finish_output() ? 0 : 1;
}

int show_usage(const struct command *command)
{
	fprintf(stderr, "Try 'bobbin help %s'.\n", command->name);
	return EXIT_USAGE;
}

int refuse_call(const struct command *command, const char *fault)
{
	complain_use("%s", fault);
	return show_usage(command);
}

bool parse_number(const char *option, const char *text, uint64_t least, uint64_t most,
		  uint64_t *ret)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || !*text || *text == '-' || *end || value < least || value > most) {
		complain_use("%s: '%s' is not a number from %" PRIu64 " to %" PRIu64, option, text,
			     least, most);
		return false;
	}
	*ret = value;
	return true;
}

bool read_address(const char *text, uint64_t *ret)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || *text < '0' || *text > '9' || *end)
		return false;
	*ret = value;
	return true;
}

bool parse_pid(const struct arguments *a, pid_t *ret)
{
	uint64_t pid;

	if (!parse_number("PID", a->operands[0], 1, INT32_MAX, &pid))
		return false;
	*ret = (pid_t)pid;
	return true;
}

bool finish_output(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return true;
	/* the reader of a pipe may have seen enough */
	if (errno != EPIPE)
		complain("standard output: %s", strerror(errno));
	return false;
}
