/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/command_table.h"
#include "cli/kept_names.h"
#include "cli/name_keeper.h"
#include "cli/workload.h"
#include "export/safe_text.h"
#include "profile/kernel_setting.h"
#include "profile/recorder.h"

#define TARGET_NAME 32
#define BPF_ERROR_SIZE 160

struct record {
	struct recorder_options options;
	struct arguments *arguments;
	char **command; /* NULL: there are @arguments->targets */
	struct workload workload;
	struct name_keeper *names;
	struct recorder_target own; /* of @workload */
	uint64_t began;             /* clock_now() */
	struct recorder *recorder;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int signal)
{
	interrupted = signal;
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
	if (a->call_graph && !a->quiet)
		fprintf(stderr,
			"bobbin record: --call-graph %s: call chains are found by unwind tables "
			"while recording; see --stack-size, --max-stack\n",
			a->call_graph);
}

/* What is asked for, or what the kernel takes if that is less. */
static uint32_t frequency(const struct arguments *a)
{
	uint32_t most = kernel_most_samples();

	if (a->frequency <= most)
		return (uint32_t)a->frequency;
	if (!a->quiet)
		fprintf(stderr,
			"bobbin record: %" PRIu32 " samples per second instead of %" PRIu64
			": kernel.perf_event_max_sample_rate allows no more\n",
			most, a->frequency);
	return most;
}

static int check(const struct arguments *a)
{
	const char *fault = NULL;

	if (a->operand_count && a->targets.count)
		fault = "a command and -p or -t exclude each other";
	else if (a->all && a->targets.count)
		fault = "-a and -p or -t exclude each other";
	else if (!a->operand_count && !a->targets.count && !a->all)
		fault = "a command to run, or -p PID, is needed";
	else if (targets_are_mixed(&a->targets))
		fault = "-p and -t exclude each other";
	else if (a->also_copy && !a->bpf)
		fault = "--also-copy compares with --bpf, which is needed, too";
	if (fault)
		return refuse_call("%s", fault);
	if (strcmp(a->output, "-") || !isatty(STDOUT_FILENO))
		return 0;
	complain_use("-o -: standard output is a terminal, which cannot show a recording");
	return EXIT_USAGE;
}

static int paranoid_level(void)
{
	int64_t level = -1;

	kernel_setting("perf_event_paranoid", &level);
	return (int)level;
}

/* Which of several it was is not known. */
static const char *target_name(const struct record *record, char name[TARGET_NAME])
{
	const struct recorder_target *first = &record->options.targets[0];

	if (record->options.target_count > 1)
		return "one of the processes";
	snprintf(name, TARGET_NAME, "%s %d", first->tid ? "thread" : "process",
		 first->tid ? first->tid : first->pid);
	return name;
}

static void complain_sampler(const struct record *record, int error)
{
	char name[TARGET_NAME];

	if ((error == -EACCES || error == -EPERM) && record->options.all)
		complain("no permission to sample everything (kernel.perf_event_paranoid is %d): "
			 "run as root, or give bobbin CAP_PERFMON",
			 paranoid_level());
	/* up to level 2, everybody may sample what is theirs */
	else if (error == -EACCES && !record->command && paranoid_level() <= 2)
		complain("%s: not allowed to sample it: be its owner or root, or give "
			 "bobbin CAP_PERFMON",
			 target_name(record, name));
	else if (error == -EACCES || error == -EPERM)
		complain("no permission to sample (kernel.perf_event_paranoid is %d): run as root, "
			 "give bobbin CAP_PERFMON, or allow it with "
			 "'sysctl kernel.perf_event_paranoid=2'",
			 paranoid_level());
	else if (error == -ESRCH)
		complain("%s: no such process", target_name(record, name));
	else if (error == -EMFILE)
		complain("perf_event_open: too many open files; raise 'ulimit -n'");
	else
		complain("perf_event_open: %s", strerror(-error));
}

static void complain_walk(int error)
{
	char why[BPF_ERROR_SIZE];

	complain("--bpf: %s", kernel_walk_error(error, why, sizeof(why)));
}

static void complain_open(const struct record *record, enum recorder_stage stage, int error)
{
	char name[TARGET_NAME];

	switch (stage) {
	case RECORDER_SAMPLER:
		complain_sampler(record, error);
		break;
	case RECORDER_KERNEL_WALK:
		complain_walk(error);
		break;
	case RECORDER_OUTPUT:
		complain_file(record->options.path, error, NULL);
		break;
	case RECORDER_PROCESS:
		complain("%s: %s", target_name(record, name), strerror(-error));
		break;
	default:
		complain("%s", strerror(-error));
	}
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal}, old;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
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

static bool ended(struct record *record, int *status)
{
	if (record->command)
		return workload_ended(&record->workload, status);
	if (record->options.all)
		return false;
	return targets_ended(&record->arguments->targets);
}

