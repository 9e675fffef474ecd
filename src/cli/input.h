/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * input.h - what report, script and flamegraph have in common: the way through a
 * recording's samples, and what is printed to a terminal, screen by screen.
 */
#ifndef BOBBIN_CLI_INPUT_H
#define BOBBIN_CLI_INPUT_H

#include <signal.h>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/named_stack.h"
#include "profile/session.h"

struct input {
	const struct arguments *arguments;
	struct session *session;
	struct named_stack stack;          /* of the sample that was added last */
	uint64_t samples;                  /* that were read */
	bool known;                        /* what it lacks has been said */
	const volatile sig_atomic_t *stop; /* set: no more samples are wanted; or NULL */
	/* input_run()'s */
	struct sample_filter filter; /* the arguments', of this recording */
	const struct sample_sink *sink;
	void *ctx;
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
 * From now on standard output, if it is a terminal, goes through $BOBBIN_PAGER, $PAGER or
 * less(1), where there is one.  "" and "cat" stand for none.  A second call does nothing.
 */
void pager_start(void);

/*
 * Wait until the user has seen enough.  Nothing is printed afterwards.  false after a complaint:
 * there is no such pager, and nothing was seen.
 */
bool pager_end(void);

#endif
