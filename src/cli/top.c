/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/named_stack.h"
#include "cli/recorded.h"
#include "cli/top.h"
#include "profile/sample_queue.h"

#define NS_PER_MS (NS_PER_SECOND / 1000)
#define SUBJECT_SIZE 256
/* Whether what is sampled has ended is asked that often. */
#define LOOK_MS 100
/* The first table of a screen does not let wait. */
#define FIRST_MS 500

struct top {
	struct arguments *arguments;
	struct recorder_options options;
	struct recorded recorded;
	struct live_recorder *recorder; /* NULL: nothing is sampled any more */
	struct live_samples *samples;
	struct top_view view;
	struct top_page page;
	struct top_status status;
	char subject[SUBJECT_SIZE], event[LIVE_EVENT_SIZE];
	struct recorder_stats before;         /* when the interval began */
	struct recorder_stats held;           /* when it was paused */
	uint64_t started, began, due, paused; /* clock_now() */
	uint64_t tables;
	struct naming_loss loss; /* of what was shown */
	int failure;             /* a negative errno, or EXIT_FAILURE after a complaint */
	bool screen;
};

static void name_subject(struct top *top)
{
	const struct recorder_target *first = top->arguments->targets.all;
	const struct scope *scope = &top->arguments->scope;
	size_t count = top->arguments->targets.count;

	if (top->recorded.command && !top->options.all)
		snprintf(top->subject, SUBJECT_SIZE, "%s", top->recorded.command[0]);
	else if (scope->cgroup_names)
		snprintf(top->subject, SUBJECT_SIZE, "cgroup %s", scope->cgroup_names);
	else if (scope->by_user)
		snprintf(top->subject, SUBJECT_SIZE, "user %" PRIu32, scope->user);
	else if (!count)
		snprintf(top->subject, SUBJECT_SIZE, "%s",
			 scope->cpus.some ? "everything on some CPUs" : "everything");
	else if (count > 1)
		snprintf(top->subject, SUBJECT_SIZE, "%zu %s", count,
			 first->tid ? "threads" : "processes");
	else
		snprintf(top->subject, SUBJECT_SIZE, "%s %d", first->tid ? "thread" : "process",
			 first->tid ? first->tid : first->pid);
	top->status.subject = top->subject;
}

/* who is sampled */

static int open_recorder(void *ctx)
{
	struct top *top = ctx;
	enum recorder_stage stage;
	int error = live_samples_open(top->arguments, &top->samples);

	if (error) {
		complain("%s", strerror(-error));
		return 1;
	}
	top->options.sink = &sample_queue_sink;
	top->options.sink_ctx = live_samples_queue(top->samples);
	error = live_recorder_open(&top->options, &stage, &top->recorder);
	if (error && error != -EINTR)
		complain_recorder(&top->options, stage, error);
	return error ? 1 : 0;
}

/* @stats: as in live_recorder_close() */
static void stop_recorder(struct top *top, struct recorder_stats *stats)
{
	live_recorder_close(top->recorder, stats);
	top->recorder = NULL;
}

static void abort_recorder(void *ctx)
{
	stop_recorder(ctx, NULL);
}

static int start(struct top *top)
{
	return recorded_start(&top->recorded, &top->options,
			      top->screen ? WORKLOAD_NO_STREAMS : WORKLOAD_SPARE_STDOUT);
}

/* intervals */

static void fail(struct top *top, int failure)
{
	if (failure && !top->failure)
		top->failure = failure;
}

static void take_page(struct top *top, struct top_page *page)
{
	top_page_follow(&top->page, page, &top->view);
	top_page_fini(&top->page);
	top->page = *page;
}

static void make_page(struct top *top)
{
	struct top_page page;
	int r = live_samples_page(top->samples, &top->view, &page);

	if (r)
		fail(top, r);
	else
		take_page(top, &page);
}

/* Samples that came late are of more time than the interval in which they were counted. */
static double seconds_of(const struct live_samples_stats *s, uint64_t interval)
{
	uint64_t span = s->last - s->first;

	return (double)(span > interval ? span : interval) / NS_PER_SECOND;
}

/* The rings are read too late, or what was read is named and counted too late. */
static uint64_t late_ns(const struct top *top, const struct live_samples_stats *s,
			const struct recorder_stats *r, uint64_t now)
{
	uint64_t until = r->read_until ? r->read_until : top->started;

	if (s->read_until && s->read_until < until)
		until = s->read_until;
	return now > until ? now - until : 0;
}

