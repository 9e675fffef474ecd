/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process_stat.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/live_process.h"
#include "cli/named_stack.h"
#include "export/safe_text.h"
#include "unwind/module.h"

/* Of a deeper stack that are kept for its outer end. */
#define OUTER_FRAMES (BOBBIN_MAX_DEPTH / 4)

struct stack {
	const struct arguments *arguments;
	pid_t tid; /* that was given; also the number of a process */
	struct live_process live;
	struct naming *naming;
	struct bobbin_frame frames[BOBBIN_MAX_DEPTH];
	struct bobbin_trace trace;
};

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
	const struct naming_moment moment = {.pid = s->live.pid, .time = UINT64_MAX};
	struct named_frame named[NAMING_MAX_INLINES];
	size_t n = naming_frame(s->naming, bobbin_process_space(s->live.process), &moment, f,
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
			printf(" [%s]", bobbin_source_str(f->source));
		putchar('\n');
	}
}

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
	int *tids, count, failed = 0;

	if (s->arguments->one)
		return print_thread(s, s->tid) ? 1 : 0;
	if (complain_nothing_there("process", s->live.pid))
		return 1;
	count = bobbin_process_threads(s->live.process, &tids);
	if (count < 0) {
		complain_process("process", s->live.pid, count);
		return 1;
	}
	printf("PID %d\n", s->live.pid);
	for (int i = 0; i < count; i++) {
		int r = print_thread(s, tids[i]);

		/* a thread may end at any time */
		failed += r && r != -ESRCH;
	}
	free(tids);
	return failed ? 1 : 0;
}

static int open_stack(struct stack *s, pid_t tid)
{
	pid_t pid = process_of(tid);
	struct bobbin_unwinder_options unwind = s->arguments->unwind;
	struct symbolizer_options naming = {
		.inlines = true, .demangle = true, .debug_path = unwind.debug_path};
	int r;

	complain_of_names(&naming);
	unwind.code_later = true;
	s->tid = tid;
	r = live_process_open(&unwind, s->arguments->infer, pid ? pid : tid, &s->live);

	s->trace = (struct bobbin_trace){
		.frames = s->frames, .max = BOBBIN_MAX_DEPTH, .outer = OUTER_FRAMES};
	if (!r)
		r = naming_open(&naming, s->live.unwinder, NULL, &s->naming);
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
	r = open_stack(s, pid) ? 1 : print_threads(s);
	if (s->naming)
		loss = naming_loss(s->naming);
	naming_close(s->naming);
	live_process_close(&s->live);
	free(s);
	r = !finish_output() || r;
	return tell_naming_loss(&loss) || r;
}
