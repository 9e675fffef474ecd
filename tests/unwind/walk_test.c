/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walker on copies of its own stack: the fast case and the memo must give the same as an
 * unknown reader.
 */
#include <bobbin/unwind.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "../e2e/shared_record.h"
#include "base/native_arch.h"
#include "unknown_reader.h"
#include "unwind/space.h"

#define COPY_SIZE 16384
#define ROUNDS 3000

struct fixture {
	struct bobbin_unwinder *unwinder;
	struct bobbin_space *space;
	unsigned int compared, deepest, cut;
};

static struct fixture fixture;

static void unwind(struct bobbin_regs *regs, struct bobbin_mem mem, struct bobbin_trace *trace)
{
	bobbin_unwind(fixture.unwinder, fixture.space, regs, &mem, trace);
}

/* Where a damaged word leads out of a copy, only a walk that knows its bounds can tell. */
static void assert_same_reason(enum bobbin_reason fast, enum bobbin_reason slow)
{
	if (fast == BOBBIN_REASON_OTHER_STACK && slow == BOBBIN_REASON_STACK_END)
		return;
	assert_int_equal(fast, slow);
}

static void compare(struct bobbin_regs *regs, struct bobbin_stack_copy *copy)
{
	static struct bobbin_frame fast_frames[BOBBIN_MAX_DEPTH], slow_frames[BOBBIN_MAX_DEPTH];
	struct bobbin_trace fast = {.frames = fast_frames, .max = BOBBIN_MAX_DEPTH};
	struct bobbin_trace slow = {.frames = slow_frames, .max = BOBBIN_MAX_DEPTH};

	unwind(regs, (struct bobbin_mem){bobbin_stack_copy_read, copy}, &fast);
	unwind(regs, (struct bobbin_mem){read_slowly, copy}, &slow);
	assert_same_reason(fast.reason, slow.reason);
	assert_int_equal(fast.count, slow.count);
	for (uint32_t i = 0; i < fast.count; i++) {
		assert_int_equal(fast_frames[i].pc, slow_frames[i].pc);
		assert_int_equal(fast_frames[i].source, slow_frames[i].source);
		assert_int_equal(fast_frames[i].exact, slow_frames[i].exact);
	}
	fixture.compared++;
	fixture.cut += fast.reason == BOBBIN_REASON_STACK_END;
	if (fast.reason == BOBBIN_REASON_OUTERMOST && fast.count > fixture.deepest)
		fixture.deepest = fast.count;
}

/* Through the kernel: plain reads would cross redzones of sanitizers. */
static size_t copy_stack(uint64_t from, uint8_t *to, size_t size)
{
	struct iovec local = {to, size}, remote = {(void *)from, size};
	ssize_t n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

	return n > 0 ? (size_t)n : 0;
}

/* The registers here, and what is above them on the stack, in part or whole. */
static __attribute__((noinline)) void take_sample(void)
{
	static uint8_t bytes[COPY_SIZE];
	struct bobbin_stack_copy copy = {.data = bytes, .size = sizeof(bytes)};
	struct bobbin_regs regs = {.exact = true};
	ucontext_t context;

	getcontext(&context);
#if defined(__x86_64__)
	regs.pc = (uint64_t)context.uc_mcontext.gregs[REG_RIP];
	regs.sp = (uint64_t)context.uc_mcontext.gregs[REG_RSP];
	regs.fp = (uint64_t)context.uc_mcontext.gregs[REG_RBP];
#else
#error "no registers for this architecture"
#endif
	copy.addr = regs.sp;
	if (rand() % 8 == 0)
		copy.size = (size_t)(rand() % 512) * 8;
	copy.size = copy_stack(regs.sp, bytes, copy.size);
	compare(&regs, &copy);
	/* as a return address, this is another frame */
	regs.exact = false;
	compare(&regs, &copy);
	/* a word that changed must be seen, whatever the last walk found there */
	if (copy.size >= 4096) {
		memset(bytes + rand() % 4088, rand() & 0xff, 8);
		compare(&regs, &copy);
	}
}

static __attribute__((noinline)) int wander(int depth);

static __attribute__((noinline)) int wander_far(int depth)
{
	volatile uint8_t room[600];

	room[depth % 600] = (uint8_t)depth;
	return wander(depth - 1) + room[depth % 600];
}

