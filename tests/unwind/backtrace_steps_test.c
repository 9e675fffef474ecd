/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * backtrace_steps_test PLUGIN OTHER - a walk before each instruction of a program.
 *
 * The trap flag makes the processor stop after each instruction.  The handler keeps
 * a shadow stack by what calls and returns do to the stack pointer, walks, and
 * compares: PLT stubs, the dynamic loader's resolver, the vDSO, prologues and
 * epilogues of the C library are all gone through.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <regex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/native_arch.h"
#include "own_chain.h"

#define TRAP_FLAG 0x100ull
#define SHADOW_MAX 200
#define LONGEST_CALL 8 /* bytes of a call instruction */
#define WRONG_SHOWN 5

extern const char __executable_start, etext;
static const char *plugin;

static struct {
	struct own_chain base; /* of the function that is stepped through, and its callers */
	struct {
		uint64_t slot, ra;
	} shadow[SHADOW_MAX]; /* the innermost is last */
	unsigned int depth;
	uint64_t pc, sp;       /* of the last instruction */
	uint64_t vdso, loader; /* where they begin */
	unsigned int steps, complete, cut, wrong, in_vdso, in_loader, in_stub, deepest;
	bool overflow;
	struct bobbin_frame frames[CHAIN_MAX];
	/* the first that are wrong: the handler must not print */
	struct {
		uint64_t is, should_be;
	} shown[WRONG_SHOWN][16];
} run;

/* The effect of the last instruction: a call pushes the address after itself. */
__attribute__((no_sanitize("address"))) static void follow(uint64_t sp)
{
	uint64_t word = *(const uint64_t *)sp;

	while (run.depth && run.shadow[run.depth - 1].slot < sp)
		run.depth--;
	if (sp != run.sp - 8 || word - run.pc - 2 > LONGEST_CALL - 2)
		return;
	if (run.depth == SHADOW_MAX) {
		run.overflow = true;
		return;
	}
	run.shadow[run.depth].slot = sp;
	run.shadow[run.depth++].ra = word;
}

static uint64_t expected_pc(uint32_t i, uint64_t pc)
{
	if (i == 0)
		return pc;
	if (i <= run.depth)
		return run.shadow[run.depth - i].ra;
	i -= run.depth;
	return i < run.base.trace.count ? run.base.frames[i].pc : 0;
}

static void keep(const struct bobbin_trace *trace, uint64_t pc)
{
	if (run.wrong > WRONG_SHOWN)
		return;
	for (uint32_t i = 0; i < 16; i++) {
		run.shown[run.wrong - 1][i].is = i < trace->count ? trace->frames[i].pc : 0;
		run.shown[run.wrong - 1][i].should_be = expected_pc(i, pc);
	}
}

static void show_wrong(void)
{
	for (unsigned int n = 0; n < run.wrong && n < WRONG_SHOWN; n++) {
		printf("# is, should be\n");
		for (unsigned int i = 0; i < 16 && run.shown[n][i].should_be; i++) {
			uint64_t pc = run.shown[n][i].should_be;
			Dl_info info = {0};

			dladdr((const void *)pc, &info);
			printf("# %16" PRIx64 " %16" PRIx64 " %s %s+%" PRIx64 "\n",
			       run.shown[n][i].is, pc, info.dli_sname ? info.dli_sname : "?",
			       info.dli_fname ? info.dli_fname : "?",
			       pc - (uint64_t)info.dli_fbase);
		}
	}
}

/* Each frame is the expected one, up to the end, or to where the trace says that it is cut. */
static void check(const struct bobbin_trace *trace, uint64_t pc)
{
	uint32_t i = 0;

	while (i < trace->count && trace->frames[i].pc == expected_pc(i, pc)) {
		if (trace->frames[i++].source != BOBBIN_SOURCE_GUESS)
			continue;
		run.cut++; /* later frames are guesses, and labelled so */
		return;
	}
	if (i == trace->count && trace->reason != BOBBIN_REASON_OUTERMOST) {
		run.cut++;
	} else if (i == trace->count && i == run.depth + run.base.trace.count) {
		run.complete++;
	} else {
		run.wrong++;
		keep(trace, pc);
	}
}

static void note_place(uint64_t pc)
{
	run.in_vdso += pc - run.vdso < 0x2000;
	run.in_loader += pc - run.loader < 0x40000;
	run.in_stub += run.depth == 1 && pc - (uint64_t)&__executable_start <
						 (uint64_t)&etext - (uint64_t)&__executable_start;
	if (run.depth > run.deepest)
		run.deepest = run.depth;
}