/* What is said above the table, of an interval that is over. */
static void count_interval(struct top *top, const struct live_samples_stats *s,
			   const struct recorder_stats *r)
{
	uint64_t now = clock_now(), user = r->user - top->before.user;
	double seconds = seconds_of(s, now - top->began);

	memcpy(top->event, s->event, sizeof(top->event));
	top->status.event = *s->event ? top->event : NULL;
	top->status.rate = seconds > 0 ? (double)s->samples / seconds : 0;
	top->status.processes = s->processes;
	top->status.user = s->user;
	top->status.complete = s->complete;
	top->status.walked = r->walked - top->before.walked;
	top->status.copied = user > top->status.walked ? user - top->status.walked : 0;
	top->status.lost = r->lost;
	top->status.late_ms = late_ns(top, s, r, now) / NS_PER_MS;
	top->before = *r;
	top->began = now;
}

static void count_now(const struct top *top, struct recorder_stats *ret)
{
	if (top->recorder)
		live_recorder_stats(top->recorder, ret);
}

static void begin_pause(struct top *top)
{
	top->paused = clock_now();
	count_now(top, &top->held);
}

/* What was sampled meanwhile is of no interval, nor is the time. */
static void end_pause(struct top *top)
{
	struct recorder_stats now = top->held;

	count_now(top, &now);
	top->began += clock_now() - top->paused;
	top->before.user += now.user - top->held.user;
	top->before.walked += now.walked - top->held.walked;
}

static void next_interval(struct top *top, bool forget, const struct recorder_stats *recorded)
{
	struct live_samples_stats stats;
	struct top_page page;
	int r = live_samples_next(top->samples, &top->view, forget, &page, &stats);

	if (r)
		fail(top, r);
	else
		take_page(top, &page);
	count_interval(top, &stats, recorded);
	/* nobody gives any more, but it was not told to end */
	if (stats.ended && top->recorder) {
		fail(top, stats.error);
		fail(top, live_recorder_failure(top->recorder));
	}
}

/* An interval is over: what there is becomes the table. */
static void tick(struct top *top, const struct recorder_stats *recorded)
{
	top->status.in_kernel = top->options.walk != RECORDER_COPIES && !recorded->walk_error;
	top->due = clock_now() + top->view.delay_ms * NS_PER_MS;
	if (top->view.paused) {
		make_page(top);
		return;
	}
	/* the last table stays */
	next_interval(top, top->arguments->top.zero && top->recorder, recorded);
	top->tables++;
}

/* What is sampled has ended: the last table is of all that was sampled. */
static void end_sampling(struct top *top)
{
	struct recorder_stats stats;

	stop_recorder(top, &stats);
	live_samples_drain(top->samples);
	top->status.ended = true;
	tick(top, &stats);
}

/* The next table, if it is time. */
static void go_on(struct top *top)
{
	struct recorder_stats stats;
	int status;

	if (!top->recorder)
		return;
	if (recorded_ended(&top->recorded, &status)) {
		end_sampling(top);
	} else if (clock_now() >= top->due) {
		live_recorder_stats(top->recorder, &stats);
		tick(top, &stats);
	}
}

static int wait_ms(const struct top *top)
{
	uint64_t now = clock_now(), left = top->due > now ? (top->due - now) / NS_PER_MS + 1 : 0;

	return top->recorder && left < LOOK_MS ? (int)left : LOOK_MS;
}

static bool is_done(const struct top *top)
{
	uint64_t most = top->arguments->top.iterations;

	return top->failure || top_signals.end || top->view.quit || (most && top->tables >= most);
}

/* on a screen */

static void draw(struct top *top)
{
	fail(top, table_screen_draw(&top->page, &top->view, &top->status));
}

/* Nothing was counted so far, and the head need not say more. */
static void reset(struct top *top)
{
	struct live_samples_stats stats;

	fail(top, live_samples_next(top->samples, NULL, true, NULL, &stats));
	top->began = clock_now();
	count_now(top, &top->before);
	if (top->view.paused)
		begin_pause(top);
}

static void press(struct top *top, int key)
{
	const struct top_view before = top->view;

	table_screen_press(&top->page, &top->view, key);
	live_samples_pause(top->samples, top->view.paused);
	if (top->view.paused && !before.paused)
		begin_pause(top);
	if (!top->view.paused && before.paused)
		end_pause(top);
	if (top->view.reset)
		reset(top);
	/* the next key is about the rows that this one shows */
	if (top->view.reset || top_view_shows_others(&before, &top->view))
		make_page(top);
	top->view.reset = false;
}

