/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks of the own stack in all kinds of contexts, against the functions that are
 * known to have called.
 */
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "own_chain.h"

#define STACK_SIZE (128 * 1024)

void _start(void);
int main(void);
static struct own_chain chain, second;

static inline __attribute__((always_inline)) void take(struct own_chain *c)
{
	own_chain_init(c);
	bobbin_backtrace(NULL, &c->trace);
}

LINK void leaf(void)
{
	take(&chain);
	STAY();
}

LINK void middle(void (*f)(void))
{
	f();
	STAY();
}

LINK void outer(void (*f)(void))
{
	volatile char room[3000];

	room[0] = 1;
	middle(f);
	STAY();
	room[1] = room[0];
}

static void functions_that_call_are_found(void **state)
{
	unsigned int last;

	outer(leaf);
	own_chain_name(&chain);
	assert_true(own_chain_is(&chain, CHAIN(leaf, middle, outer)));
	/* on s390x its symbol has no size */
	last = chain.functions[chain.count - 1] == _start ? 2 : 1;
	assert_ptr_equal(chain.functions[chain.count - last], main);
	assert_false(chain.frames[0].exact);
}

LINK void leaf_here(void)
{
	own_chain_init(&chain);
	bobbin_backtrace_here(&chain.trace);
	STAY();
}

static void a_walk_from_here_is_the_same(void **state)
{
	outer(leaf_here);
	own_chain_name(&chain);
	assert_true(own_chain_is(&chain, CHAIN(leaf_here, middle, outer)));
}

LINK unsigned int recurse(unsigned int depth)
{
	unsigned int r = 0;

	if (depth)
		r = recurse(depth - 1);
	else
		leaf();
	STAY();
	return r + 1;
}

LINK void leaf_twice(void)
{
	void *addresses[CHAIN_MAX];
	int count = backtrace(addresses, CHAIN_MAX);

	take(&chain);
	/* it begins with this function, after a sanitizer's own; each call is another place */
	while (count && addresses[1] != (void *)chain.frames[1].pc) {
		memmove(addresses, addresses + 1, sizeof(addresses) - sizeof(addresses[0]));
		count--;
	}
	assert_int_equal(count, chain.trace.count);
	for (int i = 1; i < count; i++)
		assert_ptr_equal(addresses[i], chain.frames[i].pc);
}

static void glibc_says_the_same(void **state)
{
	outer(leaf_twice);
	own_chain_name(&chain);
	assert_true(own_chain_is(&chain, CHAIN(leaf_twice, middle, outer)));
}

static void deep_recursion_is_followed(void **state)
{
	assert_int_equal(recurse(100), 101);
	own_chain_name(&chain);
	assert_true(own_chain_is(&chain, CHAIN(leaf, recurse, recurse)));
	for (unsigned int i = 1; i <= 101; i++)
		assert_ptr_equal(chain.functions[i], recurse);
	assert_ptr_not_equal(chain.functions[102], recurse);
}

static void a_trace_that_is_full_says_so(void **state)
{
	struct bobbin_frame frames[3] = {{0}};
	struct bobbin_trace trace = {.frames = frames, .max = 2};

	bobbin_backtrace(NULL, &trace);
	assert_int_equal(trace.count, 2);
	assert_int_equal(trace.reason, BOBBIN_REASON_DEPTH);
	assert_int_equal(frames[2].pc, 0);
}

/* In the leaf of a recursion, before and after a walk that has learned its rules. */
LINK void leaf_outer(void)
{
	struct bobbin_frame frames[12], all[CHAIN_MAX];
	struct bobbin_trace trace = {.frames = frames, .max = 12, .outer = 5};
	struct bobbin_trace whole = {.frames = all, .max = CHAIN_MAX};

	for (int i = 0; i < 3; i++) {
		bobbin_backtrace(NULL, &trace);
		bobbin_backtrace(NULL, &whole);
		assert_int_equal(whole.reason, BOBBIN_REASON_OUTERMOST);
		assert_int_equal(trace.reason, BOBBIN_REASON_OUTERMOST);
		assert_int_equal(trace.count, 12);
		assert_int_equal(trace.left_out, whole.count - 12);
		for (unsigned int f = 1; f < 12; f++)
			assert_int_equal(frames[f].pc, all[f < 7 ? f : f + whole.count - 12].pc);
	}
	STAY();
}

LINK unsigned int outer_of_recursion(unsigned int depth)
{
	unsigned int r = 0;

	if (depth)
		r = outer_of_recursion(depth - 1);
	else
		leaf_outer();
	STAY();
	return r + 1;
}

static void the_outer_frames_of_a_deep_stack_are_kept(void **state)
{
	for (unsigned int depth = 20; depth < 30; depth++)
		outer_of_recursion(depth);
}

LINK int compare(const void *a, const void *b)
{
	leaf();
	STAY();
	return *(const int *)a - *(const int *)b;
}

