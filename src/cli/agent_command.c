/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * agent_command.c - bobbin agent: the whole machine, all the time.
 *
 *	recorder ──► recording_windows ──► window_folder ──► window_sender ──► a collector
 *	   ▲ frequency                          │ old ones go
 *	cpu_budget ◄── own_usage                └──► bobbin report, flamegraph, diff, export …
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/metrics_page.h"
#include "agent/service_notify.h"
#include "base/clock.h"
#include "cli/agent_metrics.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/recorded.h"
#include "profile/recorder.h"
#include "profile/recording_windows.h"

#define NS_PER_MS (NS_PER_SECOND / 1000)
/* What is counted is published that often, and its own cost judged. */
#define COUNT_NS (5 * NS_PER_SECOND)
#define BUDGET_NS (30 * NS_PER_SECOND)
/*
 * Files that are open: the tables of each program and library that was sampled, for as long as the
 * recorder.  With more than that it begins anew.
 */
#define FILES_MAX 4096
/* The part of --max-cpu that inferring rules from code may take. */
#define CODE_PART 0.5
/* For what waits to be sent when it ends. */
#define DRAIN_MS 5000
/* Of all CPUs: what is told of processes while the names of a recording are looked up. */
#define RINGS_BYTES ((size_t)128 << 20)
#define LEAST_RING_BYTES ((size_t)1 << 20)
/* Names that take longer are looked up when the recording is read. */
#define NAMING_SECONDS 1
#define NAMING_MEMORY ((size_t)64 << 20)

struct agent {
	struct arguments *arguments;
	struct recorded recorded;
	struct recorder_options options;
	struct recorder *recorder;
	struct name_recorder *names;
	struct recording_windows *windows;
	struct window_folder *folder;
	struct otlp_settings otlp;
	struct window_sender *sender; /* NULL: nothing is sent */
	struct metrics_page *page;
	struct cpu_budget budget;
	uint64_t counted; /* when that was last, by clock_now() */
	size_t files_max;
	struct recorder_stats before; /* of the recorders that have ended */
	bool failing;                 /* the last recording could not be written */
	bool exceeding;               /* the limit, at the lowest rate */
	pthread_mutex_t lock;         /* of @counts */
	struct agent_counts counts;
};

static volatile sig_atomic_t end_signal, cut_signal;

static void on_end(int signal)
{
	end_signal = signal;
}

static void on_cut(int signal)
{
	cut_signal = signal;
}

static void catch_signals(void)
{
	const struct sigaction end = {.sa_handler = on_end}, cut = {.sa_handler = on_cut};

	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGHUP, &cut, NULL);
}

/* windows */

static char *name_window(void *ctx)
{
	const struct agent *agent = ctx;

	return window_folder_name(agent->folder);
}

/* Each time that it begins, or ends, to fail. */
static void tell_window(struct agent *agent, const struct window_result *result)
{
	if (result->error && !agent->failing)
		complain_use("%s: %s: %" PRIu64 " of %" PRIu64 " samples are kept", result->path,
			     strerror(-result->error), result->kept, result->samples);
	if (!result->error && agent->failing)
		complain_use("recordings are written again");
	agent->failing = result->error;
}

static void count_window(struct agent *agent, const struct window_result *result)
{
	pthread_mutex_lock(&agent->lock);
	agent->counts.windows += result->kept > 0;
	agent->counts.failed += result->error != 0;
	agent->counts.samples += result->kept;
	agent->counts.dropped_samples += result->samples - result->kept;
	pthread_mutex_unlock(&agent->lock);
}

static void end_window(void *ctx, const struct window_result *result)
{
	struct agent *agent = ctx;
	char state[128];
	int r;

	tell_window(agent, result);
	r = result->kept ? window_folder_add(agent->folder, result->path, result->kept) : 0;
	count_window(agent, result);
	if (!result->kept)
		return;
	if (r)
		complain_file(result->path, r, NULL);
	if (agent->sender)
		window_sender_wake(agent->sender);
	snprintf(state, sizeof(state), "STATUS=%" PRIu64 " samples at %" PRIu32 " Hz, %.2f %% CPU",
		 result->kept, agent->budget.frequency, agent->budget.used);
	service_notify(state);
}