/*
 * Sampling is over before the program is: ask it to end, as perf does, and
 * insist if the user does.
 */
static void end_workload(const struct record *record, int *status)
{
	interrupted = 0;
	recorder_stop(record->recorder);
	kill(record->workload.pid, SIGTERM);
	while (waitpid(record->workload.pid, status, 0) < 0 && errno == EINTR)
		if (interrupted)
			kill(record->workload.pid, SIGKILL);
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
	complain("%s: %s: no more is recorded after %" PRIu64 " samples%s", record->options.path,
		 failure(error), recorder_stats(record->recorder)->samples,
		 record->command ? "; the program runs on" : "");
}

/* Until the program ends or somebody presses Ctrl-C. */
static void sample(struct record *record, int *status)
{
	time_t shown = clock_seconds();
	bool done = false;
	int error = 0;

	while (!done && !interrupted && (!error || record->command)) {
		size_t count;
		int timeout;
		struct pollfd *fds = recorder_pollfds(record->recorder, &count, &timeout);

		poll(fds, error ? 0 : count, timeout);
		done = ended(record, status);
		if (error)
			continue;
		error = recorder_sweep(record->recorder);
		if (error)
			tell_failure(record, error);
		if (clock_seconds() != shown) {
			shown = clock_seconds();
			show_progress(record);
		}
	}
	if (!done && record->command)
		end_workload(record, status);
}

