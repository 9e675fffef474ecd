/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks through frames that no rule can hold: the own stack, a copy of it, and the same
 * process as another one, compared with GCC's runtime and with what is known.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <cmocka.h>

#include <bobbin/backtrace.h>
#include <bobbin/unwind.h>

#define LINK __attribute__((__noinline__, __visibility__("default")))
#define FRAMES 64
#define COPIED 65536

void frame_of_registers(void);
LINK void expression_leaf(void);
LINK void call_frames(void);

static struct {
	struct bobbin_frame frames[FRAMES];
	uint64_t theirs[FRAMES];
	unsigned int count;
	uint8_t copy[COPIED];
	void (*check)(const struct bobbin_regs *regs);
	unsigned int in_stub, wrong; /* stops, while stepping */
} run;

static const char *const names[] = {
	"call_leaf",     "frame_of_stub", "frame_of_cfa", "frame_of_index",     "frame_of_ra",
	"frame_of_loop", "frame_of_rbx",  "frame_of_fp",  "frame_of_registers", "call_frames"};
#define NAMES (sizeof(names) / sizeof(*names))

static _Unwind_Reason_Code note(struct _Unwind_Context *context, void *unused)
{
	if (run.count < FRAMES)
		run.theirs[run.count++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

/* Those of the known functions, in order, and all that GCC's runtime finds above the leaf. */
static void assert_known(const struct bobbin_trace *trace, bool with_theirs)
{
	unsigned int at = 0, theirs = 0;
	Dl_info info;

	assert_int_equal(trace->reason, BOBBIN_REASON_OUTERMOST);
	while (at < trace->count && !(dladdr((void *)(trace->frames[at].pc - 1), &info) &&
				      info.dli_sname && !strcmp(info.dli_sname, names[0])))
		at++;
	assert_true(at + NAMES < trace->count);
	for (unsigned int i = 0; i < NAMES; i++) {
		assert_true(dladdr((void *)(trace->frames[at + i].pc - 1), &info));
		assert_string_equal(info.dli_sname ? info.dli_sname : "?", names[i]);
	}
	while (with_theirs && theirs < run.count && run.theirs[theirs] != trace->frames[at].pc)
		theirs++;
	for (; with_theirs && at < trace->count; at++, theirs++) {
		assert_true(theirs < run.count);
		assert_true(run.theirs[theirs] == trace->frames[at].pc);
	}
}

/* From here, twice: the second time by what the first has left. */
static void check_own(const struct bobbin_regs *regs)
{
	struct bobbin_trace trace = {.frames = run.frames, .max = FRAMES};

	run.count = 0;
	assert_int_equal(bobbin_backtrace_prepare(), 0);
	_Unwind_Backtrace(note, NULL);
	for (unsigned int i = 0; i < 2; i++) {
		bobbin_backtrace(regs, &trace);
		assert_known(&trace, true);
	}
}

/* At each instruction of the stub: it, maybe once more as its own caller, and what jumped to it. */
static bool is_stub_trace(const struct bobbin_trace *trace)
{
	unsigned int at = 0;
	Dl_info info;

	while (at < trace->count && at < 2 &&
	       dladdr((void *)(trace->frames[at].pc - !!at), &info) && info.dli_sname &&
	       !strcmp(info.dli_sname, names[1]))
		at++;
	if (!at || trace->reason != BOBBIN_REASON_OUTERMOST || at + NAMES - 2 > trace->count)
		return false;
	for (unsigned int i = 2; i < NAMES; i++, at++)
		if (!dladdr((void *)(trace->frames[at].pc - 1), &info) || !info.dli_sname ||
		    strcmp(info.dli_sname, names[i]))
			return false;
	return true;
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	struct bobbin_trace trace = {.frames = run.frames, .max = FRAMES};
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs regs;
	Dl_info at;

	bobbin_context_regs(context, gpr, &regs);
	if (!dladdr((void *)regs.pc, &at) || !at.dli_sname || strcmp(at.dli_sname, names[1]))
		return;
	bobbin_backtrace(&regs, &trace);
	run.in_stub++;
	run.wrong += !is_stub_trace(&trace);
}

static void check_memory(const struct bobbin_regs *regs, const struct bobbin_mem *mem)
{
	struct bobbin_trace trace = {.frames = run.frames, .max = FRAMES};
	struct bobbin_unwinder *unwinder;
	struct bobbin_space *space;

	assert_int_equal(bobbin_unwinder_open(NULL, &unwinder), 0);
	assert_int_equal(bobbin_space_open(unwinder, bobbin_arch_amd64(), &space), 0);
	assert_int_equal(bobbin_space_load(space, getpid()), 0);
	for (unsigned int i = 0; i < 2; i++) {
		bobbin_unwind(unwinder, space, regs, mem, &trace);
		assert_known(&trace, false);
	}
	bobbin_space_close(space);
	bobbin_unwinder_close(unwinder);
}

static enum bobbin_reason read_process(void *unused, uint64_t addr, void *dst, size_t size)
{
	const struct iovec to = {dst, size}, from = {(void *)addr, size};

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)size
		       ? BOBBIN_REASON_NONE
		       : BOBBIN_REASON_NO_MEMORY;
}

static void check_process(const struct bobbin_regs *regs)
{
	check_memory(regs, &(struct bobbin_mem){read_process, NULL});
}

static void check_copy(const struct bobbin_regs *regs)
{
	const struct iovec to = {run.copy, COPIED}, from = {(void *)regs->sp, COPIED};
	ssize_t size = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
	struct bobbin_stack_copy copy = {regs->sp, run.copy, size > 0 ? (size_t)size : 0};

	check_memory(regs, &(struct bobbin_mem){bobbin_stack_copy_read, &copy});
}

/* Called by the innermost of the frames. */
LINK void expression_leaf(void)
{
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs regs;
	ucontext_t context;

	getcontext(&context);
	bobbin_context_regs(&context, gpr, &regs);
	run.check(&regs);
}

static void go_on(const struct bobbin_regs *regs)
{
}

static void a_stub_is_walked_from_at_each_instruction(void **state)
{
	const struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
	struct sigaction before;

	assert_int_equal(bobbin_backtrace_prepare(), 0);
	assert_int_equal(sigaction(SIGTRAP, &action, &before), 0);
	run.check = go_on;
	__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
	call_frames();
	__asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
	sigaction(SIGTRAP, &before, NULL);
	assert_int_equal(run.in_stub, 5);
	assert_int_equal(run.wrong, 0);
}

LINK void call_frames(void)
{
	frame_of_registers();
	__asm__ volatile("");
}

static void the_own_stack_is_walked_through(void **state)
{
	run.check = check_own;
	call_frames();
}

static void another_process_is_walked_through(void **state)
{
	run.check = check_process;
	call_frames();
}

static void a_copy_of_the_stack_is_walked_through(void **state)
{
	run.check = check_copy;
	call_frames();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_own_stack_is_walked_through),
		cmocka_unit_test(a_stub_is_walked_from_at_each_instruction),
		cmocka_unit_test(another_process_is_walked_through),
		cmocka_unit_test(a_copy_of_the_stack_is_walked_through),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
