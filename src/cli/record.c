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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/kept_names.h"
#include "cli/name_keeper.h"
#include "cli/unwind_option.h"
#include "cli/workload.h"
#include "export/safe_text.h"
#include "profile/recorder.h"

#define DEFAULT_FREQUENCY 999
/*
 * The kernel's limit: a record's size is 16 bits wide.  Only what a stack has
 * is copied, so the limit costs deep stacks something and shallow ones nothing.
 */
#define MAX_STACK 65528

static const char usage[] =
	"usage: bobbin record [OPTIONS] [--] COMMAND [ARGUMENTS]\n"
	"       bobbin record [OPTIONS] -p PID\n"
	"\n"
	"Sample a program, its threads and all that it starts; unwind each sample by the\n"
	"tables that the program's files have; write call chains to a file that 'bobbin\n"
	"report' and 'perf report' read.  Without a command, Ctrl-C ends the recording.\n"
	"\n"
	"  -F, --freq HZ          samples a second and CPU (999)\n"
	"  -p, --pid PID          sample a running process\n"
	"  -o, --output FILE      file to write (perf.data); an older one is kept as FILE.old\n"
	"      --stack-size N     look at N bytes of the stack at most (65528)\n"
	"      --no-names         keep no names of functions in the recording\n"
	"      --max-stack N      keep N frames of a stack at most (1024): of a deeper one the\n"
	"                         innermost three quarters and the outermost quarter\n" UNWIND_USAGE
	"  -q, --quiet            say nothing but errors\n"
	"  -h, --help             show this help\n"
	"\n"
	"The exit status is the command's.\n";

struct record {
	struct recorder_options options;
	char **command;
	char **argv;
	bool quiet;
	struct workload workload;
	int pidfd; /* of the process of -p */
	bool no_names;
	struct name_keeper *names;
	struct recorder *recorder;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int signal)
{
	interrupted = signal;
}