/* Why there are none. */
static void tell_emptiness(const struct record *record)
{
	uint64_t ms = (clock_now() - record->began) / 1000000,
		 missed = targets_missed_ms(&record->arguments->targets);
	struct rusage used;

	getrusage(RUSAGE_CHILDREN, &used);
	if (record->command)
		fprintf(stderr,
			"no samples: the program ran for %" PRIu64 " ms and used %.1f ms of CPU "
			"time; at -F %" PRIu32 " each sample takes %.1f ms",
			ms,
			(double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
				(double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3,
			record->options.frequency, 1e3 / record->options.frequency);
	else
		fprintf(stderr, "no samples: in %" PRIu64 " ms nothing ran that was to be sampled",
			ms);
	if (missed)
		fprintf(stderr,
			"; %zu children, which ran already and are not sampled, used %" PRIu64
			" ms of CPU time",
			record->arguments->targets.child_count, missed);
}

static void tell_samples(const struct record *record, const struct recorder_stats *s)
{
	if (!s->samples)
		tell_emptiness(record);
	else if (!s->user)
		fprintf(stderr, "%" PRIu64 " samples, none with a user stack", s->samples);
	else
		fprintf(stderr, "%" PRIu64 " samples, %.1f %% of %" PRIu64 " user stacks complete",
			s->samples, percent(s->reasons[BOBBIN_REASON_OUTERMOST], s->user), s->user);
	fprintf(stderr, ", %" PRIu64 " records lost; ", s->lost);
	safe_text_plain(stderr, record->options.path);
}

static void tell_file(const struct record *record, const struct recorder_stats *s)
{
	struct stat st;

	if (strcmp(record->options.path, "-") && !stat(record->options.path, &st) &&
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

static void tell_compiled(const struct record *record, const struct recorder_stats *s)
{
	if (s->told) {
		fprintf(stderr,
			"  %8" PRIu64 " functions that were compiled at run time are named in ",
			s->told);
		safe_text_plain(stderr, record->options.path);
		fputs(".jit\n", stderr);
	}
	if (s->told_error)
		fprintf(stderr,
			"  names of functions that were compiled at run time are missing: %s\n",
			strerror(-s->told_error));
}

/* What it has cost is known where kernel.bpf_stats_enabled is set. */
static void tell_walks(const struct record *record, const struct recorder_stats *s)
{
	const struct kernel_walk_stats *k = &s->kernel;

	if (!record->options.kernel_walk)
		return;
	fprintf(stderr, "  %8" PRIu64 " stacks were walked in the kernel\n", s->walked);
	if (k->runs && k->frames)
		fprintf(stderr, "  %8.1f ns a run of its program, %.1f ns a frame of %" PRIu64 "\n",
			(double)k->run_ns / (double)k->runs, (double)k->run_ns / (double)k->frames,
			k->frames);
	tell_count(k->late, "of them when their pages had been read in");
	tell_count(k->roomless,
		   "processes had more mappings than there was room for in the kernel");
	tell_count(k->roomless_files, "files have no table in the kernel: there is no room");
	if (record->options.also_copy)
		fprintf(stderr,
			"  %8" PRIu64 " were compared with user space's walk: %" PRIu64 " differ\n",
			s->compared, s->differ);
	tell_count(s->in_part, "of them in part: the copies of their stacks end early");
	tell_count(s->remapped, "are cut where mappings had changed");
}

static void summarise(const struct record *record, const struct recorder_stats *s)
{
	if (record->arguments->quiet)
		return;
	if (isatty(STDERR_FILENO))
		fputc('\r', stderr);
	fputs("bobbin record: ", stderr);
	tell_samples(record, s);
	tell_file(record, s);
	for (int i = 0; i < BOBBIN_REASON_COUNT; i++)
		if (s->reasons[i] && i != BOBBIN_REASON_OUTERMOST)
			fprintf(stderr, "  %8" PRIu64 " ended early: %s\n", s->reasons[i],
				bobbin_reason_str((enum bobbin_reason)i));
	if (s->deep)
		fprintf(stderr,
			"  %8" PRIu64 " have more than %" PRIu32
			" frames: the inner and the outer ones are kept\n",
			s->deep, record->options.max_stack);
	tell_walks(record, s);
	tell_compiled(record, s);
	tell_count(s->left_out, "pieces of registered code were left out: there are too many");
	tell_count(s->given_up, "processes' memories, or files, did not answer in time");
	tell_count(s->broken, "records could not be used");
}

/* The command's; where that is 0, a recording that is not whole is a failure. */
static int exit_status(const struct record *record, int status, int error)
{
	int own = error ? 1 : 0;

	if (!record->command)
		return own;
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WEXITSTATUS(status) ? WEXITSTATUS(status) : own;
}

static int open_recorder(struct record *record)
{
	enum recorder_stage stage;
	int error;

	error = record->arguments->no_names ? 0 : name_keeper_open(&record->names);
	if (error) {
		complain("%s", strerror(-error));
		return 1;
	}
	if (record->names) {
		record->options.names = name_keeper_hooks(record->names);
		record->options.names_feature = KEPT_NAMES_FEATURE;
	}
	error = recorder_open(&record->options, &stage, &record->recorder);
	if (!error)
		return 0;
	complain_open(record, stage, error);
	return 1;
}

static int attach(struct record *record)
{
	int r;

	if (record->options.all)
		return open_recorder(record);
	r = targets_open(&record->arguments->targets);

	if (r)
		return r;
	record->options.targets = record->arguments->targets.all;
	record->options.target_count = record->arguments->targets.count;
	if (!record->arguments->quiet)
		targets_tell_children(&record->arguments->targets);
	return open_recorder(record);
}

static int start(struct record *record)
{
	int error;

	if (!record->command)
		return attach(record);
	error = workload_prepare(record->command, is_stdout(record->options.path),
				 &record->workload);
	if (error) {
		complain("fork: %s", strerror(-error));
		return 1;
	}
	if (!record->options.all) {
		record->own.pid = record->workload.pid;
		record->options.targets = &record->own;
		record->options.target_count = 1;
		record->options.enable_on_exec = true;
	}
	if (open_recorder(record)) {
		workload_cancel(&record->workload);
		return 1;
	}
	error = workload_start(&record->workload);
	if (!error)
		return 0;
	recorder_abort(record->recorder);
	complain("%s: %s", record->command[0], strerror(-error));
	return error == -ENOENT ? 127 : 126;
}

/* As it was typed; NULL without memory.  Argument 0 is two words of it. */
static char **command_line(const struct arguments *a)
{
	char **words = calloc((size_t)a->argc + 2, sizeof(*words));

	if (!words)
		return NULL;
	words[0] = (char *)"bobbin";
	words[1] = (char *)"record";
	memcpy(words + 2, a->argv + 1, (size_t)(a->argc - 1) * sizeof(*words));
	return words;
}

static int record_until_end(struct record *record)
{
	struct recorder_stats stats;
	int error, status = 0, r = start(record);

	if (r)
		return r;
	record->began = clock_now();
	sample(record, &status);
	error = recorder_finish(record->recorder, &stats);
	if (error)
		complain_file(record->options.path, error, NULL);
	else
		summarise(record, &stats);
	return exit_status(record, status, error ? error : stats.cut);
}

int run_record(struct arguments *a)
{
	struct record record = {
		.arguments = a,
		.command = a->operand_count ? a->operands : NULL,
		.options =
			{
				.path = a->output,
				.frequency = frequency(a),
				.stack_bytes = (uint32_t)a->stack_bytes & ~7u,
				.max_stack = (uint32_t)a->max_stack,
				.version = BOBBIN_VERSION,
				.all = a->all,
				.kernel_walk = a->bpf,
				.also_copy = a->also_copy,
				.unwind = a->unwind,
			},
	};
	char **words;
	int r = check(a);

	if (r)
		return r;
	tell_call_graph(a);
	words = command_line(a);
	record.options.argv = (const char *const *)words;
	catch_signals();
	r = record_until_end(&record);
	name_keeper_close(record.names);
	free(words);
	return r;
}
