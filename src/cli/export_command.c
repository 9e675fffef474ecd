/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * export_command.c - bobbin export: a recording in the format of other programs.
 */
#include "cli/export_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/draft_stream.h"
#include "cli/profile_builder.h"

static void complain_output(const char *path, int error)
{
	complain("%s: %s", strcmp(path, "-") ? path : "standard output", strerror(-error));
}

static int write_zipped(const struct profile_format *format, const struct profile *profile,
			FILE *out)
{
	FILE *zipped = gzip_stream(out);

	return zipped ? stream_close(zipped, format->write(profile, zipped)) : -ENOMEM;
}

static bool is_zipped(const struct profile_format *format, const char *path)
{
	const char *dot = strrchr(path, '.');

	return format->zipped || (dot && !strcmp(dot, ".gz"));
}

static int write_profile(const struct profile_format *format, const struct profile *profile,
			 const char *path, struct draft *draft)
{
	FILE *out = draft_stream(draft);
	int r;

	if (!out)
		return -ENOMEM;
	r = is_zipped(format, path) ? write_zipped(format, profile, out)
				    : format->write(profile, out);
	return stream_close(out, r);
}

static int put_profile(const struct profile_format *format, const struct profile *profile,
		       const char *path, struct draft *draft)
{
	int r = write_profile(format, profile, path, draft);

	if (r)
		draft_discard(draft);
	else
		r = draft_commit(draft);
	if (r)
		complain_output(path, r);
	return r != 0;
}

int export_recording(struct input *input, const struct profile_format *format, struct draft *draft)
{
	const struct arguments *a = input->arguments;
	struct profile_builder *builder = NULL;
	int r = profile_builder_open(input->session, format->timed, &builder);

	if (r)
		complain("%s: %s", a->input, strerror(-r));
	if (r || input_run(input, &profile_builder_sink, builder)) {
		draft_discard(draft);
		r = 1;
	} else {
		r = put_profile(format, profile_builder_profile(builder), a->output, draft);
	}
	profile_builder_close(builder);
	return r;
}

const struct profile_format *export_format(const struct arguments *a)
{
	const struct profile_format *format = a->format ? profile_format_find(a->format)
							: profile_format_of_file(a->output);

	if (!format && a->format)
		complain_use("--format: unknown format '%s'; there are %s", a->format,
			     profile_format_names());
	else if (!format)
		complain_use("the name of '%s' tells no format; --format takes %s", a->output,
			     profile_format_names());
	else if (format->binary && !strcmp(a->output, "-") && isatty(STDOUT_FILENO))
		complain_use("the format %s is not for a terminal; -o names a file", format->name);
	else
		return format;
	return NULL;
}

struct draft *export_output_open(const char *path)
{
	struct draft *draft;
	int r = draft_open(path, &draft);

	if (!r)
		return draft;
	complain_output(path, r);
	return NULL;
}

static int export_input(struct input *input, const struct profile_format *format)
{
	struct draft *draft = export_output_open(input->arguments->output);

	return draft ? export_recording(input, format, draft) : 1;
}

int run_export(struct arguments *a)
{
	struct input input = {.arguments = a};
	const struct profile_format *format = export_format(a);
	int r;

	if (!format)
		return hint();
	a->naming.lines = true;
	r = input_open(&input);
	if (r)
		return r;
	r = export_input(&input, format);
	return input_close(&input) || r;
}
