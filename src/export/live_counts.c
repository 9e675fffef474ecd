/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/live_counts.h"

/* What an interval leaves of a weight. */
#define KEEP 7
#define OF 8
/* What weighs less than that part of everything is gone: far less than one sample. */
#define FADED_PART ((uint64_t)1 << 20)
/* When there is no room, processes and stacks that are less than that part. */
#define LIGHT_PROCESS_PART 1000

int live_counts_init(struct live_counts *counts)
{
	return report_open(&counts->report);
}

void live_counts_fini(struct live_counts *counts)
{
	report_close(counts->report);
	*counts = (struct live_counts){0};
}

static bool is_larger(const struct live_counts *counts, size_t nodes)
{
	return call_tree_size(report_tree(counts->report)) > nodes;
}

/* Twice as much room as needed, so that this is seldom done. */
static int make_room(struct live_counts *counts)
{
	uint64_t total = call_tree_total(report_tree(counts->report)), part = FADED_PART;
	struct fading fading = {
		.keep = 1,
		.of = 1,
		.least_process = total / LIGHT_PROCESS_PART,
		.rest = LIVE_COUNTS_REST,
	};
	int r = report_fade(counts->report, &fading);

	for (; !r && is_larger(counts, LIVE_COUNTS_NODES / 2) && part; part /= 4) {
		fading.least = total / part;
		r = report_fade(counts->report, &fading);
	}
	return r;
}

int live_counts_add(struct live_counts *counts, const char *process, const char *comm,
		    const struct call_frame *frames, size_t n, uint64_t weight)
{
	int r = 0;

	if (is_larger(counts, LIVE_COUNTS_NODES))
		r = make_room(counts);
	return r ? r : report_add_process(counts->report, process, comm, frames, n, weight);
}

int live_counts_fade(struct live_counts *counts, bool all)
{
	uint64_t total = call_tree_total(report_tree(counts->report));
	const struct fading fading = {
		.keep = all ? 0 : KEEP,
		.of = OF,
		.least = total / FADED_PART,
	};

	return report_fade(counts->report, &fading);
}
