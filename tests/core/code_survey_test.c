/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All ways of code: where they return, and how they come to a place. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "core/code_survey.h"

#define START 0x1000
#define BYTES 32768
/* Numbers of registers in rules. */
#define SP 7
#define FP 6

static uint8_t code[BYTES];
static struct code_survey survey;

static bool read_code(void *ctx, uint64_t addr, void *dst, size_t size)
{
	(void)ctx;
	if (addr < START || addr - START > BYTES - size)
		return false;
	memcpy(dst, code + (addr - START), size);
	return true;
}

#define PUT(at, bytes) memcpy(code + (at), bytes, sizeof(bytes) - 1)

static int fill(void **state)
{
	(void)state;
	memset(code, 0xf4, sizeof(code));
	return 0;
}

static struct survey_query query_from(unsigned int at)
{
	return (struct survey_query){
		.code = {read_code, NULL},
		.start = START,
		.end = START + BYTES,
		.from = START + at,
		.sp = 0x7000,
		.fp = 0x7100,
		.exact = true,
	};
}

static struct survey_answer ways_from(unsigned int at, bool over_calls)
{
	struct survey_query query = query_from(at);
	struct survey_answer answer;

	query.over_calls = over_calls;
	code_survey_run(&survey, &query, &answer);
	return answer;
}

/* The way from an offset to another one. */
static struct survey_answer way_between(unsigned int from, unsigned int to, bool exact)
{
	struct survey_query query = query_from(from);
	struct survey_answer answer;

	query.over_calls = true;
	query.to = START + to;
	query.to_exact = exact;
	code_survey_run(&survey, &query, &answer);
	return answer;
}

static void expect_cfa(const struct survey_answer *answer, uint8_t reg, int32_t off)
{
	assert_true(answer->returns);
	assert_false(answer->conflict);
	assert_int_equal(answer->rule.cfa.reg, reg);
	assert_int_equal(answer->rule.cfa.off, off);
}

/* 0: jz 100; jmp 0; 100: jz 200; jmp *%rax; 200: add $0x18,%rsp; ret */
static void a_return_is_found_behind_branches(void **state)
{
	struct survey_answer a;

	(void)state;
	PUT(0, "\x0f\x84\x5e\x00\x00\x00\xeb\xf8");
	PUT(100, "\x0f\x84\x5e\x00\x00\x00\xff\xe0");
	PUT(200, "\x48\x83\xc4\x18\xc3");
	a = ways_from(0, false);
	expect_cfa(&a, SP, 0x20);
	assert_false(a.spent);
}

/* 0: jz 10; add $8,%rsp; ret; 10: ret */
static void different_returns_contradict(void **state)
{
	struct survey_answer a;

	(void)state;
	PUT(0, "\x74\x08\x48\x83\xc4\x08\xc3");
	PUT(10, "\xc3");
	a = ways_from(0, false);
	assert_true(a.returns && a.conflict);
}

/* 0: jz 10; leave; ret; 10: add $0x100,%rsp; pop %rbp; ret */
static void places_are_compared_and_not_their_names(void **state)
{
	struct survey_query query;
	struct survey_answer a;

	(void)state;
	PUT(0, "\x74\x08\xc9\xc3");
	PUT(10, "\x48\x81\xc4\x00\x01\x00\x00\x5d\xc3");
	a = ways_from(0, false);
	assert_true(a.returns && !a.conflict);
	query = query_from(0);
	query.fp = 0x7108;
	code_survey_run(&survey, &query, &a);
	assert_true(a.conflict);
}

/*
 * 0: jz 16; pop %rbp; ret $0x20; 16: pop %rbp; pop %r10; lea (%rsp,%rcx,8),%rsp; push %r10; ret
 */
static void arguments_may_be_counted(void **state)
{
	struct survey_answer a;

	(void)state;
	PUT(0, "\x74\x0e\x5d\xc2\x20\x00");
	PUT(16, "\x5d\x41\x5a\x48\x8d\x24\xcc\x41\x52\xc3");
	a = ways_from(0, false);
	expect_cfa(&a, SP, 0x30);
	assert_int_equal(a.rule.ra.off, -0x28);
	/* without the other one the caller's stack pointer is not known */
	a = ways_from(16, false);
	assert_true(a.returns && a.conflict);
	/* at another place; 18: pop %rdx; lea (%rsp,%rcx,8),%rsp; push %rdx; ret */
	PUT(16, "\x58\x5d\x5a\x48\x8d\x24\xcc\x52\xc3");
	a = ways_from(0, false);
	assert_true(a.returns && a.conflict);
}

