/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "crash/stack_report.h"

#include <bobbin/backtrace.h>
#include <bobbin/crash.h>

#include <setjmp.h>
#include <string.h>

#include "crash/fatal_signal.h"
#include "crash/frame_names.h"
#include "crash/raw_calls.h"
#include "crash/raw_file.h"
#include "crash/report_text.h"
#include "crash/stopped_threads.h"
#include "unwind/object_walk.h"

/* Of a deeper stack: the frames that are kept for its outer end. */
#define OUTER_FRAMES (FRAME_NAMES_MAX / 4)
/* Crashes within one report.  What is broken for all threads must not fill a disk. */
#define MOST_CRASHES 64

static struct stack_report {
	struct report_text text;
	unsigned int flags;
	struct frame_names names;
	bool has_names; /* of the trace */
	struct bobbin_frame frames[FRAME_NAMES_MAX];
	struct bobbin_trace trace;
	const void *context;       /* of the thread that is looked at */
	struct bobbin_frame first; /* what is known even if its walk crashes */
	sigjmp_buf *recovery;      /* NULL: there is none */
	unsigned int crashes;
} report;

/*
 * A part of the report that reads what the program may have destroyed.  false: it has crashed, and
 * that has been said.
 */
static bool survives(struct stack_report *r, void (*part)(struct stack_report *))
{
	sigjmp_buf here;

	/* the mask of signals is that of the handler in both cases */
	if (sigsetjmp(here, 0)) {
		r->recovery = NULL;
		return false;
	}
	r->recovery = &here;
	part(r);
	r->recovery = NULL;
	return true;
}

static void print_crash_within(struct stack_report *r, const struct crash *crash)
{
	report_text_put(&r->text, "     the report itself has crashed: ");
	fatal_signal_print(&r->text, crash->number, crash->info);
	report_text_put(&r->text, "\n");
	report_text_flush(&r->text);
}

void stack_report_recover(const struct crash *crash)
{
	sigjmp_buf *recovery = report.recovery;

	print_crash_within(&report, crash);
	if (recovery && report.crashes++ < MOST_CRASHES)
		siglongjmp(*recovery, 1);
}

static void walk(struct stack_report *r)
{
	struct walk_place place = {.callee = BOBBIN_SOURCE_NONE};
	uint64_t gpr[BOBBIN_REG_COUNT];

	bobbin_context_regs(r->context, gpr, &place.regs);
	r->first = (struct bobbin_frame){.pc = place.regs.pc, .exact = true};
	bobbin_object_walk(&place, NULL, &r->trace);
}

static void find_names(struct stack_report *r)
{
	frame_names_find(&r->names, r->frames, r->trace.count);
	r->has_names = true;
}

static void begin_names(struct stack_report *r)
{
	frame_names_begin(&r->names);
}

/* Whether frames were left out before this one. */
static bool is_outer(const struct bobbin_trace *trace, uint32_t number)
{
	return trace->left_out && number >= trace->count - trace->outer;
}

/* @past: how much further the PC is than what was looked up. */
static void print_file(struct stack_report *r, const struct frame_name *name, uint64_t past)
{
	report_text_foreign(&r->text, name->path ? name->path : "[unknown]");
	if (name->name || !name->address)
		return;
	report_text_put(&r->text, "+0x");
	report_text_hex(&r->text, name->address + past, 1);
}

static void print_frame(struct stack_report *r, uint32_t i)
{
	static const struct frame_name unknown;
	const struct frame_name *name = r->has_names ? &r->names.names[i] : &unknown;
	const struct bobbin_frame *frame = &r->frames[i];
	const uint64_t past = frame->pc - name->pc;

	report_text_put(&r->text, "#");
	report_text_number(&r->text, i + (is_outer(&r->trace, i) ? r->trace.left_out : 0), 3);
	report_text_put(&r->text, " 0x");
	report_text_hex(&r->text, frame->pc, 16);
	report_text_put(&r->text, " ");
	report_text_foreign(&r->text, name->name ? name->name : "[unknown]");
	if (name->name) {
		report_text_put(&r->text, "+0x");
		report_text_hex(&r->text, name->offset + past, 1);
	}
	report_text_put(&r->text, " (");
	print_file(r, name, past);
	report_text_put(&r->text, ")");
	if (r->flags & BOBBIN_CRASH_SOURCES) {
		report_text_put(&r->text, " [");
		report_text_put(&r->text, bobbin_source_str(frame->source));
		report_text_put(&r->text, "]");
	}
	report_text_put(&r->text, "\n");
}

