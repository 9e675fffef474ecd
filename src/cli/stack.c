/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bobbin/process.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/naming.h"
#include "cli/unwind_option.h"
#include "export/safe_text.h"

static const char usage[] =
	"usage: bobbin stack [OPTIONS] PID\n"
	"\n"
	"Print the call chains of all threads of a running process.  Each thread is\n"
	"stopped for the moment that it takes to unwind it.\n"
	"\n"
	"  -1, --one              only the thread whose number is PID\n"
	"  -v, --verbose          say for each frame which table it was unwound by\n" UNWIND_USAGE
	"  -h, --help             show this help\n";

/* Of a deeper stack that are kept for its outer end. */
#define OUTER_FRAMES (BOBBIN_MAX_DEPTH / 4)

struct arguments {
	pid_t pid;
	bool one, verbose;
	struct bobbin_unwinder_options unwind;
};

struct stack {
	const struct arguments *arguments;
	struct bobbin_unwinder *unwinder;
	struct bobbin_process *process;
	struct naming *naming;
	struct bobbin_frame frames[BOBBIN_MAX_DEPTH];
	struct bobbin_trace trace;
};

static int parse(int argc, char **argv, struct arguments *a)
{
	static const struct option longs[] = {
		{"one", no_argument, NULL, '1'},
		{"verbose", no_argument, NULL, 'v'},
		UNWIND_OPTIONS,
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "1vh", longs, NULL)) != -1) {
		switch (c) {
		case '1':
			a->one = true;
			break;
		case 'v':
			a->verbose = true;
			break;
		case 'h':
			exit(show_help(&stack_command));
		default:
			if (unwind_option(c, optarg, &a->unwind))
				break;
			return show_usage(&stack_command);
		}
	}
	return parse_pid(argc, argv, &stack_command, &a->pid);
}

/* Whether frames were left out before this one. */
static bool is_outer(const struct bobbin_trace *trace, uint32_t number)
{
	return trace->left_out && number >= trace->count - trace->outer;
}

/* @number: of frames in the trace */
static void print_frame(struct stack *s, uint32_t number)
{
	const struct bobbin_frame *f = &s->frames[number];
	uint32_t shown = number + (is_outer(&s->trace, number) ? s->trace.left_out : 0);
	const struct naming_moment moment = {.pid = s->arguments->pid, .time = UINT64_MAX};
	struct session_frame frame = {.pc = f->pc, .exact = f->exact, .source = f->source};
	struct named_frame named[NAMING_MAX_INLINES];
	size_t n = naming_frame(s->naming, bobbin_process_space(s->process), &moment, &frame,
				named);

	for (size_t i = 0; i < n; i++) {
		const struct named_frame *name = &named[i];

		printf("#%-3" PRIu32 " 0x%016" PRIx64 " ", shown, f->pc);
		safe_text_plain(stdout, name->symbol.name ? name->symbol.name : "[unknown]");
		if (name->symbol.name && !name->inlined)
			printf("+0x%" PRIx64, name->symbol.offset);
		fputs(" (", stdout);
		safe_text_plain(stdout, name->inlined ? "inlined" : name->dso);
		putchar(')');
		if (s->arguments->verbose && !name->inlined)
			printf(" [%s]", bobbin_source_str((enum bobbin_source)f->source));
		putchar('\n');
	}
}

/* @kind: "process" or "thread" */
static void complain_about(const char *kind, pid_t id, int error)
{
	if (error == -EPERM || error == -EACCES)
		complain("%s %d: not allowed to trace it: be its owner or root, see "
			 "kernel.yama.ptrace_scope; another debugger may hold it",
			 kind, id);
	else if (error == -ETIMEDOUT)
		complain("%s %d: does not stop: it waits in the kernel, as in vfork(2)", kind, id);
	else
		complain("%s %d: %s", kind, id,
			 error == -ENOTSUP ? "not a 64-bit program" : strerror(-error));
}

static int print_thread(struct stack *s, pid_t tid)
{
	int r = bobbin_process_unwind(s->process, tid, &s->trace);

	if (r) {
		complain_about("thread", tid, r);
		return r;
	}
	printf("TID %d:\n", tid);
	for (uint32_t i = 0; i < s->trace.count; i++) {
		if (is_outer(&s->trace, i) && !is_outer(&s->trace, i - 1))
			printf("     [%" PRIu32 " frames left out]\n", s->trace.left_out);
		print_frame(s, i);
	}
	if (s->trace.reason != BOBBIN_REASON_OUTERMOST)
		printf("     the trace ends here: %s\n", bobbin_reason_str(s->trace.reason));
	return 0;
}

static int print_threads(struct stack *s)
{
	const struct arguments *a = s->arguments;
	int *tids, count, failed = 0;

	if (a->one)
		return print_thread(s, a->pid) ? 1 : 0;
	count = bobbin_process_threads(s->process, &tids);
	if (count < 0) {
		complain_about("process", a->pid, count);
		return 1;
	}
	printf("PID %d\n", a->pid);
	for (int i = 0; i < count; i++) {
		int r = print_thread(s, tids[i]);

		/* a thread may end at any time */
		failed += r && r != -ESRCH;
	}
	free(tids);
	return failed ? 1 : 0;
}

/* Without it the walk goes on, with what files say. */
static void tell_of_registered_code(const struct stack *s)
{
	pid_t pid = s->arguments->pid;
	int r = bobbin_process_code_status(s->process);

	complain_left_out(s->unwinder, pid);
	if (r == -EBADMSG)
		complain("process %d: its page of registered code makes no sense", pid);
	else if (r == -ETIMEDOUT)
		complain("process %d: its registered code: %s", pid,
			 bobbin_reason_str(BOBBIN_REASON_NO_ANSWER));
	else if (r == -ENOMEM)
		complain("process %d: its registered code: %s", pid, strerror(-r));
}

static int open_stack(struct stack *s)
{
	const struct arguments *a = s->arguments;
	struct naming_options naming = {.inlines = true, .debug_path = a->unwind.debug_path};
	struct bobbin_process_options process = {.size = sizeof(process)};
	int r;

	s->trace = (struct bobbin_trace){
		.frames = s->frames, .max = BOBBIN_MAX_DEPTH, .outer = OUTER_FRAMES};
	r = bobbin_unwinder_open(&a->unwind, &s->unwinder);
	if (!r)
		r = naming_open(&naming, s->unwinder, &s->naming);
	process.unwinder = s->unwinder;
	if (!r)
		r = bobbin_process_open(a->pid, &process, &s->process);
	if (r)
		complain_about("process", a->pid, r);
	else
		tell_of_registered_code(s);
	return r;
}

static int run(int argc, char **argv)
{
	struct arguments a = {.unwind = unwind_defaults()};
	struct stack *s;
	int r;

	r = parse(argc, argv, &a);
	if (r)
		return r;
	s = calloc(1, sizeof(*s));
	if (!s) {
		complain("%s", strerror(ENOMEM));
		return 1;
	}
	s->arguments = &a;
	r = open_stack(s) ? 1 : print_threads(s);
	naming_close(s->naming);
	bobbin_process_close(s->process);
	bobbin_unwinder_close(s->unwinder);
	free(s);
	return !finish_output() || r;
}

const struct command stack_command = {
	.name = "stack",
	.summary = "print the stacks of a running process",
	.usage = usage,
	.run = run,
};
