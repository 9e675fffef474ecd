/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "cli/input.h"
#include "cli/pager.h"
#include "export/report.h"

/* How the unwinding went. */
static void print_reasons(void *ctx, FILE *out)
{
	const struct input_event *event = ctx;

	if (!event->traced)
		return;
	fprintf(out, "# Stacks: %.2f %% of %" PRIu64 " are complete\n",
		percent(event->reasons[BOBBIN_REASON_OUTERMOST], event->traced), event->traced);
	for (int i = 0; i < BOBBIN_REASON_COUNT; i++)
		if (event->reasons[i] && i != BOBBIN_REASON_OUTERMOST)
			fprintf(out, "#   %6.2f %%  %s\n",
				percent(event->reasons[i], event->traced),
				bobbin_reason_str((enum bobbin_reason)i));
	if (event->inferred)
		fprintf(out,
			"# Frames: %.2f %% of %" PRIu64
			" were left by rules inferred from their code\n",
			percent(event->inferred, event->frames), event->frames);
}

static int print(void *ctx, const struct input_event *event)
{
	const struct input *input = ctx;
	struct report_options options = input->arguments->report;

	pager_start();
	options.event = event->name;
	options.samples = event->samples;
	options.first_screen = !input->arguments->full;
	options.notes = print_reasons;
	options.ctx = (void *)event;
	return report_write(event->report, &options, stdout);
}

int run_report(struct arguments *a)
{
	struct input input = {.arguments = a};
	int r = input_report(&input, false, print, &input);

	return !pager_end() || r;
}