/* 0: call 40; add $8,%rsp; ret */
static void calls_are_crossed_if_wanted(void **state)
{
	struct survey_answer a;

	(void)state;
	PUT(0, "\xe8\x23\x00\x00\x00\x48\x83\xc4\x08\xc3");
	a = ways_from(0, false);
	assert_false(a.returns);
	a = ways_from(0, true);
	expect_cfa(&a, SP, 0x10);
}

/* 0: call; 5: push %rbx; pop %rbx; ret */
static void the_next_functions_return_is_not_taken(void **state)
{
	struct survey_answer a;

	(void)state;
	PUT(0, "\xe8\x23\x00\x00\x00\x53\x5b\xc3");
	a = ways_from(0, true);
	assert_false(a.returns);
}

/* 0: sub $0x18,%rsp; jz 20; call; 11: …; 20: add $0x18,%rsp; ret */
static void a_place_after_a_call_is_where_the_call_returns(void **state)
{
	struct survey_answer a;

	(void)state;
	PUT(0, "\x48\x83\xec\x18\x74\x0e\xe8\x00\x01\x00\x00");
	PUT(11, "\xeb\x07");
	PUT(20, "\x48\x83\xc4\x18\xc3");
	a = way_between(0, 11, false);
	assert_true(a.reached && a.undone);
	assert_int_equal(a.to_sp.base, CODE_SP);
	assert_int_equal(a.to_sp.off, -0x18);
	/* what is jumped to is no such place */
	assert_false(way_between(0, 20, false).reached);
	assert_true(way_between(0, 20, true).reached);
}

/* 0: jz 4; push %rax; nop; 4: nop: by two ways with two depths */
static void what_differs_is_unknown(void **state)
{
	struct survey_answer a;

	(void)state;
	PUT(0, "\x74\x02\x50\x90\x90\x90\xc3");
	a = way_between(0, 5, true);
	assert_true(a.reached);
	assert_int_equal(a.to_sp.base, CODE_UNKNOWN);
}

/* movabs $table,%rax; mov (%rax,%rcx,8),%rax; jmp *%rax */
static void tables_of_jumps_are_followed(void **state)
{
	struct survey_answer a;

	(void)state;
	PUT(0, "\x48\xb8\x80\x10\x00\x00\x00\x00\x00\x00\x48\x8b\x04\xc8\xff\xe0");
	PUT(0x80, "\x40\x10\x00\x00\x00\x00\x00\x00\x50\x10\x00\x00\x00\x00\x00\x00");
	PUT(0x50, "\x48\x83\xc4\x28\xc3");
	a = ways_from(0, false);
	expect_cfa(&a, SP, 0x30);
}

/* push %rbp; mov %rsp,%rbp; sub $0x20,%rsp; mov %rdi,-8(%rbp); leave; ret */
static void frame_records_are_followed_to_their_end(void **state)
{
	struct survey_answer a;

	(void)state;
	PUT(0, "\x55\x48\x89\xe5\x48\x83\xec\x20\x48\x89\x7d\xf8\xc9\xc3");
	a = ways_from(0, false);
	expect_cfa(&a, SP, 8);
	assert_int_equal(a.rule.fp.how, BOBBIN_HOW_SAME);
	assert_true(a.undone);
	a = ways_from(8, false);
	expect_cfa(&a, FP, 16);
}

/*
 * push %rbp; mov %rsp,%rbp; and $-16,%rsp; call *%rbx; 10: leave; pop %rcx; lea 8(%r15),%rsp;
 * push %rcx; ret
 */