/* the recorder */

static int open_windows(struct agent *agent)
{
	static const char *const argv[] = {"bobbin", "agent", NULL};
	const struct name_recorder_options names = {
		.debug_path = agent->arguments->unwind.debug_path,
		.seconds = NAMING_SECONDS,
		.memory = NAMING_MEMORY,
	};
	struct recording_windows_options options = {
		.ns = agent->arguments->agent.window_ms * NS_PER_MS,
		.version = BOBBIN_VERSION,
		.argv = argv,
		.name = name_window,
		.over = end_window,
		.ctx = agent,
	};
	int r = name_recorder_open(&names, &agent->names);

	options.names = agent->names;
	return r ? r : recording_windows_open(&options, &agent->windows);
}

static int open_recorder(void *ctx)
{
	struct agent *agent = ctx;
	enum recorder_stage stage = RECORDER_MEMORY;
	int r = open_windows(agent);

	agent->options.sink = &recording_windows_sink;
	agent->options.sink_ctx = agent->windows;
	if (!r)
		r = recorder_open(&agent->options, &stage, &agent->recorder);
	if (r)
		complain_recorder(&agent->options, stage, r);
	return r != 0;
}

/* Those that metrics have. */
static struct recorder_stats sum_of(const struct recorder_stats *a, const struct recorder_stats *b)
{
	struct recorder_stats sum = {
		.samples = a->samples + b->samples,
		.user = a->user + b->user,
		.walked = a->walked + b->walked,
		.lost = a->lost + b->lost,
		.broken = a->broken + b->broken,
	};

	sum.reasons[BOBBIN_REASON_OUTERMOST] = a->reasons[BOBBIN_REASON_OUTERMOST] +
					       b->reasons[BOBBIN_REASON_OUTERMOST];
	return sum;
}

/*
 * The recorder ends, and its recording, and another one begins: for less than a second nothing is
 * sampled.
 */
static int begin_anew(struct agent *agent)
{
	struct recorder_stats stats;

	recorder_finish(agent->recorder, &stats);
	agent->before = sum_of(&agent->before, &stats);
	agent->recorder = NULL;
	recording_windows_close(agent->windows);
	agent->windows = NULL;
	name_recorder_close(agent->names);
	agent->names = NULL;
	agent->options.frequency = agent->budget.frequency;
	if (open_recorder(agent))
		return -ENODEV;
	pthread_mutex_lock(&agent->lock);
	agent->counts.restarts++;
	pthread_mutex_unlock(&agent->lock);
	return 0;
}

/* its own cost */

static void set_frequency(struct agent *agent, uint32_t before)
{
	const uint32_t now = agent->budget.frequency;
	int r = recorder_set_frequency(agent->recorder, now);

	if (r) {
		complain_use("perf_event_open: %s: the rate stays as it is", strerror(-r));
		agent->budget.frequency = before;
		return;
	}
	recording_windows_frequency(agent->windows, now);
	if (agent->arguments->quiet)
		return;
	complain_use("%" PRIu32 " samples per second instead of %" PRIu32
		     ": %.2f %% of a processor were used, of %g %%",
		     now, before, agent->budget.used, agent->budget.limit);
}

static void count_all(struct agent *agent, const struct own_usage *usage)
{
	pthread_mutex_lock(&agent->lock);
	agent->counts.recorder = sum_of(&agent->before, recorder_stats(agent->recorder));
	agent->counts.budget = agent->budget;
	agent->counts.usage = *usage;
	pthread_mutex_unlock(&agent->lock);
}

/* Each time that it begins. */
static void tell_excess(struct agent *agent)
{
	const struct cpu_budget *b = &agent->budget;
	const bool exceeds = b->limit > 0 && b->frequency == 1 && b->used > b->limit;

	if (exceeds && !agent->exceeding)
		complain_use("%.2f %% of a processor were used at the lowest rate, of %g %%: the "
			     "rest is what processes and files that are new take",
			     b->used, b->limit);
	agent->exceeding = exceeds;
}