/* As in a recording: the registers, and a copy of the stack. */
static struct {
	struct bobbin_unwinder *unwinder; /* NULL: walks are over the stack itself */
	struct bobbin_space *space;
	uint8_t bytes[32768];
} sampler;

static void walk_sample(const struct bobbin_regs *regs, struct bobbin_trace *trace)
{
	struct iovec to = {sampler.bytes, sizeof(sampler.bytes)};
	struct iovec from = {(void *)regs->sp, sizeof(sampler.bytes)};
	ssize_t size = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
	struct bobbin_stack_copy copy = {regs->sp, sampler.bytes, size > 0 ? (size_t)size : 0};
	struct bobbin_mem mem = {bobbin_stack_copy_read, &copy};

	bobbin_unwind(sampler.unwinder, sampler.space, regs, &mem, trace);
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	struct bobbin_trace trace = {.frames = run.frames, .max = CHAIN_MAX};
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs regs;

	bobbin_context_regs(context, gpr, &regs);
	if (run.steps++)
		follow(regs.sp);
	run.pc = regs.pc;
	run.sp = regs.sp;
	if (sampler.unwinder)
		walk_sample(&regs, &trace);
	else
		bobbin_backtrace(&regs, &trace);
	check(&trace, regs.pc);
	note_place(regs.pc);
}

/* Tables must know what these do to the stack pointer, too. */
LINK void start_stepping(void)
{
	__asm__ volatile("pushfq\n\t.cfi_adjust_cfa_offset 8\n\torq %0, (%%rsp)\n\t"
			 "popfq\n\t.cfi_adjust_cfa_offset -8" ::"i"(TRAP_FLAG)
			 : "memory", "cc");
}

LINK void stop_stepping(void)
{
	__asm__ volatile("pushfq\n\t.cfi_adjust_cfa_offset 8\n\tandq %0, (%%rsp)\n\t"
			 "popfq\n\t.cfi_adjust_cfa_offset -8" ::"i"(~TRAP_FLAG)
			 : "memory", "cc");
}

/* Step through a function. */
LINK void step(void (*f)(void))
{
	run.depth = run.steps = run.complete = run.cut = run.wrong = 0;
	run.in_vdso = run.in_loader = run.in_stub = run.deepest = 0;
	own_chain_init(&run.base);
	bobbin_backtrace(NULL, &run.base.trace);
	start_stepping();
	f();
	stop_stepping();
	printf("# %u steps, %u complete, %u cut; %u in the vDSO, %u in the loader; %u deep\n",
	       run.steps, run.complete, run.cut, run.in_vdso, run.in_loader, run.deepest);
	show_wrong();
	assert_false(run.overflow);
	assert_int_equal(run.wrong, 0);
	assert_int_equal(run.base.trace.reason, BOBBIN_REASON_OUTERMOST);
}

static void assert_all_complete(unsigned int steps)
{
	assert_int_equal(run.complete, run.steps);
	assert_true(run.steps > steps);
}

static volatile long sink;
static char text[4096];

/* The first call of it anywhere: its stub goes to the loader's resolver. */
LINK void call_lazily(void)
{
	sink = a64l("zz");
	STAY();
}

static void a_stub_and_the_resolver_after_it(void **state)
{
	step(call_lazily);
	assert_all_complete(500);
	assert_true(run.in_loader > 300);
	assert_true(run.in_stub >= 5);
}

LINK void call_another_lazily(void)
{
	sink = (long)l64a(4711);
	STAY();
}

/* Its CFA is relative to a register that is known in the leaf only. */
static void the_resolver_in_a_sample(void **state)
{
	assert_int_equal(bobbin_unwinder_open(NULL, &sampler.unwinder), 0);
	assert_int_equal(bobbin_space_open(sampler.unwinder, native_arch(), &sampler.space), 0);
	assert_int_equal(bobbin_space_load(sampler.space, getpid()), 0);
	step(call_another_lazily);
	assert_all_complete(500);
	assert_true(run.in_loader > 300);
	bobbin_space_close(sampler.space);
	bobbin_unwinder_close(sampler.unwinder);
	sampler.unwinder = NULL;
}

LINK void read_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	sink = t.tv_nsec;
	STAY();
}

static void the_kernels_code(void **state)
{
	step(read_clock);
	assert_all_complete(20);
	assert_true(run.in_vdso > 3);
}

