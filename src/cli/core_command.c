/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * core_command.c - bobbin core: the stacks of a core file's threads.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/native_arch.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/core_report.h"
#include "cli/live_process.h"
#include "cli/stack_printer.h"
#include "cli/thread_names.h"
#include "core/known_regs.h"
#include "elf/core_stream.h"
#include "target/core_memory.h"
#include "unwind/core_space.h"
#include "unwind/module.h"

struct core_stacks {
	const struct arguments *arguments;
	const char *path; /* of the core, for complaints */
	struct core_file core;
	struct bobbin_unwinder *unwinder;
	struct bobbin_space *space;
	struct bobbin_mem mem;
	struct core_pages pages;
	struct bobbin_process_memory live; /* in place of them, with -p */
	struct thread_names names;
	struct core_report report;
	struct stack_printer printer;
	struct bobbin_frame frames[BOBBIN_MAX_DEPTH];
	size_t absent; /* files of code that are not here */
	char *first_absent;
	int first_error; /* of core_places.on_absence */
};

static void note_absence(void *ctx, const char *path, int error)
{
	struct core_stacks *s = ctx;

	if (s->absent++)
		return;
	s->first_absent = strdup(path);
	s->first_error = error;
}

static const char *absence(int error)
{
	switch (error) {
	case -ESTALE:
		return "is another file by now";
	case -ENODATA:
		return "cannot be known, as the core lacks its first page";
	default:
		return "is not here";
	}
}

static void tell_absences(const struct core_stacks *s)
{
	const char *what = absence(s->first_error);

	if (!s->first_absent)
		return;
	if (s->absent == 1)
		complain("%s: %s: %s, so that its functions lack names, and maybe frames", s->path,
			 s->first_absent, what);
	else
		complain(
			"%s: code of %zu mapped files lacks names, and maybe frames: the first, %s, %s",
			s->path, s->absent, s->first_absent, what);
}

/* A pipe is read once, and what a walk may need is kept. */
static int read_pipe(struct core_stacks *s, int in, struct bobbin_error *err, int *ret)
{
	struct coverage kept = {0};
	int r;

	*ret = -1;
	r = core_stream_read(in, s->arguments->pid, err, ret, &kept);

	if (!r)
		r = core_file_init(*ret, &kept, err, &s->core);
	coverage_fini(&kept);
	return r;
}

/* @fd: it, or the copy of a pipe; the caller's. */
static int read_core(struct core_stacks *s, struct bobbin_error *err, int *fd)
{
	const bool is_standard = !strcmp(s->arguments->operands[0], "-");
	struct stat status;
	int in, r;

	in = is_standard ? dup(STDIN_FILENO)
			 : open(s->arguments->operands[0], O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (in < 0)
		return -errno;
	*fd = in;
	if (fstat(in, &status))
		return -errno;
	if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) {
		r = core_file_init(in, NULL, err, &s->core);
	} else {
		r = read_pipe(s, in, err, fd);
		close(in);
	}
	if (!r && !s->core.thread_count) {
		*err = (struct bobbin_error){.reason = BOBBIN_REASON_CORE_THREADS};
		r = -EBADMSG;
	}
	return r;
}

static bool open_core(struct core_stacks *s, int *fd)
{
	struct bobbin_error error = {0};
	int r = read_core(s, &error, fd);

	if (r == -ESPIPE)
		complain(
			"%s: its notes come after its memory, so that it cannot be read from a pipe",
			s->path);
	else if (r)
		complain_file(s->path, r, &error);
	if (!r && s->core.missing)
		complain("%s: is cut off: %" PRIu64 " bytes of memory are missing at its end",
			 s->path, s->core.missing);
	return !r;
}

/* The places where files are looked for, as absolute paths from malloc(), or NULL. */
struct named_places {
	char *sysroot, *program, *beside;
};

static bool make_absolute(const char *path, char **ret)
{
	*ret = path ? realpath(path, NULL) : NULL;
	if (path && !*ret)
		complain("%s: %s", path, strerror(errno));
	return *ret || !path;
}

/* What lies beside a core file may be the program that it is of. */
static char *folder_of(const char *path)
{
	char *whole = strcmp(path, "-") ? realpath(path, NULL) : NULL;
	char *slash = whole ? strrchr(whole, '/') : NULL;

	if (slash)
		slash[slash == whole] = 0;
	return whole;
}

