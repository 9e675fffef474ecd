/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process_stat.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/live_process.h"
#include "cli/stack_printer.h"
#include "unwind/module.h"

struct stack {
	const struct arguments *arguments;
	pid_t tid; /* that was given; also the number of a process */
	struct live_process live;
	struct stack_printer printer;
	struct json_output json;
	struct bobbin_frame frames[BOBBIN_MAX_DEPTH];
	struct bobbin_trace trace;
};

/* While code is analysed the process runs, and is somewhere else afterwards. */
static int unwind(struct stack *s, pid_t tid)
{
	int r;

	do
		r = bobbin_process_unwind(s->live.process, tid, &s->trace);
	while (!r && s->trace.reason != BOBBIN_REASON_OUTERMOST &&
	       unwinder_finish_code(s->live.unwinder, NULL));
	return r;
}

static int print_thread(struct stack *s, pid_t tid)
{
	int r = unwind(s, tid);

	if (r) {
		complain_process("thread", tid, r);
		return r;
	}
	stack_printer_put(&s->printer, tid, NULL, &s->trace);
	return 0;
}

static int print_threads(struct stack *s)
{
	int *tids, count, failed = 0;

	if (complain_nothing_there("process", s->live.pid))
		return 1;
	count = bobbin_process_threads(s->live.process, &tids);
	if (count < 0) {
		complain_process("process", s->live.pid, count);
		return 1;
	}
	if (!s->printer.json)
		printf("PID %d\n", s->live.pid);
	for (int i = 0; i < count; i++) {
		int r = print_thread(s, tids[i]);

		/* a thread may end at any time */
		failed += r && r != -ESRCH;
	}
	free(tids);
	return failed ? 1 : 0;
}

/* The document, or the text. */
static int print(struct stack *s)
{
	int status;

	if (s->printer.json) {
		json_object(s->printer.json, NULL);
		json_number(s->printer.json, "pid", s->live.pid);
		json_array(s->printer.json, "threads");
	}
	status = s->arguments->one ? print_thread(s, s->tid) != 0 : print_threads(s);
	if (s->printer.json) {
		json_array_end(s->printer.json);
		json_object_end(s->printer.json);
	}
	return status;
}

static int open_stack(struct stack *s, pid_t tid)
{
	pid_t pid = process_of(tid);
	struct bobbin_unwinder_options unwind = s->arguments->unwind;
	struct symbolizer_options naming = {
		.inlines = true,
		.lines = s->arguments->lines,
		.demangle = true,
		.debug_path = unwind.debug_path,
	};
	int r;

	complain_of_names(&naming);
	unwind.code_later = true;
	s->tid = tid;
	r = live_process_open(&unwind, s->arguments->infer, pid ? pid : tid, &s->live);

	s->trace = (struct bobbin_trace){
		.frames = s->frames, .max = BOBBIN_MAX_DEPTH, .outer = OUTER_FRAMES};
	if (!r)
		r = naming_open(&naming, NULL, s->live.unwinder, NULL, &s->printer.naming);
	s->json = json_output(stdout);
	s->printer.pid = s->live.pid;
	s->printer.verbose = s->arguments->verbose;
	s->printer.out = stdout;
	s->printer.json = s->arguments->json ? &s->json : NULL;
	if (!r)
		s->printer.space = bobbin_process_space(s->live.process);
	if (r)
		complain_process("process", tid, r);
	else
		live_process_tell_code(&s->live, false);
	return r;
}

int run_stack(struct arguments *a)
{
	struct naming_loss loss = {0};
	struct stack *s;
	pid_t pid;
	int r;

	if (!parse_pid(a->operands[0], &pid))
		return EXIT_USAGE;
	s = calloc(1, sizeof(*s));
	if (!s) {
		complain("%s", strerror(ENOMEM));
		return 1;
	}
	s->arguments = a;
	r = open_stack(s, pid) ? 1 : print(s);
	if (s->printer.naming)
		loss = naming_loss(s->printer.naming);
	naming_close(s->printer.naming);
	live_process_close(&s->live);
	free(s);
	r = !finish_output() || r;
	return tell_naming_loss(&loss) || r;
}
