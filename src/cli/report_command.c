/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command_table.h"
#include "cli/input.h"
#include "export/report.h"

/* What is printed, and where it comes from. */
struct shown {
	struct input input;
	struct report_options options;
};

static int print(void *ctx, const struct report *report)
{
	struct shown *s = ctx;
	char **footer;
	int r;

	s->options.event = s->input.event;
	s->options.samples = s->input.samples;
	s->options.n_footer = input_summary(&s->input, &footer);
	s->options.footer = (const char *const *)footer;
	r = report_write(report, &s->options, stdout);
	for (size_t i = 0; i < s->options.n_footer; i++)
		free(footer[i]);
	free(footer);
	if (r && r != -EPIPE)
		complain("standard output: %s", strerror(-r));
	return r || !finish_output();
}

int run_report(struct arguments *a)
{
	struct shown s = {.input.arguments = a, .options = a->report};

	return input_report(&s.input, true, print, &s);
}
