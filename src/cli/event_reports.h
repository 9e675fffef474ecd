/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * event_reports.h - the samples of each event of a recording, added up.
 */
#ifndef BOBBIN_CLI_EVENT_REPORTS_H
#define BOBBIN_CLI_EVENT_REPORTS_H

#include "cli/input.h"
#include "cli/profile_builder.h"
#include "cli/stack_view.h"
#include "export/report.h"
#include "export/task_names.h"

/* The samples of one event of a recording. */
struct event_report {
	const char *name; /* the session's */
	bool is_time;     /* weights are nanoseconds of threads */
	uint64_t samples, traced;
	uint64_t frames, inferred; /* of the user parts of those; of them, by rules from code */
	uint64_t reasons[BOBBIN_REASON_COUNT];
	struct report *report;
	const struct task_names *tasks; /* of all events */
};

/* Those of all events; @one: only the first is shown. */
struct event_reports {
	struct input input;
	struct profile_builder *builder; /* while samples are read */
	bool one;
	struct stack_view view;
	struct wall_clock wall;      /* if the first event is to be all of the time */
	struct event_report *events; /* by their numbers */
	size_t count, room;
	struct task_names tasks; /* of all samples, if the keys are about them */
};

/*
 * Open the recording of @arguments, and add up the samples of each event by their periods.  @one: of
 * the first event alone, and one by one if the event is no more than a clock.  Stacks have the
 * labels that the keys of the arguments' report ask for.  0, or an exit status after a complaint; event_reports_close() follows in any case.
 */
int event_reports_open(const struct arguments *arguments, bool one, struct event_reports *ret);

/* 0, or 1 after a complaint. */
int event_reports_close(struct event_reports *reports);

/* The first one that has samples, or the first one. */
const struct event_report *event_reports_main(const struct event_reports *reports);

#endif
