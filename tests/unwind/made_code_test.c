/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames of code that a process has made: what all ways say, and what the start of a function proves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "unwind/made_code.h"

#define START 0x10000
#define BYTES 4096
#define STACK 0x7000
#define PID 7
/* Functions, and a caller of the first one. */
#define FUNCTION 0x100
#define OTHER 0x200
#define CALLER 0x300
#define CALL_SIZE 5

static uint8_t code[BYTES];
static struct made_code *made;
static uint64_t reads;

static bool read_code(void *ctx, uint64_t addr, void *dst, size_t size)
{
	(void)ctx;
	reads++;
	if (addr < START || addr - START > BYTES - size)
		return false;
	memcpy(dst, code + (addr - START), size);
	return true;
}

#define PUT(at, bytes) memcpy(code + (at), bytes, sizeof(bytes) - 1)

/*
 * sub $0x28,%rsp; call; +9: jz +32; add $0x28,%rsp; ret; +32: call; +37: nobody comes to it
 */
#define PUT_FUNCTION(at) \
	(PUT(at, "\x48\x83\xec\x28\xe8\x00\x06\x00\x00\x74\x15\x48\x83\xc4\x28\xc3"), \
	 PUT((at) + 32, "\xe8\x00\x05\x00\x00"))
#define AFTER_CALL 9
#define DEPTH 0x28

static int open_made(void **state)
{
	(void)state;
	memset(code, 0xf4, sizeof(code));
	PUT_FUNCTION(FUNCTION);
	/* call FUNCTION */
	PUT(CALLER, "\xe8\xfb\xfd\xff\xff");
	made = made_code_open();
	return made ? 0 : -1;
}

static int close_made(void **state)
{
	(void)state;
	made_code_close(made);
	return 0;
}

static struct made_query query_of(const struct bobbin_regs *regs)
{
	return (struct made_query){
		.code = {read_code, NULL},
		.pid = PID,
		.start = START,
		.end = START + BYTES,
		.regs = regs,
	};
}

static struct bobbin_regs regs_at(unsigned int at, bool exact)
{
	return (struct bobbin_regs){.pc = START + at, .sp = STACK, .exact = exact};
}

static bool proves(const struct bobbin_regs *regs, uint64_t slot, unsigned int returns_to)
{
	const struct made_query query = query_of(regs);

	return made_code_proves(made, &query, slot, START + returns_to);
}

static void a_leaf_needs_no_other_proof(void **state)
{
	const struct bobbin_regs regs = regs_at(FUNCTION + AFTER_CALL, true);
	const struct made_query query = query_of(&regs);
	struct bobbin_rule rule;
	bool doubtful;

	(void)state;
	assert_true(made_code_rule(made, &query, &rule, &doubtful));
	assert_int_equal(rule.cfa.off, DEPTH + 8);
	assert_false(rule.flags & BOBBIN_RULE_LEAF);
}

static void what_is_after_a_call_is_likely(void **state)
{
	const struct bobbin_regs regs = regs_at(FUNCTION + AFTER_CALL, false);
	const struct made_query query = query_of(&regs);
	struct bobbin_rule rule;
	bool doubtful;

	(void)state;
	assert_true(made_code_rule(made, &query, &rule, &doubtful));
	assert_int_equal(rule.cfa.off, DEPTH + 8);
	assert_true(rule.flags & BOBBIN_RULE_LEAF);
}

static void the_function_that_was_called_proves_its_frame(void **state)
{
	const struct bobbin_regs regs = regs_at(FUNCTION + AFTER_CALL, false);

	(void)state;
	assert_true(proves(&regs, STACK + DEPTH, CALLER + CALL_SIZE));
	/* from what was found before, too */
	assert_false(proves(&regs, STACK + DEPTH + 8, CALLER + CALL_SIZE));
	assert_true(proves(&regs, STACK + DEPTH, CALLER + CALL_SIZE));
}

static void another_place_is_not_proved(void **state)
{
	const struct bobbin_regs regs = regs_at(FUNCTION + AFTER_CALL, false);

	(void)state;
	assert_false(proves(&regs, STACK + DEPTH + 8, CALLER + CALL_SIZE));
}