static __attribute__((noinline)) int wander(int depth)
{
	int result = depth;

	if (depth <= 0) {
		take_sample();
		return 0;
	}
	for (int i = rand() % 3; i >= 0; i--)
		result += rand() % 2 ? wander(depth - 1 - rand() % 3) : wander_far(depth - 1);
	return result + 1;
}

static void open_fixture(void)
{
	assert_int_equal(bobbin_unwinder_open(NULL, &fixture.unwinder), 0);
	assert_int_equal(bobbin_space_open(fixture.unwinder, native_arch(), &fixture.space), 0);
	assert_int_equal(bobbin_space_load(fixture.space, getpid()), 0);
}

static void close_fixture(void)
{
	bobbin_space_close(fixture.space);
	bobbin_unwinder_close(fixture.unwinder);
}

static void walks_over_copies_do_not_depend_on_the_last_walk(void **state)
{
	(void)state;
	open_fixture();
	srand(2);
	while (fixture.compared < ROUNDS)
		wander(8);
	close_fixture();
	/* whole traces and traces that were cut off were among them */
	assert_true(fixture.deepest >= 8);
	assert_true(fixture.cut > 0);
}

static void a_depth_limit_of_the_caller_is_kept(void **state)
{
	struct bobbin_frame frames[4];
	struct bobbin_trace trace = {.frames = frames, .max = 2};
	struct bobbin_regs regs = {.exact = true};
	struct bobbin_process_memory memory;
	ucontext_t context;

	(void)state;
	open_fixture();
	getcontext(&context);
	regs.pc = (uint64_t)context.uc_mcontext.gregs[REG_RIP];
	regs.sp = (uint64_t)context.uc_mcontext.gregs[REG_RSP];
	regs.fp = (uint64_t)context.uc_mcontext.gregs[REG_RBP];
	bobbin_process_memory_init(&memory, getpid());
	unwind(&regs, (struct bobbin_mem){bobbin_process_memory_read, &memory}, &trace);
	assert_int_equal(trace.count, 2);
	assert_int_equal(trace.reason, BOBBIN_REASON_DEPTH);
	close_fixture();
}

static bool same_frames(const struct bobbin_frame *a, const struct bobbin_frame *b, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (a[i].pc != b[i].pc || a[i].source != b[i].source || a[i].exact != b[i].exact)
			return false;
	return true;
}

/* @whole: the same stack without a limit. */
static void compare_with_whole(struct bobbin_regs *regs, struct bobbin_mem mem,
			       const struct bobbin_trace *whole, uint32_t max)
{
	static struct bobbin_frame frames[BOBBIN_MAX_DEPTH];
	struct bobbin_trace trace = {.frames = frames, .max = max};

	trace.outer = 1 + (uint32_t)rand() % (max - 1);
	unwind(regs, mem, &trace);
	assert_int_equal(trace.reason, whole->reason);
	assert_int_equal(trace.count + trace.left_out, whole->count);
	if (max >= whole->count) {
		assert_int_equal(trace.left_out, 0);
		assert_true(same_frames(frames, whole->frames, trace.count));
		return;
	}
	assert_int_equal(trace.count, max);
	assert_true(same_frames(frames, whole->frames, max - trace.outer));
	assert_true(same_frames(frames + max - trace.outer,
				whole->frames + whole->count - trace.outer, trace.outer));
}

static __attribute__((noinline)) int descend(int levels);

static int levels_below;

static void descend_from_shared(void)
{
	descend(levels_below);
}

static __attribute__((noinline)) int descend(int levels)
{
	static uint8_t bytes[1 << 18];
	static struct bobbin_frame frames[BOBBIN_MAX_DEPTH];
	struct bobbin_trace whole = {.frames = frames, .max = BOBBIN_MAX_DEPTH};
	struct bobbin_stack_copy copy = {.data = bytes};
	struct bobbin_regs regs = {.exact = true};
	ucontext_t context;

	if (levels % 3 == 1) {
		levels_below = levels - 1;
		call_shared(descend_from_shared);
		return 1;
	}
	if (levels)
		return descend(levels - 1) + (levels & 1 ? 1 : descend(0));
	if (fixture.compared)
		return 0;
	fixture.compared = 1;
	getcontext(&context);
	regs.pc = (uint64_t)context.uc_mcontext.gregs[REG_RIP];
	regs.sp = copy.addr = (uint64_t)context.uc_mcontext.gregs[REG_RSP];
	regs.fp = (uint64_t)context.uc_mcontext.gregs[REG_RBP];
	copy.size = copy_stack(regs.sp, bytes, sizeof(bytes));
	for (uint32_t max = 2; max <= BOBBIN_MAX_DEPTH; max += 1 + max / 16) {
		unwind(&regs, (struct bobbin_mem){bobbin_stack_copy_read, &copy}, &whole);
		compare_with_whole(&regs, (struct bobbin_mem){bobbin_stack_copy_read, &copy},
				   &whole, max);
		compare_with_whole(&regs, (struct bobbin_mem){read_slowly, &copy}, &whole, max);
	}
	assert_true(whole.count > 100);
	return 0;
}