static void take_keys(struct top *top)
{
	uint64_t delay = top->view.delay_ms;
	int key = 0;

	while (!top->view.quit && (key = terminal_key()) > 0)
		press(top, key);
	if (key < 0)
		top->view.quit = true;
	if (top->view.delay_ms != delay)
		top->due = clock_now() + top->view.delay_ms * NS_PER_MS;
}

static void show(struct top *top)
{
	struct pollfd keyboard = {.fd = STDIN_FILENO, .events = POLLIN};

	fail(top, table_screen_enter());
	while (!is_done(top)) {
		draw(top);
		top_signals_poll(&keyboard, 1, wait_ms(top));
		fail(top, table_screen_heed_signals());
		take_keys(top);
		go_on(top);
	}
	terminal_leave();
}

/* as text */

static void print(struct top *top)
{
	if (top->tables > 1)
		putchar('\n');
	top_screen_print(&top->page, &top->view, &top->status, top->arguments->top.entries, stdout);
	if (!finish_output())
		fail(top, EXIT_FAILURE);
}

static void list(struct top *top)
{
	while (!is_done(top) && top->recorder) {
		uint64_t tables = top->tables;

		top_signals_poll(NULL, 0, wait_ms(top));
		go_on(top);
		if (top->tables != tables)
			print(top);
	}
}

/* together */

static void end(struct top *top)
{
	int status;

	live_samples_discard(top->samples);
	if (top->recorder && top->recorded.command)
		recorded_end_command(&top->recorded, &top_signals.end, &status);
	/* tables are stored, which may take a while */
	top_signals_let();
	stop_recorder(top, NULL);
	top->loss = live_samples_close(top->samples);
	top_page_fini(&top->page);
}

static int exit_status(const struct top *top, int signal)
{
	if (top->failure < 0)
		complain("%s", strerror(-top->failure));
	if (tell_naming_loss(&top->loss) || top->failure)
		return 1;
	return top_signals_status(signal);
}

static int run(struct top *top)
{
	int signal, r;

	top_signals_catch(top->screen);
	r = start(top);
	/* what is still being opened goes with the process */
	if (top_signals.end && !top->recorder)
		exit(top_signals_status(top_signals.end));
	if (r) {
		live_samples_close(top->samples);
		return r;
	}
	name_subject(top);
	top->started = top->began = clock_now();
	top->due = top->began + top->view.delay_ms * NS_PER_MS;
	if (top->screen && top->view.delay_ms > FIRST_MS)
		top->due = top->began + FIRST_MS * NS_PER_MS;
	if (top->screen)
		show(top);
	else
		list(top);
	signal = top_signals.end;
	end(top);
	return exit_status(top, signal);
}

/* What is counted has one unit: there is one event. */
static int check(const struct arguments *a)
{
	const char *fault = recorded_fault(a);

	if (!fault && a->off_cpu && (a->event_names || a->period || a->has_frequency || a->bpf))
		fault = "--off-cpu counts all waits: -e, -c, -F and --bpf are for what runs";
	if (!fault && a->has_off_cpu_ms && !a->off_cpu)
		fault = "--off-cpu-thresh needs --off-cpu, too";
	return fault ? refuse_call("%s", fault) : 0;
}

static int find_event(struct arguments *a)
{
	if (!recorded_find_events(a))
		return EXIT_USAGE;
	if (a->events.count > 1)
		return refuse_call("-e: a table is of one event");
	return 0;
}

int run_top(struct arguments *a)
{
	struct top top = {
		.arguments = a,
		.recorded = {.arguments = a,
			     .command = a->operand_count ? a->operands : NULL,
			     .open = open_recorder,
			     .abort = abort_recorder,
			     .ctx = &top},
		.screen = !a->top.batch && terminal_is_usable(),
		.view = a->top.view,
	};
	int r = check(a);

	if (r)
		return r;
	r = find_event(a);
	if (r)
		return r;
	if (!a->operand_count && !a->targets.count)
		a->all = true;
	top.options = (struct recorder_options){
		/* who runs is not counted beside waits, but it tells what is mapped */
		.frequency = a->off_cpu ? 1 : recorded_frequency(a),
		.hurry = &top_signals.end,
	};
	/* waits are walked by copies, and one sample a second is not worth a program in the kernel */
	a->no_bpf |= a->off_cpu;
	recorded_walk(a, &top.options);
	top.view.typing = TOP_NO_FILTER;
	for (size_t i = 0; i < TOP_FILTERS; i++)
		if (a->top.filters[i])
			snprintf(top.view.filters[i], TOP_FILTER_SIZE, "%s", a->top.filters[i]);
	return run(&top);
}
