/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sample_area.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/recorded.h"
#include "cli/recorded_profile.h"
#include "codemap/linux_calls.h"
#include "export/safe_text.h"
#include "profile/kernel_probe.h"
#include "profile/recorder.h"
#include "profile/recording_sink.h"

/* Per cent of frames, and of stacks, from which on a remedy is worth a line. */
#define LEAST_UNNAMED 10
#define LEAST_SHARE 5
/* That many are not missed by chance. */
#define EXPECTED_SAMPLES 20

struct record {
	struct recorder_options options;
	struct preload preload;
	struct arguments *arguments;
	struct recorded recorded;
	struct name_recorder *names;
	struct recording *recording;
	struct recorded_profile profile;
	const char *path; /* of the recording */
	char **words;     /* of the command line */
	uint64_t began;   /* clock_now() */
	struct recorder *recorder;
};

static volatile sig_atomic_t interrupted, asked;

static void on_signal(int signal)
{
	interrupted = signal;
}

/* For what of a heap is not freed. */
static void on_question(int signal)
{
	asked = signal;
}

/* Whether the recording goes to where the command's own output would. */
static bool is_stdout(const char *path)
{
	struct stat out, st;

	if (!strcmp(path, "-"))
		return true;
	return !fstat(STDOUT_FILENO, &out) && S_ISFIFO(out.st_mode) && !stat(path, &st) &&
	       st.st_dev == out.st_dev && st.st_ino == out.st_ino;
}

static void tell_call_graph(const struct arguments *a)
{
	if (a->call_graph && !a->defer && !a->quiet)
		fprintf(stderr,
			"bobbin record: --call-graph %s: call chains are found by unwind tables "
			"while recording; see --stack-size, --max-stack\n",
			a->call_graph);
}

/* What the kernel would have to do. */
static bool needs_kernel(const struct arguments *a)
{
	return a->targets.count || recorded_is_all(a) || a->event_names || a->period || a->bpf ||
	       a->defer || a->off_cpu;
}

static int check(const struct arguments *a)
{
	const char *fault = recorded_fault(a);

	if (!fault && !a->operand_count && !a->targets.count && !recorded_is_all(a))
		fault = "a command to run, or -p PID, is needed";
	if (!fault && a->also_copy && !a->bpf)
		fault = "--also-copy compares with --bpf, which is needed, too";
	if (!fault && a->wakers && !a->off_cpu)
		fault = "--wakers needs --off-cpu, too";
	if (!fault && a->has_off_cpu_ms && !a->off_cpu)
		fault = "--off-cpu-thresh needs --off-cpu, too";
	if (!fault && a->defer && (a->bpf || a->off_cpu))
		fault = "--call-graph fp,defer and --bpf or --off-cpu exclude each other";
	if (!fault && a->in_process && needs_kernel(a))
		fault = "--in-process samples the CPU time of a command, and takes none of -p, -t, "
			"-a, -C, --cgroup, --user, -e, -c, --bpf, --off-cpu and --call-graph fp,defer";
	return fault ? refuse_call("%s", fault) : 0;
}

/* What is written. */
static int check_output(struct record *record)
{
	struct arguments *a = record->arguments;

	if (!recorded_profile_choose(&record->profile, a))
		return hint();
	if (record->profile.format || strcmp(a->output, "-") || !isatty(STDOUT_FILENO))
		return 0;
	complain_use("-o -: standard output is a terminal, which cannot show a recording");
	return EXIT_USAGE;
}