LINK int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

LINK void use_library(void)
{
	int numbers[64];
	void *blocks[16];
	regex_t regex;

	for (int i = 0; i < 64; i++)
		numbers[i] = (i * 37 + 11) % 64;
	qsort(numbers, 64, sizeof(numbers[0]), by_value);
	for (unsigned int i = 0; i < 16; i++)
		blocks[i] = malloc((size_t)40 << i);
	for (unsigned int i = 0; i < 16; i++)
		free(blocks[i]);
	snprintf(text, sizeof(text), "%d %s %.17g %Lf %*d", 5, "string", sqrt(numbers[3]), 1.25L,
		 50, 7);
	if (!regcomp(&regex, "^a\\(b*\\)c.*[x-z]\\+$", 0)) {
		sink = regexec(&regex, "abbbbcdefxyz", 0, NULL, 0);
		regfree(&regex);
	}
	memset(text, 1, sizeof(text));
	sink = strtol("-123", NULL, 0);
	STAY();
}

static void the_c_library(void **state)
{
	step(use_library);
	assert_all_complete(20000);
}

/*
 * A jump to the end of one function goes on through the padding after it, which no table
 * covers, into the next, as in glibc's copies with checks.
 */
__asm__(".pushsection .text\n"
	".p2align 6\n"
	"through_padding:\n"
	".cfi_startproc\n"
	"test %edi, %edi\n"
	"jz 1f\n"
	"ret\n"
	"1:\n"
	".cfi_endproc\n"
	".p2align 6\n"
	"after_padding:\n"
	".cfi_startproc\n"
	"push %rbx\n"
	".cfi_adjust_cfa_offset 8\n"
	".cfi_rel_offset %rbx, 0\n"
	"lea 1(%rdi), %eax\n"
	"pop %rbx\n"
	".cfi_adjust_cfa_offset -8\n"
	"ret\n"
	".cfi_endproc\n"
	".popsection\n");
extern int through_padding(int zero);

LINK void fall_through(void)
{
	sink = through_padding(0);
	STAY();
}

static void padding_that_is_executed(void **state)
{
	step(fall_through);
	assert_all_complete(10);
}

static void padding_in_a_sample(void **state)
{
	assert_int_equal(bobbin_unwinder_open(NULL, &sampler.unwinder), 0);
	assert_int_equal(bobbin_space_open(sampler.unwinder, native_arch(), &sampler.space), 0);
	assert_int_equal(bobbin_space_load(sampler.space, getpid()), 0);
	step(fall_through);
	assert_all_complete(10);
	bobbin_space_close(sampler.space);
	bobbin_unwinder_close(sampler.unwinder);
	sampler.unwinder = NULL;
}

static jmp_buf out;

LINK int jump(int depth, bool far)
{
	int r = depth ? jump(depth - 1, far) : 0;

	if (far)
		longjmp(out, 1);
	return r + 1;
}

LINK void jump_out(void)
{
	if (!setjmp(out))
		sink = jump(10, true);
	STAY();
}

static void a_jump_over_frames(void **state)
{
	step(jump_out);
	assert_true(run.steps > 100);
	/* in the C library's longjmp() SP has a rule of its own */
	assert_true(run.cut < 20);
}

LINK void load_and_unload(void)
{
	void *handle = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);

	if (handle)
		dlclose(handle);
	STAY();
}

/* The plugin's own code at start and end is not in the map. */
static void the_loader_at_work(void **state)
{
	step(load_and_unload);
	assert_true(run.in_loader > 10000);
	assert_true(run.cut < 1000);
}

static int prepare(void **state)
{
	const struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

	run.vdso = getauxval(AT_SYSINFO_EHDR);
	run.loader = getauxval(AT_BASE);
	return bobbin_backtrace_prepare() || sigaction(SIGTRAP, &action, NULL);
}

LINK int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stub_and_the_resolver_after_it),
		cmocka_unit_test(the_resolver_in_a_sample),
		cmocka_unit_test(the_kernels_code),
		cmocka_unit_test(the_c_library),
		cmocka_unit_test(padding_that_is_executed),
		cmocka_unit_test(padding_in_a_sample),
		cmocka_unit_test(a_jump_over_frames),
		cmocka_unit_test(the_loader_at_work),
	};

	if (argc != 3)
		return 2;
	plugin = argv[1];
	return cmocka_run_group_tests(tests, prepare, NULL);
}
