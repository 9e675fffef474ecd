/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which stack was left for the one that a thread is on, and that nothing else is taken for one. */
#include "shim/previous_stack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* By this note a program of Go is known. */
__asm__(".pushsection .note.go.buildid, \"a\", @note\n"
	".long 4, 4, 4\n"
	".ascii \"Go\\0\\0\"\n"
	".long 0\n"
	".popsection\n");

#define WORD sizeof(uint64_t)
#define SP 0x7f0000010000ull
#define STACK_WORDS 512

/* As the kernel writes it: return address, flags, link, stack, registers. */
static void put_signal_frame(uint64_t *stack, unsigned int at)
{
	stack[at] = 0x401000;
	stack[at + 1] = 7;
	stack[at + 2] = 0;
	stack[at + 3] = SP - 0x1000;
	stack[at + 4] = 0;
	stack[at + 5] = 0x4000;
	stack[at + 12] = 0x1234;
	stack[at + 21] = 0x7fff00000020;
	stack[at + 29] = SP + (at + 40) * WORD;
}

static struct previous_stack find(const uint64_t *stack, uint64_t sp, uint64_t r14, bool own)
{
	struct self_memory memory;

	self_memory_init(&memory);
	return previous_stack_find(&memory, sp, r14, own, stack, STACK_WORDS * WORD);
}

static void the_interrupted_stack_is_found(void **state)
{
	uint64_t stack[STACK_WORDS] = {0};
	struct previous_stack left;

	put_signal_frame(stack, 100);
	left = find(stack, SP, 0, false);
	assert_int_equal(left.sp, 0x7fff00000020);
	assert_true(left.size > 0);
	assert_int_equal(left.interrupted, 130 * WORD);
	assert_int_equal(left.r14, 0x1234);
	assert_int_equal(left.pc, 0);
	/* whoever is on a stack of a thread's own is in no handler with another */
	assert_int_equal(find(stack, SP, 0, true).size, 0);
}

/* Each of these words makes it another thing than a signal frame. */
static void what_only_looks_like_a_signal_frame_is_none(void **state)
{
	static const struct {
		unsigned int at;
		uint64_t word;
	} wrong[] = {
		{1, 256},            /* flags that there are not */
		{2, 1},              /* a link */
		{3, SP + 8},         /* a stack on which the thread is not */
		{5, 0},              /* no stack */
		{5, 0x1000},         /* one that ends before */
		{5, 1ull << 30},     /* larger than any */
		{21, 8},             /* no address */
		{21, SP + 64},       /* on the same stack */
		{29, SP},            /* registers below the frame */
		{29, SP + 0x100000}, /* and on no stack */
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		uint64_t stack[STACK_WORDS] = {0};

		put_signal_frame(stack, 100);
		stack[100 + wrong[i].at] = wrong[i].word;
		assert_int_equal(find(stack, SP, 0, false).size, 0);
	}
	/* one that is cut */
	uint64_t stack[STACK_WORDS] = {0};

	put_signal_frame(stack, STACK_WORDS - 40);
	memmove(stack + 11, stack, (STACK_WORDS - 11) * WORD);
	assert_int_equal(find(stack, SP, 0, false).size, 0);
}

/* Structures of Go's runtime: g has its stack, m, and where it was left; m has g0 and curg. */
struct runtime {
	uint64_t g0[64], gsignal[64], curg[64], m[64];
};

static struct runtime *make_runtime(void)
{
	struct runtime *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	r->m[0] = (uint64_t)(uintptr_t)r->g0;
	r->m[10] = (uint64_t)(uintptr_t)r->gsignal;
	r->m[23] = (uint64_t)(uintptr_t)r->curg;
	r->g0[6] = r->gsignal[6] = r->curg[6] = (uint64_t)(uintptr_t)r->m;
	r->g0[0] = SP - 0x1000;
	r->g0[1] = SP + 0x4000;
	r->gsignal[0] = 0x10000;
	r->gsignal[1] = 0x18000;
	r->curg[0] = 0xc000100000;
	r->curg[1] = 0xc000108000;
	r->curg[7] = 0xc000107f00;
	r->curg[8] = 0x470000;
	return r;
}

static void a_goroutine_that_was_left_for_the_runtime_is_found(void **state)
{
	const uint64_t stack[STACK_WORDS] = {0};
	struct runtime *r = make_runtime();
	const uint64_t g0 = (uint64_t)(uintptr_t)r->g0;
	struct previous_stack left = find(stack, SP, g0, true);

	assert_int_equal(left.sp, 0xc000107f00);
	assert_int_equal(left.size, 0x100);
	assert_int_equal(left.pc, 0x470000);
	assert_int_equal(left.interrupted, 0);
	/* the register is another's */
	assert_int_equal(find(stack, SP, (uint64_t)(uintptr_t)r->curg, true).size, 0);
	assert_int_equal(find(stack, SP, g0 + 8, true).size, 0);
	assert_int_equal(find(stack, SP, 0x10, true).size, 0);
	/* it is not the stack of g0 */
	assert_int_equal(find(stack, SP + 0x4000, g0, true).size, 0);
	/* a stack pointer that is not on the goroutine's stack */
	r->curg[7] = 0xc000108000;
	assert_int_equal(find(stack, SP, g0, true).size, 0);
	/* no goroutine */
	r->m[23] = 0;
	assert_int_equal(find(stack, SP, g0, true).size, 0);
	free(r);
}

static void a_goroutine_that_has_called_c_is_found(void **state)
{
	uint64_t stack[STACK_WORDS] = {0};
	struct runtime *r = make_runtime();
	struct previous_stack left;

	/* lengths and pointers, as C has them side by side */
	for (unsigned int i = 0; i < 300; i += 2) {
		stack[i] = 64;
		stack[i + 1] = (uint64_t)(uintptr_t)stack;
	}
	assert_int_equal(find(stack, SP, 0, true).size, 0);
	stack[500] = 0x200;
	stack[501] = (uint64_t)(uintptr_t)r->curg;
	left = find(stack, SP, 0, true);
	assert_int_equal(left.sp, 0xc000108000 - 0x200);
	assert_int_equal(left.size, 0x200);
	assert_int_equal(left.pc, 0);
	/* C has called Go, which has called C */
	stack[400] = 0x800;
	stack[401] = (uint64_t)(uintptr_t)r->curg;
	assert_int_equal(find(stack, SP, 0, true).size, 0x800);
	/* more than its stack has */
	stack[400] = 0x8008;
	assert_int_equal(find(stack, SP, 0, true).size, 0x200);
	/* no length, and others of the thread's */
	stack[500] = 0x201;
	assert_int_equal(find(stack, SP, 0, true).size, 0);
	stack[500] = 0x200;
	stack[501] = (uint64_t)(uintptr_t)r->g0;
	assert_int_equal(find(stack, SP, 0, true).size, 0);
	stack[501] = (uint64_t)(uintptr_t)r->gsignal;
	assert_int_equal(find(stack, SP, 0, true).size, 0);
	free(r);
}

static int begin(void **state)
{
	(void)state;
	previous_stack_begin();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_interrupted_stack_is_found),
		cmocka_unit_test(what_only_looks_like_a_signal_frame_is_none),
		cmocka_unit_test(a_goroutine_that_was_left_for_the_runtime_is_found),
		cmocka_unit_test(a_goroutine_that_has_called_c_is_found),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
