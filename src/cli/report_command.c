/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "cli/command_table.h"
#include "cli/input.h"
#include "export/report.h"

/* How the unwinding went. */
static void print_reasons(void *ctx, FILE *out)
{
	const struct input *input = ctx;

	if (!input->traced)
		return;
	fprintf(out, "# Stacks: %.2f %% of %" PRIu64 " end at the outermost frame\n",
		percent(input->reasons[BOBBIN_REASON_OUTERMOST], input->traced), input->traced);
	for (int i = 0; i < BOBBIN_REASON_COUNT; i++)
		if (input->reasons[i] && i != BOBBIN_REASON_OUTERMOST)
			fprintf(out, "#   %6.2f %%  %s\n",
				percent(input->reasons[i], input->traced),
				bobbin_reason_str((enum bobbin_reason)i));
}

static int print(void *ctx, const struct report *report)
{
	struct input *input = ctx;
	struct report_options options = input->arguments->report;

	options.event = input->event;
	options.samples = input->samples;
	options.notes = print_reasons;
	options.ctx = input;
	return report_write(report, &options, stdout);
}

int run_report(struct arguments *a)
{
	struct input input = {.arguments = a};

	return input_report(&input, true, print, &input);
}
