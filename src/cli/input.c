/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/input.h"

#include "base/file_range.h"
#include "base/path_list.h"
#include "base/spool_file.h"
#include "cli/command.h"
#include "profile/perf_format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* More than that is not kept. */
#define SPOOL_MAX ((uint64_t)16 << 30)

/* A recording that comes through a pipe, kept while it is read. */
struct spool {
	int fd;        /* of the file, or -1 */
	char path[32]; /* under which it can be opened */
};

#define CHUNK (1 << 16)

static ssize_t read_some(int fd, char *to, size_t size)
{
	ssize_t n;

	while ((n = read(fd, to, size)) < 0 && errno == EINTR)
		;
	return n;
}

/* Enough to see what it is; less at the end. */
static ssize_t read_start(int fd, char *to)
{
	ssize_t all = 0, n;

	while (all < (ssize_t)sizeof(uint64_t)) {
		n = read_some(fd, to + all, CHUNK - (size_t)all);
		if (n < 0)
			return n;
		if (!n)
			break;
		all += n;
	}
	return all;
}

/* Whether it is worth reading to the end. */
static bool is_recording(const char *bytes, ssize_t size)
{
	uint64_t magic;

	if (size < (ssize_t)sizeof(magic))
		return false;
	memcpy(&magic, bytes, sizeof(magic));
	return magic == PERF_FILE_MAGIC;
}

/* What could not be kept is said; the reader sees that the end is missing. */
static int copy_recording(int from, int to, const char *path)
{
	char bytes[CHUNK];
	uint64_t all = 0;
	ssize_t n = read_start(from, bytes);
	bool more = is_recording(bytes, n);
	int r = 0;

	for (; n > 0 && !r; n = more ? read_some(from, bytes, sizeof(bytes)) : 0) {
		all += (uint64_t)n;
		if (all > SPOOL_MAX) {
			complain("%s: only the first %u GiB are read", path,
				 (unsigned int)(SPOOL_MAX >> 30));
			return 0;
		}
		r = file_append(to, bytes, (size_t)n);
	}
	if (r)
		complain("%s: not all of it can be kept in %s: %s", path, spool_folder(),
			 strerror(-r));
	if (n >= 0)
		return 0;
	complain("%s: %s", path, strerror(errno));
	return 1;
}

static void name_descriptor(int fd, struct spool *spool)
{
	snprintf(spool->path, sizeof(spool->path), "/proc/self/fd/%d", fd);
}

static int keep_recording(int from, const char *path, struct spool *spool)
{
	spool->fd = spool_file_open();
	if (spool->fd < 0) {
		complain("%s: %s", spool_folder(), strerror(-spool->fd));
		return 1;
	}
	name_descriptor(spool->fd, spool);
	return copy_recording(from, spool->fd, path);
}

/* Another user may have made it so that we misread it. */
static bool refuse_strangers(const char *path, int fd, bool any_owner)
{
	struct stat st;

	if (any_owner || fstat(fd, &st) || !st.st_uid || st.st_uid == geteuid())
		return false;
	complain("%s: belongs to user %u, who is neither you nor root; -f reads it all the same",
		 path, st.st_uid);
	return true;
}

/* What was looked at is what is read, whatever @path leads to by then. */
static int hold_file(const char *path, bool any_owner, struct spool *spool, const char **ret_path)
{
	struct stat st;

	spool->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (spool->fd < 0 || fstat(spool->fd, &st) || !S_ISREG(st.st_mode))
		return 0; /* whoever opens it says why */
	if (refuse_strangers(path, spool->fd, any_owner))
		return 1;
	name_descriptor(spool->fd, spool);
	if (!access(spool->path, F_OK))
		*ret_path = spool->path;
	return 0;
}

static int keep_pipe(const char *path, bool any_owner, struct spool *spool)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r;

	if (fd < 0) {
		complain("%s: %s", path, strerror(errno));
		return 1;
	}
	r = refuse_strangers(path, fd, any_owner) ? 1 : keep_recording(fd, path, spool);
	close(fd);
	return r;
}

static int keep_input(struct spool *spool)
{
	if (!isatty(STDIN_FILENO))
		return keep_recording(STDIN_FILENO, "-", spool);
	complain_use("-i -: standard input is a terminal");
	return 1;
}