/* Through a register: call *%rax */
static void a_function_that_is_not_known_is_sought(void **state)
{
	const struct bobbin_regs regs = regs_at(FUNCTION + AFTER_CALL, false);

	(void)state;
	PUT(CALLER, "\x90\x90\x90\xff\xd0");
	assert_true(proves(&regs, STACK + DEPTH, CALLER + CALL_SIZE));
}

/*
 * The first function's last call never returns, and what follows is a part of the other function: it is
 * jumped to from there, so the call's return address is not in the other one's frame.
 */
static void the_neighbour_of_a_call_proves_nothing(void **state)
{
	const struct bobbin_regs regs = regs_at(FUNCTION + 37, false);
	const struct made_query query = query_of(&regs);
	struct bobbin_rule rule;
	bool doubtful;

	(void)state;
	/* push %rbx; jz FUNCTION + 37; pop %rbx; ret */
	PUT(OTHER, "\x53\x0f\x84\x1e\xff\xff\xff\x5b\xc3");
	PUT(FUNCTION + 37, "\x5b\xc3");
	PUT(CALLER, "\x90\x90\x90\xff\xd0");
	assert_true(made_code_rule(made, &query, &rule, &doubtful));
	assert_int_equal(rule.cfa.off, 16);
	assert_false(proves(&regs, STACK + 8, CALLER + CALL_SIZE));
}

static void answers_are_kept(void **state)
{
	const struct bobbin_regs regs = regs_at(FUNCTION + AFTER_CALL, false);

	(void)state;
	assert_true(proves(&regs, STACK + DEPTH, CALLER + CALL_SIZE));
	reads = 0;
	assert_true(proves(&regs, STACK + DEPTH, CALLER + CALL_SIZE));
	/* unless the machine has stopped meanwhile */
	assert_true(reads < 64);
}

static void pass(unsigned int ms)
{
	nanosleep(&(struct timespec){0, ms * 1000000l}, NULL);
}

/* Later the code around the PC is read, and tells that an answer does not hold any more. */
static void answers_hold_while_the_code_is_the_same(void **state)
{
	const struct bobbin_regs regs = regs_at(FUNCTION + AFTER_CALL, false);
	const struct made_query query = query_of(&regs);
	struct bobbin_rule rule;
	bool doubtful;

	(void)state;
	/* unless a second passes meanwhile */
	for (int i = 0; i < 20 && reads != 1; i++) {
		assert_true(made_code_rule(made, &query, &rule, &doubtful));
		pass(60);
		reads = 0;
		assert_true(made_code_rule(made, &query, &rule, &doubtful));
	}
	assert_int_equal(reads, 1);
	/* add $0x38,%rsp */
	PUT(FUNCTION + AFTER_CALL + 2, "\x48\x83\xc4\x38");
	pass(60);
	assert_true(made_code_rule(made, &query, &rule, &doubtful));
	assert_int_equal(rule.cfa.off, DEPTH + 0x10 + 8);
}

/* Each PC has a way of its own through all of the code, whose branches lead anywhere. */
static void work_is_bounded(void **state)
{
	const uint64_t begin = clock_now();
	uint64_t times = 0, seconds;

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(code); i += 2) {
		code[i] = 0x74;
		code[i + 1] = 0x10;
	}
	reads = 0;
	for (unsigned int i = 0; i < BYTES / 2; i++) {
		const struct bobbin_regs regs = regs_at(i * 2, false);
		const struct made_query query = query_of(&regs);
		struct bobbin_rule rule;
		bool doubtful;

		made_code_rule(made, &query, &rule, &doubtful);
		proves(&regs, STACK + 8, CALLER + CALL_SIZE);
		times++;
	}
	seconds = (clock_now() - begin) / NS_PER_SECOND;
	/* and those of the seconds in which it began and ended */
	assert_true(times == BYTES / 2 && reads < (seconds + 3) * MADE_CODE_RATE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_made, close_made)
	const struct CMUnitTest tests[] = {
		TEST(a_leaf_needs_no_other_proof),
		TEST(what_is_after_a_call_is_likely),
		TEST(the_function_that_was_called_proves_its_frame),
		TEST(another_place_is_not_proved),
		TEST(a_function_that_is_not_known_is_sought),
		TEST(the_neighbour_of_a_call_proves_nothing),
		TEST(answers_are_kept),
		TEST(answers_hold_while_the_code_is_the_same),
		TEST(work_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