LINK void sorter(void)
{
	int numbers[] = {2, 1, 3};

	qsort(numbers, 3, sizeof(numbers[0]), compare);
	STAY();
}

static void a_callback_from_the_c_library_is_followed(void **state)
{
	sorter();
	own_chain_name(&chain);
	assert_true(own_chain_is(&chain, CHAIN(leaf, compare, sorter)));
}

/* Registers of the interrupted code, and the handler's own. */
LINK void on_signal(int number, siginfo_t *info, void *context)
{
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs regs;
	int before = errno = 4321;

	own_chain_init(&chain);
	bobbin_context_regs(context, gpr, &regs);
	bobbin_backtrace(&regs, &chain.trace);
	take(&second);
	if (errno != before)
		abort();
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
	const struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};

	assert_int_equal(sigaction(number, &action, NULL), 0);
}

LINK void raiser(void)
{
	raise(SIGUSR1);
	STAY();
}

static void a_signal_handler_sees_what_it_interrupted(void **state)
{
	handle(SIGUSR1, on_signal, 0);
	outer(raiser);
	own_chain_name(&chain);
	own_chain_name(&second);
	assert_true(own_chain_is(&chain, CHAIN(raiser, middle, outer)));
	assert_true(chain.frames[0].exact);
	assert_true(own_chain_is(&second, CHAIN(on_signal, raiser, middle, outer)));
}

static void a_handler_on_an_alternate_stack_is_left(void **state)
{
	stack_t stack = {.ss_sp = malloc(STACK_SIZE), .ss_size = STACK_SIZE}, before;

	assert_non_null(stack.ss_sp);
	assert_int_equal(sigaltstack(&stack, &before), 0);
	handle(SIGUSR1, on_signal, SA_ONSTACK);
	outer(raiser);
	own_chain_name(&chain);
	own_chain_name(&second);
	assert_true(own_chain_is(&chain, CHAIN(raiser, middle, outer)));
	assert_true(own_chain_is(&second, CHAIN(on_signal, raiser, middle, outer)));
	assert_int_equal(sigaltstack(&before, NULL), 0);
	free(stack.ss_sp);
}

LINK void on_outer_signal(int number, siginfo_t *info, void *context)
{
	raiser();
	STAY();
}

LINK void raiser_of_outer(void)
{
	raise(SIGUSR2);
	STAY();
}

static void a_handler_that_is_interrupted_is_left_twice(void **state)
{
	handle(SIGUSR1, on_signal, 0);
	handle(SIGUSR2, on_outer_signal, 0);
	outer(raiser_of_outer);
	own_chain_name(&chain);
	own_chain_name(&second);
	assert_true(own_chain_is(&chain,
				 CHAIN(raiser, on_outer_signal, raiser_of_outer, middle, outer)));
	assert_true(own_chain_is(&second, CHAIN(on_signal, raiser, on_outer_signal, raiser_of_outer,
						middle, outer)));
}

static ucontext_t back, fiber;

LINK void in_fiber(void)
{
	leaf();
	swapcontext(&fiber, &back);
}

/* A fiber has no caller: the chain ends where it began. */
static void a_fiber_ends_where_it_began(void **state)
{
	void *stack = malloc(STACK_SIZE);

	assert_non_null(stack);
	getcontext(&fiber);
	fiber.uc_stack.ss_sp = stack;
	fiber.uc_stack.ss_size = STACK_SIZE;
	fiber.uc_link = &back;
	makecontext(&fiber, in_fiber, 0);
	assert_int_equal(swapcontext(&back, &fiber), 0);
	own_chain_name(&chain);
	assert_true(own_chain_is(&chain, CHAIN(leaf, in_fiber)));
	assert_int_equal(chain.count, 2);
	free(stack);
}

#ifdef __x86_64__
/* Where a fiber's function returns to. */
static uint64_t fibers_root(void *stack)
{
	ucontext_t context;

	getcontext(&context);
	context.uc_stack.ss_sp = stack;
	context.uc_stack.ss_size = STACK_SIZE;
	context.uc_link = NULL;
	makecontext(&context, in_fiber, 0);
	return *(const uint64_t *)context.uc_mcontext.gregs[REG_RSP];
}

/* Other walks may find it in what a function has not written yet, and take it for the end. */
static void a_walk_leaves_no_root_on_the_stack(void **state)
{
	stack_t stack = {.ss_sp = calloc(1, STACK_SIZE), .ss_size = STACK_SIZE}, before;
	const uint64_t *words = stack.ss_sp;
	/* in no register, which the kernel would put on the stack */
	static volatile uint64_t negated;
	size_t written = 0;

	assert_non_null(stack.ss_sp);
	negated = -fibers_root(stack.ss_sp);
	memset(stack.ss_sp, 0, STACK_SIZE);
	assert_int_equal(sigaltstack(&stack, &before), 0);
	handle(SIGUSR1, on_signal, SA_ONSTACK);
	outer(raiser);
	assert_int_equal(sigaltstack(&before, NULL), 0);
	for (size_t i = 0; i < STACK_SIZE / sizeof(*words); i++) {
		assert_int_not_equal(words[i] + negated, 0);
		written += words[i] != 0;
	}
	assert_true(written > 100);
	free(stack.ss_sp);
}
#endif

