/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/report_screen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/top.h"

/* Nothing changes but by keys and signals. */
#define WAIT_MS 60000

struct report_screen {
	const struct event_report **events; /* those that can be seen */
	struct top_view view;
	struct top_page page;
	struct top_status status;
};

static int make_page(struct report_screen *screen)
{
	const struct event_report *event = screen->events[screen->view.event];
	struct top_page page;
	int r = top_page_init(event->report, &screen->view, &page);

	if (r)
		return r;
	top_page_follow(&screen->page, &page, &screen->view);
	top_page_fini(&screen->page);
	screen->page = page;
	screen->status.event = event->name;
	screen->status.samples = event->samples;
	screen->status.user = event->traced;
	screen->status.complete = event->reasons[BOBBIN_REASON_OUTERMOST];
	return 0;
}

static int press(struct report_screen *screen, int key)
{
	const struct top_view before = screen->view;

	table_screen_press(&screen->page, &screen->view, key);
	return top_view_shows_others(&before, &screen->view) ? make_page(screen) : 0;
}

static int take_keys(struct report_screen *screen)
{
	int key = 0, r = 0;

	while (!r && !screen->view.quit && (key = terminal_key()) > 0)
		r = press(screen, key);
	if (key < 0)
		screen->view.quit = true;
	return r;
}

static int use(struct report_screen *screen)
{
	struct pollfd keyboard = {.fd = STDIN_FILENO, .events = POLLIN};
	int r = table_screen_enter();

	while (!r && !top_signals.end && !screen->view.quit) {
		r = table_screen_draw(&screen->page, &screen->view, &screen->status);
		if (r)
			break;
		top_signals_poll(&keyboard, 1, WAIT_MS);
		r = table_screen_heed_signals();
		if (!r)
			r = take_keys(screen);
	}
	terminal_leave();
	return r;
}

/* Those with samples; or the first one. */
static int find_events(struct report_screen *screen, const struct event_reports *reports)
{
	const struct event_report *first = event_reports_main(reports);

	screen->events = calloc(reports->count + 1, sizeof(struct event_report *));
	if (!screen->events)
		return -ENOMEM;
	screen->events[screen->view.events++] = first;
	for (size_t i = 0; i < reports->count; i++)
		if (&reports->events[i] != first && reports->events[i].samples)
			screen->events[screen->view.events++] = &reports->events[i];
	return 0;
}

int report_screen_show(const struct event_reports *reports)
{
	const struct arguments *a = reports->input.arguments;
	const struct perf_reader *reader = session_reader(reports->input.session);
	struct report_screen screen = {
		.view = {.typing = TOP_NO_FILTER,
			 .sort = a->report.no_children ? TOP_SELF : TOP_TOTAL,
			 .turned = a->report.order ==
				   (a->report.no_children ? REPORT_CALLER : REPORT_CALLEE),
			 .still = true},
		.status = {.subject = a->input, .lost = perf_reader_stats(reader)->lost},
	};
	int r = find_events(&screen, reports);

	top_signals_catch(true);
	if (!r)
		r = make_page(&screen);
	if (!r)
		r = use(&screen);
	top_signals_let();
	top_page_fini(&screen.page);
	free(screen.events);
	if (r)
		complain("%s", strerror(-r));
	return r ? 1 : top_signals_status(top_signals.end);
}
