/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/recorded.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/live_process.h"
#include "profile/kernel_probe.h"
#include "profile/tracepoint.h"

#define TARGET_NAME 32
/* How long a command that was told to end may take before that is said; how often it is looked. */
#define END_NS NS_PER_SECOND
#define LOOK_MS 10
/* Sections of files are copied and given back: what they had must not stay with the process. */
#define MAPPED_FROM (64 << 10)

static void set_streams(enum workload_streams streams)
{
	int nothing;

	if (streams == WORKLOAD_SPARE_STDOUT)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	if (streams != WORKLOAD_NO_STREAMS)
		return;
	nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (nothing >= 0)
			dup2(nothing, fd);
}

/* In the child: wait for the word, then become the program. */
static void run(char **argv, const struct preload *preload, int go, int failed)
{
	char word;
	int error;

	while (read(go, &word, 1) < 0 && errno == EINTR)
		;
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	file_limit_restore();
	error = preload ? preload_set(preload) : 0;
	if (!error) {
		execvp(argv[0], argv);
		error = errno;
	}
	if (write(failed, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

/* Fork a child that waits.  0 or a negative errno. */
static int workload_prepare(const struct recorded *recorded, enum workload_streams streams,
			    struct workload *ret)
{
	int go[2], failed[2], error;

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(failed, O_CLOEXEC)) {
		error = -errno;
		goto out_go;
	}
	ret->pid = fork();
	if (ret->pid < 0) {
		error = -errno;
		goto out;
	}
	if (!ret->pid) {
		close(go[1]);
		close(failed[0]);
		set_streams(streams);
		run(recorded->command, recorded->preload, go[0], failed[1]);
	}
	close(go[0]);
	close(failed[1]);
	ret->go = go[1];
	ret->failed = failed[0];
	return 0;
out:
	close(failed[0]);
	close(failed[1]);
out_go:
	close(go[0]);
	close(go[1]);
	return error;
}

/* Let it call exec.  0, or the negative errno of exec; then it is reaped. */
static int workload_start(struct workload *workload)
{
	int error = 0;
	ssize_t n;

	close(workload->go);
	/* a successful exec closes the other end */
	while ((n = read(workload->failed, &error, sizeof(error))) < 0 && errno == EINTR)
		;
	close(workload->failed);
	if (n != sizeof(error))
		return 0;
	waitpid(workload->pid, NULL, 0);
	return -error;
}

/* End a child that has not been started. */
static void workload_cancel(struct workload *workload)
{
	kill(workload->pid, SIGKILL);
	waitpid(workload->pid, NULL, 0);
	close(workload->go);
	close(workload->failed);
}

/* Whether it has ended; *@status as from waitpid(2). */
static bool workload_ended(struct workload *workload, int *status)
{
	return wait4(workload->pid, status, WNOHANG, &workload->used) == workload->pid;
}

const char *recorded_fault(const struct arguments *a)
{
	if (a->all && a->targets.count)
		return "-a and -p or -t exclude each other";
	if (a->scope.cgroup_names && a->targets.count)
		return "--cgroup and -p or -t exclude each other";
	if (a->scope.by_user && a->targets.count)
		return "--user and -p or -t exclude each other";
	if (a->bpf && a->no_bpf)
		return "--bpf and --no-bpf exclude each other";
	return targets_are_mixed(&a->targets) ? "-p and -t exclude each other" : NULL;
}

/* As perf: without a process, parts are parts of everything, also where a command runs. */
bool recorded_is_all(const struct arguments *a)
{
	const struct scope *part = &a->scope;

	return a->all || part->cgroup_names || part->by_user ||
	       (part->cpus.some && !a->targets.count);
}

bool recorded_find_events(struct arguments *a)
{
	if (a->event_names &&
	    !event_list_parse(&a->events, "-e", a->event_names, a->unwind.debug_path))
		return false;
	return event_list_complete(&a->events, a->period, a->has_frequency);
}

uint32_t recorded_frequency(const struct arguments *a)
{
	uint32_t most = kernel_most_samples();

	if (a->frequency <= most)
		return (uint32_t)a->frequency;
	if (!a->quiet)
		complain_use("%" PRIu32 " samples per second instead of %" PRIu64
			     ": kernel.perf_event_max_sample_rate allows no more",
			     most, a->frequency);
	return most;
}

static int attach(struct arguments *a, struct recorder_options *options)
{
	int r = targets_open(&a->targets);

	if (r)
		return r;
	options->targets = a->targets.all;
	options->target_count = a->targets.count;
	if (!a->quiet)
		targets_tell_children(&a->targets);
	return 0;
}

/* What is to be sampled: everything, what was named, or the command, which waits. */
static int choose_targets(struct recorded *recorded, struct recorder_options *options)
{
	if (options->all)
		return 0;
	if (recorded->arguments->targets.count)
		return attach(recorded->arguments, options);
	recorded->own.pid = recorded->workload.pid;
	options->targets = &recorded->own;
	options->target_count = 1;
	options->enable_on_exec = true;
	return 0;
}

static int open_scope(struct scope *scope, const struct event_list *events,
		      struct recorder_options *options)
{
	int r = scope_open(scope);

	options->events = events->events;
	options->event_count = events->count;
	options->cpus = &scope->cpus;
	options->cgroups = scope->cgroups;
	options->cgroup_count = scope->cgroup_count;
	options->by_user = scope->by_user;
	options->user = scope->user;
	return r;
}

int recorded_start(struct recorded *recorded, struct recorder_options *options,
		   enum workload_streams streams)
{
	int error = open_scope(&recorded->arguments->scope, &recorded->arguments->events, options);

	mallopt(M_MMAP_THRESHOLD, MAPPED_FROM);
	if (error)
		return error;
	if (!recorded->command) {
		error = choose_targets(recorded, options);
		return error ? error : recorded->open(recorded->ctx);
	}
	error = workload_prepare(recorded, streams, &recorded->workload);
	if (error) {
		complain("fork: %s", strerror(-error));
		return 1;
	}
	error = choose_targets(recorded, options);
	error = error ? error : recorded->open(recorded->ctx);
	if (error) {
		workload_cancel(&recorded->workload);
		return error;
	}
	error = workload_start(&recorded->workload);
	if (!error)
		return 0;
	recorded->abort(recorded->ctx);
	complain("%s: %s", recorded->command[0], strerror(-error));
	return error == -ENOENT ? 127 : 126;
}

bool recorded_ended(struct recorded *recorded, int *status)
{
	if (recorded->command)
		return workload_ended(&recorded->workload, status);
	return recorded_lost_targets(recorded);
}

bool recorded_lost_targets(const struct recorded *recorded)
{
	const struct targets *targets = &recorded->arguments->targets;

	return targets->count && targets_ended(targets);
}

/* Who presses Ctrl-C knows what they wait for. */
static void tell_wait(const struct recorded *recorded)
{
	if (!recorded->arguments->quiet)
		complain_use("%s (process %d) was told to end and has not yet; Ctrl-C kills it",
			     recorded->command[0], recorded->workload.pid);
}

void recorded_end_command(struct recorded *recorded, volatile sig_atomic_t *interrupted,
			  int *status)
{
	sig_atomic_t first = *interrupted;
	uint64_t since = clock_now();
	bool told = false, killed = false;

	*interrupted = 0;
	kill(recorded->workload.pid, SIGTERM);
	/* it may have been stopped */
	kill(recorded->workload.pid, SIGCONT);
	while (!workload_ended(&recorded->workload, status)) {
		bool is_late = clock_now() - since > END_NS;

		if (*interrupted && !killed) {
			kill(recorded->workload.pid, SIGKILL);
			killed = true;
			since = clock_now();
		} else if (killed && is_late) {
			/* what it waits for cannot be interrupted */
			*status = SIGKILL;
			break;
		} else if (is_late && !told) {
			tell_wait(recorded);
			told = true;
		}
		poll(NULL, 0, LOOK_MS);
	}
	*interrupted = first;
}

static int paranoid_level(void)
{
	int64_t level = -1;

	kernel_setting("perf_event_paranoid", &level);
	return (int)level;
}

/* Which of several it was is not known. */
static const char *target_name(const struct recorder_options *options, char name[TARGET_NAME])
{
	const struct recorder_target *first = &options->targets[0];

	if (options->target_count > 1)
		return "one of the processes";
	if (!options->target_count)
		return options->all ? "everything" : "the command";
	snprintf(name, TARGET_NAME, "%s %d", first->tid ? "thread" : "process",
		 first->tid ? first->tid : first->pid);
	return name;
}

static bool have_probe(const struct recorder_options *options)
{
	for (size_t i = 0; i < options->event_count; i++)
		if (options->events[i].probe)
			return true;
	return false;
}

/* Nobody's settings are in the way of what everybody may do up to level 2. */
static void complain_forbidden(const struct recorder_options *options)
{
	if (have_probe(options))
		complain(
			"-e: no permission to set probes: run as root, or give bobbin CAP_PERFMON");
	else if (paranoid_level() <= 2)
		complain("no permission to sample, although kernel.perf_event_paranoid is %d: a "
			 "container's filter of system calls, or a security module, forbids "
			 "perf_event_open(2); --in-process needs none",
			 paranoid_level());
	else
		complain("no permission to sample (kernel.perf_event_paranoid is %d): run as root, "
			 "give bobbin CAP_PERFMON, or allow it with "
			 "'sysctl kernel.perf_event_paranoid=2'; --in-process needs none",
			 paranoid_level());
}

static void complain_sampler(const struct recorder_options *options, int error)
{
	char name[TARGET_NAME];

	if ((error == -EACCES || error == -EPERM) && options->all)
		complain("no permission to sample everything (kernel.perf_event_paranoid is %d): "
			 "run as root, or give bobbin CAP_PERFMON",
			 paranoid_level());
	/* up to level 2, everybody may sample what is theirs */
	else if (error == -EACCES && !options->enable_on_exec && paranoid_level() <= 2 &&
		 !have_probe(options))
		complain("%s: not allowed to sample it: be its owner or root, or give "
			 "bobbin CAP_PERFMON",
			 target_name(options, name));
	else if (error == -EACCES || error == -EPERM)
		complain_forbidden(options);
	else if (error == -ESRCH && options->target_count == 1 &&
		 complain_nothing_there("process", options->targets[0].pid))
		return;
	else if (error == -ESRCH)
		complain("%s: no such process", target_name(options, name));
	else if (error == -ENOENT || error == -EOPNOTSUPP)
		complain("this machine has no counter of that event; see 'bobbin doctor'");
	else if (error == -ENODEV)
		complain("none of the CPUs of -C runs");
	else if (error == -EINVAL && options->walk == RECORDER_DEFERS)
		complain("--call-graph fp,defer: this kernel does not walk stacks on the way to "
			 "user mode; Linux 6.19 and newer do");
	else if (error == -EMFILE)
		complain("perf_event_open: too many open files; raise 'ulimit -n'");
	else
		complain("perf_event_open: %s", strerror(-error));
}

static void complain_switches(int error)
{
	if (error == -EACCES || error == -EPERM)
		complain(
			"--off-cpu: where threads leave the CPU is in the kernel, which may not be "
			"sampled (kernel.perf_event_paranoid is %d): run as root, give bobbin "
			"CAP_PERFMON, or allow it with 'sysctl kernel.perf_event_paranoid=1'",
			paranoid_level());
	else
		complain("--off-cpu: perf_event_open: %s", strerror(-error));
}

static void complain_wakeups(int error)
{
	char why[WALK_ERROR_SIZE];

	if (error == -ENXIO)
		complain("--wakers does not work inside a process-ID namespace (container)");
	else
		complain("--wakers: %s",
			 tracepoint_error(error, WAKEUPS_TRACEPOINT, why, sizeof(why)));
}

static void complain_walk(int error)
{
	char why[WALK_ERROR_SIZE];

	complain("--bpf: %s", probe_walk_error(error, why, sizeof(why)));
}

void complain_recorder(const struct recorder_options *options, enum recorder_stage stage, int error)
{
	char name[TARGET_NAME];

	switch (stage) {
	case RECORDER_SAMPLER:
		complain_sampler(options, error);
		break;
	case RECORDER_SWITCHES:
		complain_switches(error);
		break;
	case RECORDER_WAKEUPS:
		complain_wakeups(error);
		break;
	case RECORDER_KERNEL_WALK:
		complain_walk(error);
		break;
	case RECORDER_PROCESS:
		complain("%s: %s", target_name(options, name), strerror(-error));
		break;
	default:
		complain("%s", strerror(-error));
	}
}

static enum recorder_walk walk_of(const struct arguments *a)
{
	if (a->bpf)
		return RECORDER_WALKS_IN_KERNEL;
	if (a->defer)
		return RECORDER_DEFERS;
	if (a->no_bpf || a->scope.cgroup_names)
		return RECORDER_COPIES;
	return RECORDER_TRIES_KERNEL;
}

void recorded_walk(const struct arguments *a, struct recorder_options *options)
{
	options->stack_bytes = (uint32_t)a->stack_bytes & ~7u;
	options->max_stack = (uint32_t)a->max_stack;
	options->all = recorded_is_all(a);
	options->off_cpu = a->off_cpu;
	options->wait_ns = a->off_cpu_ms * 1000000;
	options->walk = walk_of(a);
	options->unwind = a->unwind;
	options->infer = a->infer;
	/* who stops for long to analyse code loses records */
	options->unwind.code_later = true;
}