LINK void *in_thread(void *arg)
{
	leaf();
	STAY();
	return arg;
}

static void a_thread_ends_where_it_began(void **state)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, in_thread, NULL), 0);
	pthread_join(thread, NULL);
	own_chain_name(&chain);
	assert_true(own_chain_is(&chain, CHAIN(leaf, in_thread)));
	assert_int_equal(chain.count, 2);
}

LINK void forker(void)
{
	int status;
	pid_t child = fork();

	if (!child) {
		leaf();
		own_chain_name(&chain);
		_exit(!own_chain_is(&chain, CHAIN(leaf, forker, middle, outer)));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void a_forked_child_walks_like_its_parent(void **state)
{
	outer(forker);
}

/* With any registers: no crash, and there is a first frame. */
static void registers_may_hold_anything(void **state)
{
	static const uint64_t values[] = {0,
					  1,
					  8,
					  4095,
					  4096,
					  0x7fffffffeff8,
					  0x7ffffffffff0,
					  0x800000000000,
					  0xdeadbeefdeadbee8,
					  0xffffffffff600000,
					  0xffffffffff600008,
					  0xfffffffffffffff8,
					  UINT64_MAX};
	const unsigned int count = sizeof(values) / sizeof(values[0]);
	const uint64_t codes[] = {(uint64_t)leaf + 1, (uint64_t)recurse + 12, (uint64_t)qsort + 40};

	for (unsigned int i = 0; i < 5 * count * count; i++) {
		uint64_t code = i % 5 < 3 ? codes[i % 5] : values[i / 5 / count];
		const struct bobbin_regs regs = {
			.pc = code,
			.sp = values[i / 5 % count],
			.fp = values[i / 5 / count],
			.exact = i & 1,
		};

		own_chain_init(&chain);
		bobbin_backtrace(&regs, &chain.trace);
		assert_in_range(chain.trace.count, 1, CHAIN_MAX);
		assert_int_equal(chain.frames[0].pc, code);
		assert_int_not_equal(chain.trace.reason, BOBBIN_REASON_NONE);
	}
}

/* A stack that ends in the middle of an unmapped page. */
static void a_stack_without_an_end_is_left_in_time(void **state)
{
	const long page = sysconf(_SC_PAGESIZE);
	uint8_t *pages = mmap(NULL, 3 * (size_t)page, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct bobbin_regs regs = {.pc = (uint64_t)leaf + 1};

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(munmap(pages + 2 * page, (size_t)page), 0);
	for (uint64_t sp = (uint64_t)pages; sp < (uint64_t)pages + 2 * (size_t)page; sp += 8) {
		/* each word leads back to the same function */
		*(uint64_t *)sp = (uint64_t)recurse + 12;
	}
	for (long back = 8; back < 2 * page; back += 504) {
		regs.sp = (uint64_t)pages + 2 * (size_t)page - (uint64_t)back;
		own_chain_init(&chain);
		bobbin_backtrace(&regs, &chain.trace);
		assert_int_not_equal(chain.trace.reason, BOBBIN_REASON_OUTERMOST);
	}
	munmap(pages, 2 * (size_t)page);
}

static int prepare(void **state)
{
	return bobbin_backtrace_prepare();
}

LINK int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_that_call_are_found),
		cmocka_unit_test(a_walk_from_here_is_the_same),
		cmocka_unit_test(glibc_says_the_same),
		cmocka_unit_test(deep_recursion_is_followed),
		cmocka_unit_test(a_trace_that_is_full_says_so),
		cmocka_unit_test(the_outer_frames_of_a_deep_stack_are_kept),
		cmocka_unit_test(a_callback_from_the_c_library_is_followed),
		cmocka_unit_test(a_signal_handler_sees_what_it_interrupted),
		cmocka_unit_test(a_handler_on_an_alternate_stack_is_left),
		cmocka_unit_test(a_handler_that_is_interrupted_is_left_twice),
		cmocka_unit_test(a_fiber_ends_where_it_began),
#ifdef __x86_64__
		cmocka_unit_test(a_walk_leaves_no_root_on_the_stack),
#endif
		cmocka_unit_test(a_thread_ends_where_it_began),
		cmocka_unit_test(a_forked_child_walks_like_its_parent),
		cmocka_unit_test(registers_may_hold_anything),
		cmocka_unit_test(a_stack_without_an_end_is_left_in_time),
	};

	return cmocka_run_group_tests(tests, prepare, NULL);
}