/*
 * Make what @path names a file that can be mapped: "-", standard input, and pipes are read
 * to their end into a file without a name in $TMPDIR, or /var/tmp.  Unless @any_owner, what
 * belongs to another user, but root, is refused.  *@ret_path: what to open.  0, or 1 after a
 * complaint.  spool_close() follows in any case.
 */
static int spool_open(const char *path, bool any_owner, struct spool *spool, const char **ret_path)
{
	bool is_input = !strcmp(path, "-");
	struct stat st;
	int r;

	spool->fd = -1;
	*ret_path = is_input ? "/proc/self/fd/0" : path;
	if (is_input ? fstat(STDIN_FILENO, &st) : stat(path, &st))
		return 0; /* whoever opens it says why */
	if (is_input && S_ISREG(st.st_mode))
		return 0;
	if (!is_input && !S_ISFIFO(st.st_mode))
		return hold_file(path, any_owner, spool, ret_path);
	r = is_input ? keep_input(spool) : keep_pipe(path, any_owner, spool);
	*ret_path = spool->path;
	return r;
}

static void spool_close(struct spool *spool)
{
	if (spool->fd >= 0)
		close(spool->fd);
	spool->fd = -1;
}

static void warn_about_damage(const struct input *input)
{
	const struct perf_reader *reader = session_reader(input->session);
	const struct perf_reader_stats *stats = perf_reader_stats(reader);
	struct bobbin_error err;
	int r;

	if (input->arguments->quiet || input->known)
		return;
	r = session_names_error(input->session, &err);
	if (r)
		complain_file(input->arguments->input, r, &err);
	if (perf_reader_truncated(reader))
		complain("%s: the recording was cut off; showing what is there",
			 input->arguments->input);
	if (stats->lost)
		complain("%s: %" PRIu64 " records were lost while recording",
			 input->arguments->input, stats->lost);
}

static int open_session(struct input *input, const char *path, struct bobbin_error *err)
{
	const struct arguments *a = input->arguments;
	struct session_options options = {
		.unwind = a->unwind, .infer = a->infer, .naming = a->naming};

	if (!a->quiet)
		complain_of_names(&options.naming);
	options.naming.debug_path = a->has_debug_path ? a->unwind.debug_path : NULL;
	return session_open(path, &options, err, &input->session);
}

int input_open(struct input *input)
{
	const struct arguments *a = input->arguments;
	struct bobbin_error err;
	struct spool spool;
	const char *path;
	int r;

	if (spool_open(a->input, a->force, &spool, &path)) {
		spool_close(&spool);
		return 1;
	}
	r = open_session(input, path, &err);
	/* it is mapped, or refused */
	spool_close(&spool);
	if (!accept_file(a->input, r, &err))
		return 1;
	warn_about_damage(input);
	return 0;
}

/* Complain, in one line, of files whose names are not shown: see naming_replaced(). */
static void tell_replaced(const struct naming *naming)
{
	size_t count;
	const char *first = naming_replaced(naming, &count);
	char others[48] = "";

	if (!first)
		return;
	if (count > 1)
		snprintf(others, sizeof(others), " and %zu more", count - 1);
	complain(
		"%s%s: may not be the file that was recorded: no names but those that the recording "
		"kept are shown",
		first, others);
}

int input_close(struct input *input)
{
	struct naming *naming = session_naming(input->session);
	struct naming_loss loss = naming_loss(naming);

	if (!input->arguments->quiet)
		tell_replaced(naming);
	named_stack_fini(&input->stack);
	session_close(input->session);
	input->session = NULL;
	return tell_naming_loss(&loss);
}