static void print_frames(struct stack_report *r)
{
	for (uint32_t i = 0; i < r->trace.count; i++) {
		if (is_outer(&r->trace, i) && !is_outer(&r->trace, i - 1)) {
			report_text_put(&r->text, "     [");
			report_text_number(&r->text, r->trace.left_out, 0);
			report_text_put(&r->text, " frames left out]\n");
		}
		print_frame(r, i);
	}
}

static void print_end(struct stack_report *r, const char *why)
{
	report_text_put(&r->text, "     the trace ends here: ");
	report_text_put(&r->text, why);
	report_text_put(&r->text, "\n");
}

static void print_tid(struct stack_report *r, int tid)
{
	report_text_put(&r->text, "TID ");
	report_text_number(&r->text, (uint64_t)tid, 0);
	report_text_put(&r->text, ":\n");
}

/* The stack of a thread that does not run. */
static void print_stack(struct stack_report *r, int tid, const void *context)
{
	bool whole;

	print_tid(r, tid);
	report_text_flush(&r->text);
	r->context = context;
	r->trace = (struct bobbin_trace){
		.frames = r->frames, .max = FRAME_NAMES_MAX, .outer = OUTER_FRAMES};
	r->has_names = false;
	r->first.pc = 0;
	whole = survives(r, walk);
	if (!whole) {
		r->frames[0] = r->first;
		r->trace.count = r->first.pc != 0;
		r->trace.left_out = 0;
	}
	survives(r, find_names);
	print_frames(r);
	if (!whole)
		print_end(r, "the walk has crashed");
	else if (r->trace.reason != BOBBIN_REASON_OUTERMOST)
		print_end(r, bobbin_reason_str(r->trace.reason));
	report_text_flush(&r->text);
}

static void print_other(struct stack_report *r, unsigned int number)
{
	const void *context = NULL;
	int tid;

	switch (stopped_threads_state(number, &tid, &context)) {
	case THREAD_STOPPED:
		print_stack(r, tid, context);
		return;
	case THREAD_BLOCKING:
		print_tid(r, tid);
		print_end(r, "the thread blocks SIGSTKFLT, and was not stopped");
		return;
	case THREAD_SILENT:
		print_tid(r, tid);
		print_end(r, "the thread has not stopped in time");
		return;
	case THREAD_ENDED:
		return;
	}
}

static void print_others(struct stack_report *r, int listed)
{
	if (listed)
		report_text_put(&r->text, "     other threads cannot be listed\n");
	for (unsigned int i = 0; i < stopped_threads_count(); i++)
		print_other(r, i);
	if (!stopped_threads_are_all())
		report_text_put(&r->text, "     there are more threads than can be stopped\n");
}

static void print_head(struct stack_report *r, const struct crash *crash, int tid)
{
	char name[32];

	report_text_put(&r->text, "bobbin: thread ");
	report_text_number(&r->text, (uint64_t)tid, 0);
	if (raw_file_text("/proc/thread-self/comm", name, sizeof(name))) {
		name[strcspn(name, "\n")] = 0;
		report_text_put(&r->text, " (");
		report_text_foreign(&r->text, name);
		report_text_put(&r->text, ")");
	}
	report_text_put(&r->text, " gets ");
	fatal_signal_print(&r->text, crash->number, crash->info);
	report_text_put(&r->text, "\nPID ");
	report_text_number(&r->text, (uint64_t)raw_pid(), 0);
	report_text_put(&r->text, "\n");
	report_text_flush(&r->text);
}

void stack_report_write(int fd, unsigned int flags, const struct crash *crash)
{
	const int tid = raw_tid();
	struct stack_report *r = &report;
	int listed = 0;

	report_text_begin(&r->text, fd);
	r->flags = flags;
	r->recovery = NULL;
	r->crashes = 0;
	print_head(r, crash, tid);
	if (!(flags & BOBBIN_CRASH_ONE_THREAD))
		listed = stopped_threads_stop();
	survives(r, begin_names);
	print_stack(r, tid, crash->context);
	if (!(flags & BOBBIN_CRASH_ONE_THREAD))
		print_others(r, listed);
	report_text_flush(&r->text);
}
