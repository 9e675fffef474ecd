/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * input.h - what report, script and flamegraph have in common: the way through a
 * recording's samples.
 */
#ifndef BOBBIN_CLI_INPUT_H
#define BOBBIN_CLI_INPUT_H

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/named_stack.h"
#include "profile/session.h"

/* The samples of one event of a recording. */
struct input_event {
	const char *name; /* the session's */
	uint64_t samples, traced;
	uint64_t frames, inferred; /* of the user parts of those; of them, by rules from code */
	uint64_t reasons[BOBBIN_REASON_COUNT];
	struct report *report;
};

struct input {
	const struct arguments *arguments;
	struct session *session;
	struct naming *naming;
	struct named_stack stack; /* of the sample that was added last */
	uint64_t samples;         /* that were read */
	/* input_report()'s, events by their numbers */
	bool one; /* only the first is shown */
	struct input_event *events;
	size_t event_count, event_room;
};

/* Open the recording of @input->arguments; complains.  0 or an exit status. */
int input_open(struct input *input);

/* 0; 1 after a complaint of names that could not be looked up. */
int input_close(struct input *input);

/*
 * Give the samples of the events that are asked for to @sink.  0; 1 after a complaint, or if it
 * failed to write to standard output, of which finish_output() complains.
 */
int input_run(struct input *input, const struct sample_sink *sink, void *ctx);

/*
 * Open the recording, add up the samples of each event by their periods, and have @write print
 * them event by event, which returns 0 or a negative errno.  @one: of the first event alone, and
 * one by one if the event is no more than a clock.  0, or an exit status after a complaint.
 */
int input_report(struct input *input, bool one,
		 int (*write)(void *ctx, const struct input_event *event), void *ctx);

#endif