static void the_outermost_frames_of_a_deep_stack_are_kept(void **state)
{
	(void)state;
	open_fixture();
	fixture.compared = 0;
	descend(100);
	assert_int_equal(fixture.compared, 1);
	close_fixture();
}

/* A stack on which the frame record of each frame is that of the next, without end. */
static void a_walk_without_end_ends(void **state)
{
	static const struct bobbin_mapping code = {.start = 0x1000, .end = 0x2000, .path = ""};
	static uint64_t words[1 << 22];
	struct bobbin_frame frames[8];
	struct bobbin_trace trace = {.frames = frames, .max = 8, .outer = 3};
	struct bobbin_stack_copy copy = {
		.addr = 0x10000, .data = (uint8_t *)words, .size = sizeof(words)};
	struct bobbin_regs regs = {.pc = 0x1800, .sp = 0x10000, .fp = 0x10000, .exact = true};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / 8; i += 2) {
		words[i] = 0x10000 + 8 * (i + 2);
		words[i + 1] = 0x1000 + i % 0x1000 + 1;
	}
	assert_int_equal(bobbin_unwinder_open(NULL, &fixture.unwinder), 0);
	assert_int_equal(bobbin_space_open(fixture.unwinder, bobbin_arch_amd64(), &fixture.space),
			 0);
	assert_int_equal(bobbin_space_map(fixture.space, &code), 0);
	unwind(&regs, (struct bobbin_mem){bobbin_stack_copy_read, &copy}, &trace);
	assert_int_equal(trace.reason, BOBBIN_REASON_DEPTH);
	assert_int_equal(trace.count, 8);
	assert_in_range(trace.left_out, BOBBIN_MAX_VISITS - 16, BOBBIN_MAX_VISITS);
	close_fixture();
}

static void only_walks_over_copies_are_remembered(void **state)
{
	struct bobbin_frame frame;
	struct bobbin_trace trace = {.frames = &frame, .max = 1};
	struct bobbin_regs regs = {.pc = 0x1000, .sp = 0x2000, .exact = true};
	struct bobbin_stack_copy copy = {.addr = 0x2000};

	(void)state;
	open_fixture();
	unwind(&regs, (struct bobbin_mem){read_slowly, &copy}, &trace);
	assert_null(fixture.space->memo);
	unwind(&regs, (struct bobbin_mem){bobbin_stack_copy_read, &copy}, &trace);
	assert_non_null(fixture.space->memo);
	close_fixture();
}

static void without_mappings_the_leaf_is_the_trace(void **state)
{
	struct bobbin_frame frame;
	struct bobbin_trace trace = {.frames = &frame, .max = 1};
	struct bobbin_regs regs = {.pc = 0x1000, .sp = 0x2000, .exact = true};
	struct bobbin_stack_copy copy = {.addr = 0x2000};
	struct bobbin_unwinder *unwinder;
	struct bobbin_space *space;
	struct bobbin_mem mem = {bobbin_stack_copy_read, &copy};

	(void)state;
	assert_int_equal(bobbin_unwinder_open(NULL, &unwinder), 0);
	assert_int_equal(bobbin_space_open(unwinder, native_arch(), &space), 0);
	bobbin_unwind(unwinder, space, &regs, &mem, &trace);
	assert_int_equal(trace.count, 1);
	assert_int_equal(trace.reason, BOBBIN_REASON_NO_MAPPING);
	bobbin_space_close(space);
	bobbin_unwinder_close(unwinder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_over_copies_do_not_depend_on_the_last_walk),
		cmocka_unit_test(a_depth_limit_of_the_caller_is_kept),
		cmocka_unit_test(the_outermost_frames_of_a_deep_stack_are_kept),
		cmocka_unit_test(a_walk_without_end_ends),
		cmocka_unit_test(only_walks_over_copies_are_remembered),
		cmocka_unit_test(without_mappings_the_leaf_is_the_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