static int parse(int argc, char **argv, struct record *record)
{
	enum {
		STACK_SIZE = 256,
		NO_NAMES,
		MAX_FRAMES
	};
	static const struct option longs[] = {
		{"freq", required_argument, NULL, 'F'},
		{"pid", required_argument, NULL, 'p'},
		{"output", required_argument, NULL, 'o'},
		{"stack-size", required_argument, NULL, STACK_SIZE},
		{"no-names", no_argument, NULL, NO_NAMES},
		{"max-stack", required_argument, NULL, MAX_FRAMES},
		UNWIND_OPTIONS,
		{"quiet", no_argument, NULL, 'q'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	uint64_t n;
	int c;

	while ((c = getopt_long(argc, argv, "+F:p:o:qh", longs, NULL)) != -1) {
		switch (c) {
		case 'F':
			if (!parse_number("-F", optarg, 1, 100000, &n))
				return EXIT_USAGE;
			record->options.frequency = (uint32_t)n;
			break;
		case 'p':
			if (!parse_number("-p", optarg, 1, INT32_MAX, &n))
				return EXIT_USAGE;
			record->options.pid = (pid_t)n;
			break;
		case 'o':
			record->options.path = optarg;
			break;
		case STACK_SIZE:
			if (!parse_number("--stack-size", optarg, 8, MAX_STACK, &n))
				return EXIT_USAGE;
			record->options.stack_bytes = (uint32_t)n & ~7u;
			break;
		case NO_NAMES:
			record->no_names = true;
			break;
		case MAX_FRAMES:
			if (!parse_number("--max-stack", optarg, 2, BOBBIN_MAX_DEPTH, &n))
				return EXIT_USAGE;
			record->options.max_stack = (uint32_t)n;
			break;
		case 'q':
			record->quiet = true;
			break;
		case 'h':
			exit(show_help(&record_command));
		default:
			if (unwind_option(c, optarg, &record->options.unwind))
				break;
			return show_usage(&record_command);
		}
	}
	if (optind < argc)
		record->command = argv + optind;
	if (!record->command == !record->options.pid) {
		complain(record->command ? "a command and -p exclude each other"
					 : "a command to run, or -p PID, is needed");
		return show_usage(&record_command);
	}
	return 0;
}

static int paranoid_level(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level = -1;

	if (f) {
		if (fscanf(f, "%d", &level) != 1)
			level = -1;
		fclose(f);
	}
	return level;
}

static void complain_sampler(const struct record *record, int error)
{
	pid_t pid = record->options.pid;

	/* up to level 2, everybody may sample what is theirs */
	if (error == -EACCES && !record->command && paranoid_level() <= 2)
		complain("process %d: not allowed to sample it: be its owner or root, or give "
			 "bobbin CAP_PERFMON",
			 pid);
	else if (error == -EACCES || error == -EPERM)
		complain("no permission to sample (kernel.perf_event_paranoid is %d): run as root, "
			 "give bobbin CAP_PERFMON, or allow it with "
			 "'sysctl kernel.perf_event_paranoid=2'",
			 paranoid_level());
	else if (error == -ESRCH)
		complain("process %d: no such process", pid);
	else if (error == -EMFILE)
		complain("perf_event_open: too many open files; raise 'ulimit -n'");
	else
		complain("perf_event_open: %s", strerror(-error));
}

static void complain_open(const struct record *record, enum recorder_stage stage, int error)
{
	switch (stage) {
	case RECORDER_SAMPLER:
		complain_sampler(record, error);
		break;
	case RECORDER_OUTPUT:
		complain_file(record->options.path, error, NULL);
		break;
	case RECORDER_PROCESS:
		complain("process %d: %s", record->options.pid, strerror(-error));
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

static void show_progress(const struct record *record, time_t began)
{
	const struct recorder_stats *s = recorder_stats(record->recorder);

	if (!record->quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "\rbobbin record: %" PRIu64 " samples in %ld s ", s->samples,
			(long)(time(NULL) - began));
}

static bool ended(struct record *record, int *status)
{
	struct pollfd p = {.fd = record->pidfd, .events = POLLIN};

	if (record->command)
		return workload_ended(&record->workload, status);
	return poll(&p, 1, 0) > 0;
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

/* Until the program ends, somebody presses Ctrl-C or writing fails. */
static int sample(struct record *record, int *status)
{
	time_t began = time(NULL), shown = began;
	bool done = false;
	int error = 0;

	while (!done && !error && !interrupted) {
		size_t count;
		int timeout;
		struct pollfd *fds = recorder_pollfds(record->recorder, &count, &timeout);

		poll(fds, count, timeout);
		done = ended(record, status);
		error = recorder_sweep(record->recorder);
		if (time(NULL) != shown) {
			shown = time(NULL);
			show_progress(record, began);
		}
	}
	if (done || !record->command)
		return error;
	end_workload(record, status);
	return error;
}

static void summarise(const struct record *record, const struct recorder_stats *s)
{
	uint64_t complete = s->reasons[BOBBIN_OUTERMOST];
	struct stat st;

	if (record->quiet)
		return;
	if (isatty(STDERR_FILENO))
		fputc('\r', stderr);
	if (stat(record->options.path, &st))
		st.st_size = 0;
	fprintf(stderr,
		"bobbin record: %" PRIu64 " samples, %.1f %% of %" PRIu64
		" user stacks complete, %" PRIu64 " records lost; ",
		s->samples, s->user ? 100.0 * (double)complete / (double)s->user : 100.0, s->user,
		s->lost);
	safe_text_plain(stderr, record->options.path);
	fprintf(stderr, ", %.2f MiB\n", (double)st.st_size / (1 << 20));
	for (int i = 0; i < BOBBIN_REASON_COUNT; i++)
		if (s->reasons[i] && i != BOBBIN_OUTERMOST)
			fprintf(stderr, "  %8" PRIu64 " ended early: %s\n", s->reasons[i],
				bobbin_reason_str((enum bobbin_reason)i));
	if (s->deep)
		fprintf(stderr,
			"  %8" PRIu64 " have more than %" PRIu32
			" frames: the inner and the outer ones are kept\n",
			s->deep, record->options.max_stack);
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
	if (s->left_out)
		fprintf(stderr,
			"  %8" PRIu64
			" pieces of registered code were left out: there are too many\n",
			s->left_out);
	if (s->given_up)
		fprintf(stderr, "  %8u processes' memories, or files, did not answer in time\n",
			s->given_up);
	if (s->broken)
		fprintf(stderr, "  %8" PRIu64 " records could not be used\n", s->broken);
}

static int exit_status(const struct record *record, int status)
{
	if (!record->command)
		return 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int open_recorder(struct record *record)
{
	enum recorder_stage stage;
	int error;

	error = record->no_names ? 0 : name_keeper_open(&record->names);
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

static int start(struct record *record)
{
	int error;

	if (!record->command) {
		record->pidfd = (int)syscall(SYS_pidfd_open, record->options.pid, 0);
		if (record->pidfd < 0) {
			complain("process %d: %s", record->options.pid, strerror(errno));
			return 1;
		}
		return open_recorder(record);
	}

	error = workload_prepare(record->command, &record->workload);
	if (error) {
		complain("fork: %s", strerror(-error));
		return 1;
	}
	record->options.pid = record->workload.pid;
	record->options.enable_on_exec = true;
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

static int run(int argc, char **argv)
{
	struct record record = {
		.options =
			{
				.path = "perf.data",
				.frequency = DEFAULT_FREQUENCY,
				.stack_bytes = MAX_STACK,
				.max_stack = BOBBIN_MAX_DEPTH,
				.version = BOBBIN_VERSION,
				.argv = (const char *const *)argv,
				.unwind = unwind_defaults(),
			},
	};
	struct recorder_stats stats;
	int r, error, status = 0;

	r = parse(argc, argv, &record);
	if (r)
		return r;
	catch_signals();
	r = start(&record);
	if (r)
		return r;

	error = sample(&record, &status);
	if (error) {
		recorder_abort(record.recorder);
	} else {
		error = recorder_finish(record.recorder, &stats);
	}
	name_keeper_close(record.names);
	if (error) {
		complain_file(record.options.path, error, NULL);
		return 1;
	}
	summarise(&record, &stats);
	return exit_status(&record, status);
}

const struct command record_command = {
	.name = "record",
	.summary = "sample a program and all that it starts",
	.usage = usage,
	.run = run,
};