static void load_core(struct core_stacks *s, const struct named_places *named)
{
	const struct core_places places = {
		.reader = unwinder_reader(s->unwinder),
		.sysroot = named->sysroot,
		.beside = named->beside,
		.program = named->program,
		.on_absence = note_absence,
		.ctx = s,
	};
	int r = core_space_load(s->space, &s->core, &places);

	if (r && named->program)
		complain("%s: %s", named->program,
			 r == -ESTALE ? "is not the program of this core file" : strerror(-r));
	else if (r)
		complain_file(s->path, r, NULL);
	s->pages.core = &s->core;
	if (!r)
		s->mem = (struct bobbin_mem){core_pages_read, &s->pages};
}

static bool map_core(struct core_stacks *s)
{
	const struct arguments *a = s->arguments;
	struct named_places named = {.beside = folder_of(a->operands[0])};

	if (make_absolute(a->sysroot, &named.sysroot) && make_absolute(a->program, &named.program))
		load_core(s, &named);
	free(named.sysroot);
	free(named.program);
	free(named.beside);
	return s->mem.read;
}

/* The process waits until its core was read, and is as it was when the signal came. */
static bool map_process(struct core_stacks *s)
{
	const int pid = (int)s->arguments->pid;
	int r = s->core.arch == native_arch() ? bobbin_space_load(s->space, pid) : -ENOTSUP;

	if (r) {
		complain_process("process", pid, r);
		return false;
	}
	/* without what it registered files are unwound all the same */
	bobbin_space_update_code(s->unwinder, s->space, pid);
	bobbin_unwinder_process_memory(s->unwinder, pid, &s->live);
	s->mem = (struct bobbin_mem){bobbin_process_memory_read, &s->live};
	thread_names_read(pid, &s->names);
	return true;
}

static bool open_walks(struct core_stacks *s)
{
	const struct arguments *a = s->arguments;
	int r = unwinder_open(&a->unwind, a->infer, &s->unwinder);

	if (!r)
		r = bobbin_space_open(s->unwinder, s->core.arch, &s->space);
	if (r) {
		complain("%s", strerror(-r));
		return false;
	}
	return a->pid ? map_process(s) : map_core(s);
}

static bool open_names(struct core_stacks *s)
{
	struct symbolizer_options options = {
		.inlines = true,
		.lines = s->arguments->lines,
		.demangle = true,
		.debug_path = s->arguments->unwind.debug_path,
	};
	int r;

	complain_of_names(&options);
	r = naming_open(&options, NULL, s->unwinder, NULL, &s->printer.naming);
	if (r)
		complain("%s", strerror(-r));
	return !r;
}

static void print_thread(struct core_stacks *s, const struct core_thread *thread)
{
	const struct bobbin_regs regs = known_regs(s->core.arch, thread->pc, thread->gpr,
						   thread->known);
	struct bobbin_trace trace = {
		.frames = s->frames, .max = BOBBIN_MAX_DEPTH, .outer = OUTER_FRAMES};

	bobbin_unwind(s->unwinder, s->space, &regs, &s->mem, &trace);
	stack_printer_put(&s->printer, thread->tid, thread_names_find(&s->names, thread->tid),
			  &trace);
}

static void print_threads(struct core_stacks *s)
{
	const size_t count = s->arguments->one ? 1 : s->core.thread_count;

	s->printer.space = s->space;
	s->printer.pid = (int)s->arguments->pid;
	s->printer.verbose = s->arguments->verbose;
	s->printer.out = s->report.out;
	s->printer.json = s->report.is_json ? &s->report.json : NULL;
	core_report_begin(&s->report, &s->core);
	for (size_t i = 0; i < count; i++)
		print_thread(s, &s->core.threads[i]);
}

/* The exit status. */
static int report(struct core_stacks *s)
{
	const struct arguments *a = s->arguments;
	struct naming_loss loss = {0};
	bool good;

	if (!open_walks(s) || !open_names(s))
		return 1;
	good = core_report_open(&s->core, a->folder, a->json, &s->report);
	if (good)
		print_threads(s);
	good = core_report_close(&s->report, good) && good;
	tell_absences(s);
	loss = naming_loss(s->printer.naming);
	return tell_naming_loss(&loss) || !good;
}

int run_core(struct arguments *a)
{
	struct core_stacks *s = calloc(1, sizeof(*s));
	int fd = -1, status = 1;

	if (!s) {
		complain("%s", strerror(ENOMEM));
		return 1;
	}
	s->arguments = a;
	s->path = strcmp(a->operands[0], "-") ? a->operands[0] : "standard input";
	if (open_core(s, &fd))
		status = report(s);
	naming_close(s->printer.naming);
	bobbin_space_close(s->space);
	bobbin_unwinder_close(s->unwinder);
	thread_names_fini(&s->names);
	core_file_fini(&s->core);
	free(s->first_absent);
	free(s);
	if (fd >= 0)
		close(fd);
	return status;
}