static void catch_signals(const struct arguments *a)
{
	struct sigaction action = {.sa_handler = on_signal}, old,
			 question = {.sa_handler = on_question};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (a->heap)
		sigaction(SIGUSR1, &question, NULL);
	/* nohup(1) means it */
	if (!sigaction(SIGHUP, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
}

static void show_progress(const struct record *record)
{
	const struct recorder_stats *s = recorder_stats(record->recorder);

	if (!record->arguments->quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "\rbobbin record: %" PRIu64 " samples in %" PRIu64 " s ",
			s->samples, (clock_now() - record->began) / NS_PER_SECOND);
}

static const char *failure(int error)
{
	if (error == -EPIPE)
		return "nobody reads it any more";
	return error == -ETIMEDOUT ? "its reader has stopped reading" : strerror(-error);
}

/* The program is not told that its recording failed: it runs on. */
static void tell_failure(const struct record *record, int error)
{
	complain("%s: %s: no more is recorded after %" PRIu64 " samples%s", record->path,
		 failure(error), recorder_stats(record->recorder)->samples,
		 record->recorded.command ? "; the program runs on" : "");
}

/* A command that did nothing but wait has no status of its own then. */
static void end_command(struct record *record, int *status)
{
	bool by_signal = interrupted;

	recorder_stop(record->recorder);
	recorded_end_command(&record->recorded, &interrupted, status);
	if (!by_signal && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGTERM)
		*status = 0;
}

/* What of its time is left, in milliseconds; -1: it has no end. */
static int64_t time_left(const struct record *record)
{
	uint64_t passed = (clock_now() - record->began) / 1000000,
		 all = record->arguments->duration_ms;

	if (!all)
		return -1;
	return passed < all ? (int64_t)(all - passed) : 0;
}

static int shorter(int timeout, int64_t left)
{
	return left >= 0 && (timeout < 0 || left < timeout) ? (int)left : timeout;
}

static bool is_over(const struct record *record)
{
	return interrupted || !time_left(record) ||
	       (record->recorded.command && recorded_lost_targets(&record->recorded));
}

static int sweep(struct record *record)
{
	if (!asked)
		return recorder_sweep(record->recorder);
	asked = 0;
	return recorder_dump_blocks(record->recorder);
}

/*
 * Until the program ends, or what else is sampled does, the time is over or somebody presses
 * Ctrl-C.  Whether it was the program.
 */
static bool sample(struct record *record, int *status)
{
	time_t shown = clock_seconds();
	bool done = false;
	int error = 0;

	while (!done && !is_over(record) && (!error || record->recorded.command)) {
		size_t count;
		int timeout;
		struct pollfd *fds = recorder_pollfds(record->recorder, &count, &timeout);

		poll(fds, error ? 0 : count, shorter(timeout, time_left(record)));
		done = recorded_ended(&record->recorded, status);
		if (error)
			continue;
		error = sweep(record);
		if (error)
			tell_failure(record, error);
		if (clock_seconds() != shown) {
			shown = clock_seconds();
			show_progress(record);
		}
	}
	if (!done && record->recorded.command)
		end_command(record, status);
	return done;
}

static double milliseconds(const struct timeval *time)
{
	return (double)time->tv_sec * 1e3 + (double)time->tv_usec / 1e3;
}

/* Where the command alone is sampled, and by the clock. */
static bool tell_used_time(const struct record *record, uint64_t ms)
{
	const struct arguments *a = record->arguments;
	const struct rusage *used = &record->recorded.workload.used;
	double used_ms = milliseconds(&used->ru_utime) + milliseconds(&used->ru_stime),
	       sample_ms = 1e3 / record->options.frequency;

	if (!record->recorded.command || a->targets.count || recorded_is_all(a) || a->events.count)
		return false;
	fprintf(stderr,
		"no samples: the program ran for %" PRIu64 " ms and used %.1f ms of CPU "
		"time; at -F %" PRIu32 " each sample takes %.1f ms",
		ms, used_ms, record->options.frequency, sample_ms);
	if (used_ms > EXPECTED_SAMPLES * sample_ms && !a->in_process)
		fputs("; Linux lets nobody sample a program that changes the user (set-user-ID), "
		      "or that its user may not read",
		      stderr);
	return true;
}

/* Why there are none. */
static void tell_emptiness(const struct record *record)
{
	const struct arguments *a = record->arguments;
	uint64_t ms = (clock_now() - record->began) / 1000000,
		 missed = targets_missed_ms(&a->targets);

	if (a->period > 1)
		fprintf(stderr, "no samples: in %" PRIu64 " ms no event came %" PRIu64 " times", ms,
			a->period);
	else if (a->events.count)
		fprintf(stderr,
			"no samples: in %" PRIu64 " ms no event came from what was to be sampled",
			ms);
	else if (a->heap)
		fprintf(stderr, "no samples: in %" PRIu64 " ms too little was allocated", ms);
	else if (!tell_used_time(record, ms))
		fprintf(stderr, "no samples: in %" PRIu64 " ms nothing ran that was to be sampled",
			ms);
	if (missed)
		fprintf(stderr,
			"; %zu children, which ran already and are not sampled, used %" PRIu64
			" ms of CPU time",
			a->targets.child_count, missed);
}

static void tell_samples(const struct record *record, const struct recorder_stats *s)
{
	if (!s->samples && s->lost)
		fputs("no samples", stderr);
	else if (!s->samples)
		tell_emptiness(record);
	else if (!s->user)
		fprintf(stderr, "%" PRIu64 " samples, none with a user stack", s->samples);
	else
		fprintf(stderr, "%" PRIu64 " samples, %.1f %% of %" PRIu64 " user stacks complete",
			s->samples, percent(s->reasons[BOBBIN_REASON_OUTERMOST], s->user), s->user);
	if (s->reasons[BOBBIN_REASON_LIKELY])
		fprintf(stderr, ", %.1f %% likely",
			percent(s->reasons[BOBBIN_REASON_LIKELY], s->user));
	fprintf(stderr, ", %" PRIu64 " records lost; ", s->lost);
	safe_text_plain(stderr, record->arguments->output);
}

static void tell_file(const struct record *record)
{
	const struct recording_stats *s = recording_stats(record->recording);
	struct stat st;

	if (strcmp(record->arguments->output, "-") && !stat(record->arguments->output, &st) &&
	    S_ISREG(st.st_mode))
		fprintf(stderr, ", %.2f MiB", (double)st.st_size / (1 << 20));
	if (s->cut)
		fprintf(stderr, ", with the first %" PRIu64 " samples only: %s", s->kept,
			strerror(-s->cut));
	fputc('\n', stderr);
}

static void tell_count(uint64_t count, const char *what)
{
	if (count)
		fprintf(stderr, "  %8" PRIu64 " %s\n", count, what);
}

static void tell_time(uint64_t count, const char *what, uint64_t ns)
{
	if (count)
		fprintf(stderr, "  %8" PRIu64 " %s, %.3f s\n", count, what, (double)ns / 1e9);
}

static void tell_bytes(uint64_t bytes, const char *what)
{
	fprintf(stderr, "  %8.1f MiB %s\n", (double)bytes / (1 << 20), what);
}

static void tell_heap(const struct record *record, const struct heap_stats *h)
{
	if (!record->options.heap)
		return;
	tell_bytes(h->allocated, "were allocated");
	tell_bytes(h->live, "of them were not freed");
	tell_count(h->dumps, "times what was not freed then was added");
	tell_count(h->forgotten, "blocks that may live are not known to: there are too many");
	tell_count(area_reader_unfreed(record->options.area),
		   "blocks were freed, and count as live: nobody took notice in time");
}

static void tell_waits(const struct wait_stats *w)
{
	tell_time(w->waits, "of them are waits", w->wait_ns);
	tell_time(w->preempted, "of them are times in which others had the CPU", w->preempted_ns);
	tell_count(w->wakers, "of them say who has ended a wait");
	tell_time(w->short_waits, "shorter ones are left out", w->short_ns);
	tell_count(w->cut, "waits are cut short where records were lost");
	tell_count(w->dropped, "waits are left out, as records were lost");
}

static void tell_compiled(const struct record *record)
{
	const struct recording_stats *s = recording_stats(record->recording);

	if (s->told) {
		fprintf(stderr,
			"  %8" PRIu64 " functions that were compiled at run time are named in ",
			s->told);
		safe_text_plain(stderr, record->arguments->output);
		fputs(record->profile.format ? "\n" : ".jit\n", stderr);
	}
	if (s->told_error)
		fprintf(stderr,
			"  names of functions that were compiled at run time are missing: %s\n",
			strerror(-s->told_error));
}

/* What it has cost is known where kernel.bpf_stats_enabled is set. */
static void tell_walks(const struct record *record, const struct recorder_stats *s)
{
	const struct bpf_walk_stats *k = &s->kernel;

	if (record->options.walk <= RECORDER_DEFERS || s->walk_error)
		return;
	/* it was not waited for */
	if (record->options.walk == RECORDER_TRIES_KERNEL && !record->options.all && !k->walks)
		return;
	fprintf(stderr, "  %8" PRIu64 " stacks were walked in the kernel\n", s->walked);
	if (k->runs && k->frames)
		fprintf(stderr, "  %8.1f ns a run of its program, %.1f ns a frame of %" PRIu64 "\n",
			(double)k->run_ns / (double)k->runs, (double)k->run_ns / (double)k->frames,
			k->frames);
	if (k->records)
		fprintf(stderr, "  %8.1f bytes a stack were given out\n",
			(double)k->record_bytes / (double)k->records);
	tell_count(k->late, "of them when their pages had been read in");
	tell_count(k->unknown, "stacks are not known: what the kernel gave out before was lost");
	tell_count(k->roomless,
		   "processes had more mappings than there was room for in the kernel");
	tell_count(k->roomless_files,
		   "files or registered sections have no table in the kernel: there is no room");
	tell_count(k->unfollowed,
		   "threads have no samples of tracepoints or probes: there is no room");
	if (record->options.also_copy)
		fprintf(stderr,
			"  %8" PRIu64 " were compared with user space's walk: %" PRIu64 " differ\n",
			s->compared, s->differ);
	tell_count(s->in_part,
		   "of them in part: copies of their stacks end early, or their code has changed");
	tell_count(s->remapped, "are cut where mappings had changed");
}

/* Of the files that have most of them. */
static void tell_unnamed(const struct name_stats *n)
{
	size_t shown = n->file_count < NAME_RECORDER_FILES ? n->file_count : NAME_RECORDER_FILES;

	if (percent(n->unnamed, n->frames) < LEAST_UNNAMED)
		return;
	fprintf(stderr,
		"  %8.1f %% of the frames in files have no name:", percent(n->unnamed, n->frames));
	for (size_t i = 0; i < shown; i++) {
		fprintf(stderr, "%s %.1f %% in ", i ? "," : "",
			percent(n->files[i].frames, n->frames));
		safe_text_plain(stderr, n->files[i].path ? n->files[i].path : "?");
	}
	if (n->file_count > shown)
		fprintf(stderr, " and others");
	fputs(";\n           debug symbols have them: packages called -dbgsym or -dbg, or, when it is "
	      "reported, $DEBUGINFOD_URLS\n",
	      stderr);
}

/* The kernel does not copy what it walks, and some kernels wait for pages that a copy lacks. */
static void tell_kernel_walks(const struct record *record, const struct recorder_stats *s)
{
	uint64_t ends = s->reasons[BOBBIN_REASON_STACK_END],
		 holes = s->reasons[BOBBIN_REASON_STACK_HOLE];
	int walks, waits;

	if (record->options.walk != RECORDER_COPIES || percent(ends + holes, s->user) < LEAST_SHARE)
		return;
	probe_kernel_walk(&walks, &waits);
	if (!walks && percent(ends + (waits ? 0 : holes), s->user) >= LEAST_SHARE)
		fputs("           without --no-bpf stacks are walked in the kernel, beyond the ends and "
		      "holes of their copies\n",
		      stderr);
}

/* What whoever ran the program could do. */
static void tell_remedies(const struct record *record, const struct recorder_stats *s)
{
	const struct name_stats *n = record->names ? name_recorder_stats(record->names) : NULL;
	uint64_t told = recording_stats(record->recording)->told;

	if (s->lost && record->options.heap)
		fputs("           records are lost where blocks are allocated faster than samples are read: a "
		      "greater --sample-bytes helps\n",
		      stderr);
	else if (s->lost)
		fputs("           records are lost where they are taken faster than they are read: a lower "
		      "-F or a smaller --stack-size helps\n",
		      stderr);
	tell_kernel_walks(record, s);
	if (!n)
		return;
	if (n->failed)
		fprintf(stderr, "  %8" PRIu64 " places in files have no name that is kept: %s\n",
			n->failed, strerror(-n->failure));
	tell_unnamed(n);
	if (percent(n->java_stacks, s->user) > LEAST_SHARE)
		fputs("           java -XX:+PreserveFramePointer lets compiled code be walked\n",
		      stderr);
	if (n->java_frames && !told)
		fputs("           java -XX:+DumpPerfMapAtExit names compiled code\n", stderr);
	if (n->v8_frames && !told)
		fputs("           node --perf-basic-prof names compiled JavaScript\n", stderr);
}

static void summarise(const struct record *record, const struct recorder_stats *s)
{
	if (record->arguments->quiet)
		return;
	if (isatty(STDERR_FILENO))
		fputc('\r', stderr);
	fprintf(stderr, "bobbin %s: ", record->arguments->heap ? "heap" : "record");
	tell_samples(record, s);
	tell_file(record);
	for (int i = 0; i < BOBBIN_REASON_COUNT; i++)
		if (s->reasons[i] && i != BOBBIN_REASON_OUTERMOST && i != BOBBIN_REASON_LIKELY)
			fprintf(stderr, "  %8" PRIu64 " ended early: %s\n", s->reasons[i],
				bobbin_reason_str((enum bobbin_reason)i));
	if (s->deep)
		fprintf(stderr,
			"  %8" PRIu64 " have more than %" PRIu32
			" frames: the inner and the outer ones are kept\n",
			s->deep, record->options.max_stack);
	if (s->inferred)
		fprintf(stderr,
			"  %8" PRIu64 " of %" PRIu64
			" frames were left by rules inferred from their code\n",
			s->inferred, s->frames);
	tell_heap(record, &s->heap);
	tell_waits(&s->waits);
	tell_walks(record, s);
	tell_compiled(record);
	tell_count(s->left_out, "pieces of registered code were left out: there are too many");
	tell_count(s->given_up, "processes' memories, or files, did not answer in time");
	tell_count(s->broken, "records could not be used");
	if (record->options.area)
		tell_count(area_reader_unsampled(record->options.area),
			   "threads had no timer: their user has as many signals as may be queued");
	tell_count(s->partly, "threads that began with the recording may lack samples");
	tell_remedies(record, s);
}

/* The command's; where that is 0, a recording that is not whole is a failure. */
static int exit_status(const struct record *record, int status, int error)
{
	int own = error ? 1 : 0;

	if (!record->recorded.command)
		return own;
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WEXITSTATUS(status) ? WEXITSTATUS(status) : own;
}

/* A kernel with the calls that register tables walks by them. */
static void tell_kernel_chains(void)
{
	struct linux_calls kernel = {.call = linux_calls_native()};

	fprintf(stderr,
		"bobbin record: user call chains are the kernel's own, by %sframe pointers\n",
		linux_calls_exist(&kernel) ? "SFrame sections and " : "");
}

/* Of all that runs, where it was for the recorder to choose. */
static void tell_walk(const struct record *record)
{
	int error = recorder_stats(record->recorder)->walk_error;
	char why[WALK_ERROR_SIZE];

	if (record->arguments->quiet)
		return;
	if (record->options.walk == RECORDER_DEFERS)
		tell_kernel_chains();
	if (record->options.walk != RECORDER_TRIES_KERNEL || !record->options.all)
		return;
	if (error)
		fprintf(stderr, "bobbin record: stacks are copied, and walked here: --bpf: %s\n",
			probe_walk_error(error, why, sizeof(why)));
	else
		fputs("bobbin record: stacks are walked in the kernel, as with --bpf\n", stderr);
}

/* What takes the samples. */
static int open_recording(struct record *record)
{
	const struct arguments *a = record->arguments;
	const struct name_recorder_options keeper = {
		.debug_path = a->unwind.debug_path,
		.remember = a->has_debug_path,
		.on_loss = a->quiet ? NULL : complain_loss,
	};
	struct recording_options options = {
		.path = record->path,
		.version = BOBBIN_VERSION,
		.argv = (const char *const *)record->words,
	};
	int error = a->no_names ? 0 : name_recorder_open(&keeper, &record->names);

	options.names = record->names;
	if (!error)
		error = recording_open(&options, &record->recording);
	record->options.sink = &recording_sink;
	record->options.sink_ctx = record->recording;
	return error;
}

static int open_recorder(void *ctx)
{
	struct record *record = ctx;
	enum recorder_stage stage = RECORDER_MEMORY;
	int error = open_recording(record);

	if (!error)
		error = recorder_open(&record->options, &stage, &record->recorder);
	if (!error) {
		tell_walk(record);
		return 0;
	}
	if (stage == RECORDER_OUTPUT)
		complain_file(record->path, error, NULL);
	else
		complain_recorder(&record->options, stage, error);
	return 1;
}

static void abort_recorder(void *ctx)
{
	struct record *record = ctx;

	recorder_abort(record->recorder);
}

static int start(struct record *record)
{
	return recorded_start(&record->recorded, &record->options,
			      is_stdout(record->arguments->output) ? WORKLOAD_SPARE_STDOUT
								   : WORKLOAD_ALL_STREAMS);
}

/* As it was typed; NULL without memory.  Argument 0 is two words of it. */
static char **command_line(const struct arguments *a)
{
	char **words = calloc((size_t)a->argc + 2, sizeof(*words));

	if (!words)
		return NULL;
	words[0] = (char *)"bobbin";
	words[1] = a->heap ? (char *)"heap" : (char *)"record";
	memcpy(words + 2, a->argv + 1, (size_t)(a->argc - 1) * sizeof(*words));
	return words;
}

static int open_output(struct record *record)
{
	const struct arguments *a = record->arguments;
	int r = recorded_profile_open(&record->profile, a);

	record->path = record->profile.format ? record->profile.recording : a->output;
	return r;
}

/* Where one is asked for. */
static int write_profile(struct record *record)
{
	if (!record->profile.format)
		return 0;
	/* the next Ctrl-C is about what is done now */
	interrupted = 0;
	return recorded_profile_write(&record->profile, record->arguments, &interrupted);
}

/* Whether the library was in none of the command's programs.  Says so. */
static bool is_outside(const struct record *record)
{
	if (!record->options.area || area_reader_processes(record->options.area))
		return false;
	complain("no program of the command has loaded %s: it is linked statically, changes "
		 "the user (set-user-ID), or has another C library or word size",
		 record->preload.library);
	return true;
}

/* Before the command is forked, which has the library in its environment. */
static int open_area(struct record *record)
{
	struct recorder_options *options = &record->options;
	const struct arguments *a = record->arguments;
	int error;

	if (!a->in_process)
		return 0;
	if (!preload_find(a->heap ? "libbobbin-heap.so" : "libbobbin-sampler.so", &record->preload))
		return 1;
	options->frequency = a->heap ? 1 : (uint32_t)a->frequency;
	options->walk = RECORDER_COPIES;
	options->heap = a->heap;
	error = area_reader_open(options->frequency, a->heap ? a->block_bytes : 0,
				 options->stack_bytes, &options->area);
	if (error) {
		complain("shared memory for samples: %s", strerror(-error));
		return 1;
	}
	record->preload.variable = SAMPLE_AREA_VARIABLE;
	record->preload.value = area_reader_path(options->area);
	record->recorded.preload = &record->preload;
	return 0;
}

static int record_until_end(struct record *record)
{
	struct recorder_stats stats;
	int error, status = 0, r = open_output(record);

	if (!r)
		r = open_area(record);
	if (!r)
		r = start(record);
	if (r)
		return r;
	record->began = clock_now();
	/* who presses Ctrl-C does not want to wait */
	if (sample(record, &status))
		recorder_settle(record->recorder, &interrupted);
	error = recorder_finish(record->recorder, &stats);
	if (error)
		complain_file(record->path, error, NULL);
	else
		error = write_profile(record);
	if (!error) {
		summarise(record, &stats);
		error = recording_stats(record->recording)->cut || is_outside(record);
	}
	return exit_status(record, status, error);
}

/* By the same recorder. */
int run_heap(struct arguments *a)
{
	a->heap = a->in_process = true;
	a->frequency = 1;
	return run_record(a);
}

int run_record(struct arguments *a)
{
	struct record record = {
		.arguments = a,
		.recorded = {.arguments = a,
			     .command = a->operand_count ? a->operands : NULL,
			     .open = open_recorder,
			     .abort = abort_recorder,
			     .ctx = &record},
		.options =
			{
				.frequency = a->in_process ? 0 : recorded_frequency(a),
				.also_copy = a->also_copy,
				.holds_samples = true,
				.wakers = a->wakers,
				.hurry = &interrupted,
			},
	};
	int r = check(a);

	if (!r)
		r = check_output(&record);
	if (r)
		return r;
	if (!recorded_find_events(a))
		return EXIT_USAGE;
	if (a->off_cpu && (a->period || !event_list_is_of_counters(&a->events)))
		return refuse_call("--off-cpu is beside counters by frequency, without -c");
	if (a->also_copy && a->events.count > 1)
		return refuse_call("--also-copy compares the samples of one event");
	recorded_walk(a, &record.options);
	tell_call_graph(a);
	record.words = command_line(a);
	catch_signals(a);
	r = record_until_end(&record);
	recording_close(record.recording);
	name_recorder_close(record.names);
	recorded_profile_close(&record.profile);
	area_reader_close(record.options.area);
	free(record.words);
	return r;
}