static void frames_whose_arguments_end_at_a_register_are_left(void **state)
{
	struct survey_answer a;

	(void)state;
	PUT(0, "\x55\x48\x89\xe5\x48\x83\xe4\xf0\xff\xd3\xc9\x59\x49\x8d\x67\x08\x51\xc3");
	a = way_between(0, 10, false);
	assert_true(a.reached && a.undone);
	assert_int_equal(a.to_fp.base, CODE_SP);
	assert_int_equal(a.to_fp.off, -8);
	/* push %rdx: that is not what it was called from */
	PUT(16, "\x52");
	assert_false(way_between(0, 10, false).undone);
	/* a stack pointer of a base register and an index is no such end */
	PUT(12, "\x49\x8d\x64\x0f\x51\xc3");
	assert_false(way_between(0, 10, false).undone);
}

static void a_return_through_a_pushed_word_is_none(void **state)
{
	struct survey_answer a;

	(void)state;
	PUT(0, "\x50\xc3");
	a = ways_from(0, false);
	assert_false(a.returns);
}

/* From 0 on, of a function that ends at @end. */
static struct survey_answer ways_within(unsigned int end)
{
	struct survey_query query = query_from(0);
	struct survey_answer answer;

	query.end = START + end;
	query.over_calls = true;
	code_survey_run(&survey, &query, &answer);
	return answer;
}

/* 0: push %rbx; jz 10; call; 10: call: hlt */
static void code_that_ends_in_calls_never_leaves(void **state)
{
	struct survey_answer a;

	(void)state;
	PUT(0, "\x53\x74\x07\xe8\x00\x01\x00\x00");
	PUT(10, "\xe8\x00\x01\x00\x00");
	a = ways_within(15);
	assert_false(a.returns || a.leaves || a.spent);
	a = ways_within(16);
	assert_false(a.returns || a.leaves || a.spent);
}

/* What follows push %rbx: nop; jmp 100; jz 100; jmp *%rax; push %rax, ret; a byte that is no instruction */
static void code_leaves_by_all_that_is_not_followed(void **state)
{
	static const char *const ways[] = {"\x90\x90\x90", "\xeb\x60\xf4", "\x74\x60\xf4",
					   "\xff\xe0\xf4", "\x50\xc3\xf4", "\x06\xf4\xf4"};
	struct survey_answer a;

	(void)state;
	PUT(0, "\x53");
	for (unsigned int i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		memcpy(code + 1, ways[i], 3);
		a = ways_within(4);
		assert_true(a.leaves);
		assert_false(a.returns);
	}
}

/* More instructions, and more places, than are looked at. */
static void work_is_bounded(void **state)
{
	struct survey_query query = query_from(0);
	struct survey_answer a;

	(void)state;
	memset(code, 0x90, sizeof(code));
	assert_true(code_survey_run(&survey, &query, &a) <= SURVEY_INSNS);
	assert_true(a.spent);
	for (size_t i = 0; i + 1 < sizeof(code); i += 2) {
		code[i] = 0x74;
		code[i + 1] = 0x40;
	}
	assert_true(code_survey_run(&survey, &query, &a) <= SURVEY_INSNS);
	assert_true(a.spent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_return_is_found_behind_branches, fill),
		cmocka_unit_test_setup(different_returns_contradict, fill),
		cmocka_unit_test_setup(places_are_compared_and_not_their_names, fill),
		cmocka_unit_test_setup(arguments_may_be_counted, fill),
		cmocka_unit_test_setup(calls_are_crossed_if_wanted, fill),
		cmocka_unit_test_setup(the_next_functions_return_is_not_taken, fill),
		cmocka_unit_test_setup(a_place_after_a_call_is_where_the_call_returns, fill),
		cmocka_unit_test_setup(what_differs_is_unknown, fill),
		cmocka_unit_test_setup(tables_of_jumps_are_followed, fill),
		cmocka_unit_test_setup(frame_records_are_followed_to_their_end, fill),
		cmocka_unit_test_setup(frames_whose_arguments_end_at_a_register_are_left, fill),
		cmocka_unit_test_setup(a_return_through_a_pushed_word_is_none, fill),
		cmocka_unit_test_setup(code_that_ends_in_calls_never_leaves, fill),
		cmocka_unit_test_setup(code_leaves_by_all_that_is_not_followed, fill),
		cmocka_unit_test_setup(work_is_bounded, fill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