/* Once in 4096 samples, and only on a terminal. */
static void show_progress(const struct input *input)
{
	static const uint64_t step = 4096;
	uint64_t all = perf_reader_stats(session_reader(input->session))->samples;

	if (input->arguments->quiet || input->samples % step || !all || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r%3" PRIu64 " %%", 100 * input->samples / all);
}

static void end_progress(const struct input *input)
{
	if (!input->arguments->quiet && input->samples >= 4096 && isatty(STDERR_FILENO))
		fputs("\r     \r", stderr);
}

/* 1, 0 or -ENOMEM. */
static int is_wanted(struct input *input, const struct stack_sample *sample)
{
	const char *event = input->arguments->event;
	int r;

	if ((event && strcmp(event, sample->event)) || !sample_filter_takes(&input->filter, sample))
		return 0;
	if (!sample_filter_names(&input->filter))
		return 1;
	r = named_stack_make(&input->stack, session_naming(input->session), sample);
	return r ? r : sample_filter_takes_stack(&input->filter, &input->stack);
}

static int pass_wanted(void *ctx, const struct stack_sample *sample)
{
	struct input *input = ctx;
	int r;

	if (input->stop && *input->stop)
		return -ECANCELED;
	r = is_wanted(input, sample);
	if (r <= 0)
		return r;
	input->samples++;
	show_progress(input);
	return input->sink->sample(input->ctx, sample);
}

static int pass_record(void *ctx, const struct perf_event *event)
{
	struct input *input = ctx;

	return input->sink->record ? input->sink->record(input->ctx, event) : 0;
}

/* Of those that are asked for there may be none by mistake. */
static bool tell_none(const struct input *input)
{
	const struct arguments *a = input->arguments;
	const struct sample_filter *f = &a->filter;

	if (f->comms || f->pids || f->tids || f->dsos || f->symbols || f->cgroups || f->times.some)
		complain("%s: no samples are what the options ask for", a->input);
	else if (a->event)
		complain("%s: no samples of an event '%s'", a->input, a->event);
	else
		return false;
	return true;
}

static void settle_filter(struct input *input)
{
	uint64_t first = 0, last = 0;

	input->filter = input->arguments->filter;
	if (perf_reader_times(session_reader(input->session), &first, &last))
		sample_times_settle(&input->filter.times, first, last);
}

int input_run(struct input *input, const struct sample_sink *sink, void *ctx)
{
	static const struct sample_sink choosing_sink = {.sample = pass_wanted,
							 .record = pass_record};
	const struct arguments *a = input->arguments;
	struct bobbin_error err = {0};
	int r;

	input->sink = sink;
	input->ctx = ctx;
	settle_filter(input);
	r = session_run(input->session, &choosing_sink, input, &err);
	end_progress(input);
	if (r == -ECANCELED)
		complain("interrupted: no profile is written");
	else if (!r || !ferror(stdout))
		accept_file(a->input, r, &err);
	if (r)
		return 1;
	return !input->samples && tell_none(input);
}

/* of sh(1), for a command that it has not found, or may not run */
#define NOT_FOUND 127
#define NOT_EXECUTED 126

static pid_t pager;

static bool can_show_pages(void)
{
	const char *terminal = getenv("TERM");

	return isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb");
}

static bool is_installed(const char *program)
{
	const char *folders = getenv("PATH"), *folder;
	char path[PATH_MAX];
	size_t length;

	while ((folder = path_list_next(&folders, &length)))
		if (snprintf(path, sizeof(path), "%.*s/%s", (int)length, folder, program) <
			    (int)sizeof(path) &&
		    !access(path, X_OK))
			return true;
	return false;
}

/* What the user chose is theirs to have; NULL: there is none. */
static const char *choose_pager(void)
{
	const char *chosen = getenv("BOBBIN_PAGER");

	chosen = chosen ? chosen : getenv("PAGER");
	if (!chosen)
		return is_installed("less") ? "less" : NULL;
	return *chosen && strcmp(chosen, "cat") ? chosen : NULL;
}

static void run_pager(const char *command, int from)
{
	dup2(from, STDIN_FILENO);
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	/* end at once if it fits on a screen, and leave it there */
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(NOT_FOUND);
}

void pager_start(void)
{
	const char *command = pager || !can_show_pages() ? NULL : choose_pager();
	int ends[2];

	if (!command || pipe2(ends, O_CLOEXEC))
		return;
	fflush(stdout);
	pager = fork();
	if (!pager)
		run_pager(command, ends[0]);
	if (pager > 0) {
		dup2(ends[1], STDOUT_FILENO);
		/* Ctrl-C is for the pager, which outlives nobody who feeds it */
		signal(SIGINT, SIG_IGN);
	} else {
		pager = 0;
	}
	close(ends[0]);
	close(ends[1]);
}

bool pager_end(void)
{
	int status = 0, result;

	if (!pager)
		return true;
	fflush(stdout);
	close(STDOUT_FILENO);
	while (waitpid(pager, &status, 0) < 0 && errno == EINTR)
		;
	pager = 0;
	result = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	if (result != NOT_FOUND && result != NOT_EXECUTED)
		return true;
	complain("the pager '%s' cannot be run; see $BOBBIN_PAGER and $PAGER", choose_pager());
	return false;
}
