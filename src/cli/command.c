/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/text_file.h"
#include "export/safe_text.h"
#include "symbol/naming.h"

static char called_as[64] = "bobbin";
/* Columns of the line of progress that stands on the terminal. */
static int progress_columns;
/* How many files might be open when we began. */
static struct rlimit original;
static bool is_raised;

void call_as(const char *name)
{
	snprintf(called_as, sizeof(called_as), "bobbin %s", name);
}

const char *called_command(void)
{
	return called_as;
}

void progress_line(const char *format, ...)
{
	va_list args;

	end_progress_line();
	va_start(args, format);
	progress_columns = vfprintf(stderr, format, args);
	va_end(args);
}

void end_progress_line(void)
{
	if (progress_columns > 0)
		fprintf(stderr, "\r%*s\r", progress_columns, "");
	progress_columns = 0;
}

static void complain_by(const char *name, const char *format, va_list args)
{
	char *text;
	int r = vasprintf(&text, format, args);

	fflush(stdout);
	end_progress_line();
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

void complain_loss(void *ctx, const char *path, const char *reason)
{
	complain("%s: names are missing: the process that reads it %s", path, reason);
}

static void on_damage(void *ctx, const char *path, const struct bobbin_error *damage)
{
	complain_file(path, -EBADMSG, damage);
}

static void complain_silence(void *ctx)
{
	complain("the servers of $DEBUGINFOD_URLS do not answer, and are asked for no more files");
}

void complain_of_names(struct symbolizer_options *options)
{
	options->on_damage = on_damage;
	options->on_loss = complain_loss;
	options->on_silence = complain_silence;
}

bool tell_naming_loss(const struct naming_loss *loss)
{
	if (!loss->frames)
		return false;
	complain("%" PRIu64 " frames have no name, or not all of it: %s", loss->frames,
		 strerror(-loss->error));
	return true;
}

bool accept_file(const char *path, int r, const struct bobbin_error *err)
{
	if (r < 0)
		complain_file(path, r, err);
	return r >= 0;
}

int hint(void)
{
	fprintf(stderr, "Try 'bobbin help %s'.\n", called_as + strlen("bobbin "));
	return EXIT_USAGE;
}

int refuse_call(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain_by(called_as, format, args);
	va_end(args);
	return hint();
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

bool finish_output(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return true;
	/* the reader of a pipe may have seen enough */
	if (errno != EPIPE)
		complain("standard output: %s", strerror(errno));
	return false;
}

/* The most that anybody may have; root need not obey its own limit. */
static rlim_t kernels_most(void)
{
	char text[32];

	text_file_read("/proc/sys/fs/nr_open", text, sizeof(text));
	return strtoull(text, NULL, 10);
}

void file_limit_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &original))
		return;
	limit = original;
	limit.rlim_cur = kernels_most();
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_max = limit.rlim_cur;
	is_raised = limit.rlim_cur > original.rlim_max && !setrlimit(RLIMIT_NOFILE, &limit);
	if (is_raised)
		return;
	limit = original;
	limit.rlim_cur = limit.rlim_max;
	is_raised = !setrlimit(RLIMIT_NOFILE, &limit);
}

void file_limit_restore(void)
{
	if (is_raised)
		setrlimit(RLIMIT_NOFILE, &original);
}
