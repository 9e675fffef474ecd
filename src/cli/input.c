/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/input.h"

#include "cli/kept_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void warn_about_damage(const struct input *input)
{
	const struct perf_reader *reader = session_reader(input->session);
	const struct perf_reader_stats *stats = perf_reader_stats(reader);

	if (input->arguments->quiet)
		return;
	if (perf_reader_truncated(reader))
		complain("%s: the recording was cut off; showing what is there",
			 input->arguments->input);
	if (stats->lost)
		complain("%s: %" PRIu64 " records were lost while recording",
			 input->arguments->input, stats->lost);
}

int input_open(struct input *input)
{
	const struct arguments *a = input->arguments;
	struct naming_options naming = a->naming;
	struct bobbin_error err;
	const char *path;
	int r;

	if (spool_open(a->input, &input->spool, &path)) {
		spool_close(&input->spool);
		return 1;
	}
	r = session_open(path, &a->unwind, &err, &input->session);
	/* it is mapped, or refused */
	spool_close(&input->spool);
	if (!accept_file(a->input, r, &err))
		return 1;
	naming.quiet = a->quiet;
	naming.debug_path = a->unwind.debug_path;
	r = naming_open(&naming, session_unwinder(input->session), &input->naming);
	if (r) {
		input_close(input);
		complain("%s", strerror(-r));
		return 1;
	}
	r = naming_keep(input->naming,
			perf_reader_feature(session_reader(input->session), KEPT_NAMES_FEATURE),
			&err);
	if (r && !a->quiet)
		complain_file(a->input, r, &err);
	warn_about_damage(input);
	return 0;
}

void input_close(struct input *input)
{
	naming_close(input->naming);
	session_close(input->session);
	input->naming = NULL;
	input->session = NULL;
}

/* Once in 4096 samples, and only on a terminal. */
static void show_progress(const struct input *input)
{
	static const uint64_t step = 4096;
	uint64_t all = perf_reader_stats(session_reader(input->session))->samples;

	if (input->arguments->quiet || input->samples % step || !all || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r%3" PRIu64 " %%", 100 * input->samples / all);
}

static void end_progress(const struct input *input)
{
	if (!input->arguments->quiet && input->samples >= 4096 && isatty(STDERR_FILENO))
		fputs("\r     \r", stderr);
}

int input_next(struct input *input, struct session_sample *ret)
{
	struct bobbin_error err = {0};
	int r = session_next(input->session, &err, ret);

	if (r <= 0)
		end_progress(input);
	if (!accept_file(input->arguments->input, r, &err))
		return -1;
	if (!r)
		return 0;
	if (!input->samples)
		input->event = ret->event;
	input->samples++;
	input->weight += ret->period;
	if (ret->traced && ret->reason != BOBBIN_REASON_NO_USER &&
	    ret->reason < BOBBIN_REASON_COUNT) {
		input->traced++;
		input->reasons[ret->reason]++;
	}
	show_progress(input);
	return 1;
}

static int add_sample(struct input *input, const struct session_sample *sample, bool periods,
		      struct report *report)
{
	const struct call_frame *frames;
	size_t count;
	int r = naming_stack(input->naming, sample, &frames, &count);

	return r ? r
		 : report_add(report, sample->comm, frames, count, periods ? sample->period : 1);
}

static int gather(struct input *input, bool periods, struct report *report)
{
	struct session_sample sample;
	int r, error;

	while ((r = input_next(input, &sample)) > 0) {
		error = add_sample(input, &sample, periods, report);
		if (!accept_file(input->arguments->input, error, NULL))
			return 1;
	}
	return r ? 1 : 0;
}

int input_report(struct input *input, bool periods,
		 int (*write)(void *ctx, const struct report *report), void *ctx)
{
	struct report *report = NULL;
	int r = input_open(input);

	if (r)
		return r;
	if (report_open(&report)) {
		complain("%s", strerror(ENOMEM));
		r = 1;
	} else {
		if (input->arguments->unfolded)
			report_unfold(report);
		r = gather(input, periods, report);
	}
	if (!r) {
		r = write(ctx, report);
		if (r)
			complain("%s", strerror(-r));
		r = !finish_output() || r;
	}
	report_close(report);
	input_close(input);
	return r;
}