/* 0, or a negative errno after a complaint: nothing is sampled any more. */
static int keep_bounds(struct agent *agent)
{
	const uint64_t now = clock_now();
	const uint32_t before = agent->budget.frequency;
	struct own_usage usage;

	if (now - agent->counted < COUNT_NS)
		return 0;
	agent->counted = now;
	own_usage_read(&usage);
	if (now - agent->budget.at_ns >= BUDGET_NS) {
		if (cpu_budget_take(&agent->budget, usage.cpu_ns, now) != before)
			set_frequency(agent, before);
		else
			tell_excess(agent);
	}
	count_all(agent, &usage);
	return usage.files > agent->files_max ? begin_anew(agent) : 0;
}

static void begin_budget(struct agent *agent)
{
	struct own_usage usage;

	own_usage_read(&usage);
	agent->budget = (struct cpu_budget){
		.limit = agent->arguments->agent.max_cpu,
		.most = agent->options.frequency,
		.frequency = agent->options.frequency,
		.used_ns = usage.cpu_ns,
		.at_ns = clock_now(),
	};
	count_all(agent, &usage);
}

/* the page of metrics */

static void write_metrics(void *ctx, FILE *out)
{
	struct agent *agent = ctx;
	struct window_folder_stats folder;
	struct window_sender_stats sender = {0};
	struct agent_counts counts;

	pthread_mutex_lock(&agent->lock);
	counts = agent->counts;
	pthread_mutex_unlock(&agent->lock);
	window_folder_stats(agent->folder, &folder);
	if (agent->sender)
		window_sender_stats(agent->sender, &sender);
	agent_metrics_write(&counts, &folder, &sender, out);
}

/* to begin and to end */

static void abort_recorder(void *ctx)
{
	struct agent *agent = ctx;

	recorder_abort(agent->recorder);
}

static int open_folder(struct agent *agent)
{
	const struct arguments *a = agent->arguments;
	const struct window_folder_options options = {
		.path = a->output,
		.keep_seconds = a->agent.keep_ms / 1000,
		.max_bytes = a->agent.max_size,
		.send = agent->otlp.url,
	};
	int r = window_folder_open(&options, &agent->folder);

	if (r == -EWOULDBLOCK)
		complain("%s: another agent has this folder", a->output);
	else if (r)
		complain_file(a->output, r, NULL);
	return r != 0;
}

static int open_sender(struct agent *agent)
{
	const struct window_sender_options options = {
		.folder = agent->folder, .settings = &agent->otlp, .arguments = agent->arguments};
	int r = agent->otlp.url ? window_sender_open(&options, &agent->sender) : 0;

	if (r == -ELIBACC)
		complain("--otlp: libcurl is not here (Debian: libcurl3-gnutls)");
	else if (r)
		complain("%s", strerror(-r));
	return r != 0;
}

static int open_page(struct agent *agent)
{
	const char *address = agent->arguments->agent.metrics;
	int r = address ? metrics_page_open(address, write_metrics, agent, &agent->page) : 0;

	if (r == -EINVAL)
		return refuse_call("--metrics: '%s' is no ADDRESS:PORT, by numbers", address);
	if (r == -ELIBACC)
		complain("--metrics: libmicrohttpd is not here (Debian: libmicrohttpd12)");
	else if (r)
		complain("--metrics: %s: %s", address, strerror(-r));
	else if (address)
		complain_use("metrics are at port %u", metrics_page_port(agent->page));
	return r != 0;
}

static int read_settings(struct agent *agent)
{
	struct otlp_settings_fault fault;
	int r = otlp_settings_read(agent->arguments->agent.otlp, &agent->otlp, &fault);

	if (r == -EINVAL)
		return refuse_call("%s %s", fault.variable, fault.reason);
	if (r)
		complain("%s", strerror(-r));
	if (!r && !agent->otlp.url && !agent->arguments->agent.keep_ms)
		return refuse_call(
			"--keep 0 keeps nothing, and no --otlp or OTEL_EXPORTER_OTLP_ENDPOINT "
			"says where to send it");
	return r != 0;
}

