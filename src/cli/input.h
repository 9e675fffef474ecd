/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * input.h - what report, script and flamegraph have in common: the way through a
 * recording's samples.
 */
#ifndef BOBBIN_CLI_INPUT_H
#define BOBBIN_CLI_INPUT_H

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/spool.h"

struct input {
	const struct arguments *arguments;
	struct spool spool;
	struct session *session;
	struct naming *naming;
	/* counted while samples are read */
	uint64_t samples, weight, traced;
	uint64_t reasons[BOBBIN_REASON_COUNT];
	const char *event; /* name of the first sample's */
};

/* Open the recording of @input->arguments; complains.  0 or an exit status. */
int input_open(struct input *input);
void input_close(struct input *input);

/* The next sample, counted.  1; 0 at the end; -1 after a complaint. */
int input_next(struct input *input, struct session_sample *ret);

/*
 * Open the recording, add up all samples, by their periods or (@periods false)
 * one by one, and have @write print them, which returns 0 or a negative errno.  0, or an exit
 * status after a complaint.
 */
int input_report(struct input *input, bool periods,
		 int (*write)(void *ctx, const struct report *report), void *ctx);

#endif
