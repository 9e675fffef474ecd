/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * input.h - what report, script and flamegraph have in common: the options for
 * the recording and its names, and the way through its samples.
 */
#ifndef BOBBIN_CLI_INPUT_H
#define BOBBIN_CLI_INPUT_H

#include "cli/command.h"
#include "cli/naming.h"
#include "cli/spool.h"
#include "cli/unwind_option.h"
#include "export/report.h"

struct input {
	const char *path;
	struct bobbin_unwinder_options unwind;
	struct naming_options naming_options;
	bool quiet;
	bool unfolded; /* show each level of a recursion */
	struct spool spool;
	struct session *session;
	struct naming *naming;
	/* counted while samples are read */
	uint64_t samples, weight, traced;
	uint64_t reasons[BOBBIN_REASON_COUNT];
	const char *event; /* name of the first sample's */
};

/* Numbers of the long options below, and the first that a command may use. */
enum {
	INPUT_NO_INLINE = 256,
	INPUT_NO_DEMANGLE,
	INPUT_SYMFS,
	INPUT_OPTIONS_END
};

#define INPUT_SHORT_OPTIONS "i:qh"
#define INPUT_LONG_OPTIONS \
	{"input", required_argument, NULL, 'i'}, {"quiet", no_argument, NULL, 'q'}, \
		{"help", no_argument, NULL, 'h'}, UNWIND_OPTIONS, \
		{"no-inline", no_argument, NULL, INPUT_NO_INLINE}, \
		{"no-demangle", no_argument, NULL, INPUT_NO_DEMANGLE}, \
	{ \
		"symfs", required_argument, NULL, INPUT_SYMFS \
	}

#define INPUT_USAGE \
	"  -i, --input FILE       recording to read (perf.data); - is standard input\n" \
	"      --no-inline        show no inlined functions\n" \
	"      --no-demangle      show names of functions as the compiler spelled them\n" UNWIND_USAGE \
	"      --symfs DIR        look for the recorded files below DIR\n" \
	"  -q, --quiet            no progress line, no warnings\n" \
	"  -h, --help             show this help\n"

void input_init(struct input *input);

/* true: @option was one of the above and is taken. */
bool input_option(struct input *input, const struct command *command, int option, const char *arg);

/* Open the recording; complains.  0 or an exit status. */
int input_open(struct input *input);
void input_close(struct input *input);

/* The next sample, counted.  1; 0 at the end; -1 after a complaint. */
int input_next(struct input *input, struct session_sample *ret);

/*
 * Open the recording, add up all samples, by their periods or (@periods false)
 * one by one, and have @write print them.  0, or an exit status after a
 * complaint.
 */
int input_report(struct input *input, bool periods,
		 int (*write)(void *ctx, const struct report *report), void *ctx);

/* Lines about how the unwinding went, to be free()d; their number. */
size_t input_summary(const struct input *input, char ***lines);

#endif