static void tell_start(const struct agent *agent)
{
	const int error = recorder_stats(agent->recorder)->walk_error;

	if (agent->arguments->quiet)
		return;
	complain_use("%" PRIu32 " samples per second and CPU, stacks are %s",
		     agent->options.frequency,
		     error ? "copied and walked in user space" : "walked in the kernel");
	if (agent->otlp.url)
		complain_use("profiles are sent to %s", agent->otlp.url);
}

/* 0 or the errno by which sampling has ended. */
static int run(struct agent *agent)
{
	int error = 0;

	while (!end_signal && !error) {
		size_t count;
		int timeout;
		struct pollfd *fds = recorder_pollfds(agent->recorder, &count, &timeout);

		poll(fds, count, timeout);
		if (cut_signal)
			recording_windows_cut(agent->windows);
		cut_signal = 0;
		error = recorder_sweep(agent->recorder);
		if (!error)
			error = keep_bounds(agent);
	}
	return error;
}

/* Another signal ends it at once: what was not sent will be, by the next agent. */
static void let_signals(void)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
}

static int record(struct agent *agent)
{
	struct recorder_stats stats;
	int error, r = recorded_start(&agent->recorded, &agent->options, WORKLOAD_ALL_STREAMS);

	if (r)
		return r;
	tell_start(agent);
	begin_budget(agent);
	r = open_sender(agent);
	if (!r)
		r = open_page(agent);
	if (r) {
		recorder_abort(agent->recorder);
		return r;
	}
	service_notify("READY=1");
	error = run(agent);
	service_notify("STOPPING=1");
	let_signals();
	metrics_page_close(agent->page);
	if (agent->recorder)
		recorder_finish(agent->recorder, &stats);
	if (error)
		complain_use("sampling has ended: %s", strerror(-error));
	return error != 0;
}

static void close_agent(struct agent *agent)
{
	window_sender_close(agent->sender, DRAIN_MS);
	recording_windows_close(agent->windows);
	name_recorder_close(agent->names);
	window_folder_close(agent->folder);
	otlp_settings_fini(&agent->otlp);
	pthread_mutex_destroy(&agent->lock);
}

/* A power of two. */
static size_t ring_bytes(void)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t size = SAMPLER_RING_BYTES;

	while (size > LEAST_RING_BYTES && size * (size_t)(cpus > 0 ? cpus : 1) > RINGS_BYTES)
		size /= 2;
	return size;
}

/* Half of what may be open, at most.  Twice that is asked for: shells allow 1,024 files. */
static size_t files_max(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return FILES_MAX;
	if (limit.rlim_cur < 2 * FILES_MAX && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max < 2 * FILES_MAX ? limit.rlim_max : 2 * FILES_MAX;
		setrlimit(RLIMIT_NOFILE, &limit);
		getrlimit(RLIMIT_NOFILE, &limit);
	}
	return limit.rlim_cur / 2 < FILES_MAX ? limit.rlim_cur / 2 : FILES_MAX;
}

/* Of one processor; @percent: of it, or 0. */
static double share_of(double percent)
{
	return percent < 100 ? percent / 100 : 1;
}

int run_agent(struct arguments *a)
{
	struct agent agent = {
		.arguments = a,
		.recorded = {.arguments = a, .open = open_recorder, .abort = abort_recorder},
		.options = {.frequency = recorded_frequency(a),
			    .holds_samples = true,
			    .code_share = CODE_PART * share_of(a->agent.max_cpu),
			    .ring_bytes = ring_bytes(),
			    .hurry = &end_signal},
		.files_max = files_max(),
	};
	int r;

	agent.recorded.ctx = &agent;
	a->all = true;
	recorded_walk(a, &agent.options);
	r = read_settings(&agent);
	if (r)
		return r;
	pthread_mutex_init(&agent.lock, NULL);
	catch_signals();
	r = open_folder(&agent);
	if (!r)
		r = record(&agent);
	close_agent(&agent);
	return r;
}
