/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions that move their return address, or read it. */
#include "assembled_code.h"

CODE(moving,
     "pop %rax; push %rdi; push %rsi; push %rax; push %rbp; mov %rsp, %rbp; call *%rdx; leave;"
     "test %rbx, %rbx; je 1f; pop %rcx; add %rbx, %rsp; push %rcx; ret; 1: jmp moved_to;"
     "moved_to: ret");
extern const uint8_t moved_to[];

/* Below arguments that are pushed for the one that is called last. */
static void a_return_address_may_be_moved(void **state)
{
	struct made *m = *state;
	struct bobbin_rule rule;

	assert_int_equal(program_add_start(&m->program, (uintptr_t)moved_to, START_SYMBOL), 0);
	infer_function(m, moving, moving_end);
	RULES(m, "sp+8 u", "-", "-", "-", "sp+24 u", "sp+32 u", "fp+32 c-32", "fp+32 c-32",
	      "sp+24 u", "sp+24 u", "sp+24 u", "-", "-", "-", "sp+24 u", "sp+8 u");
	bobbin_rule_unpack(row_at(m, m->start + 12)->word, &rule);
	assert_int_equal(rule.ra.off, -24);
	all_are_verified(m, true);
}

CODE(refilling,
     "push %rbp; mov %rsp, %rbp; sub $16, %rsp; test %rdi, %rdi; je 1f; mov (%rbp), %rbp;"
     "push 24(%rsp); mov %rdx, 32(%rsp); pop 8(%rsp); add $8, %rsp; jmp refilled_for;"
     "1: leave; ret; refilled_for: ret");
extern const uint8_t refilled_for[];

/* From memory to memory, where its place gets an argument, as V8 does. */
static void a_return_address_may_give_its_place_to_an_argument(void **state)
{
	struct made *m = *state;

	assert_int_equal(program_add_start(&m->program, (uintptr_t)refilled_for, START_SYMBOL), 0);
	infer_function(m, refilling, refilling_end);
	RULES(m, "sp+8 u", "sp+16 u", "fp+16 c-16", "fp+16 c-16", "fp+16 c-16", "fp+16 c-16",
	      "sp+32 u", "sp+40 u", "sp+40 u", "sp+32 u", "sp+24 u", "fp+16 c-16", "sp+8 u",
	      "sp+8 u");
	all_are_verified(m, true);
}

CODE(mistaken, "mov (%rsp), %rdx; mov 24(%rdx), %rax; ret");
CODE(handed_on, "mov (%rsp), %rdi; push %rdi; call *%rax; pop %rdi; ret");

/* A part of another function, in whose frame something else is there. */
static void a_return_address_is_none_of_data(void **state)
{
	struct made *m = *state;

	infer_function(m, mistaken, mistaken_end);
	all_are_verified(m, false);
	/* but it may be read */
	m = begin_again(state);
	infer_function(m, handed_on, handed_on_end);
	all_are_verified(m, true);
}

/* The rules of code of which nothing says that a function starts there. */
static void infer_hidden(struct made *m, const uint8_t *start, const uint8_t *end)
{
	m->start = (uintptr_t)start;
	m->end = (uintptr_t)end;
	add_bytes(&m->program, start, end, true);
	infer_all(m);
}

CODE(entering,
     "push %rbp; mov %rsp, %rbp; push $6; mov %rax, %r12; lea 8(%rbp,%r12,8), %r15; and $-16, %rsp;"
     "call *%rbx; mov 8(%rbp), %rcx; mov (%rbp), %rbp; lea 8(%r15), %rsp; push %rcx; ret");
CODE(popping, "pop %rcx; add $16, %rsp; push %rcx; ret");

/* V8's entry to C++ takes off as many arguments as it was called with. */
static void a_hidden_function_may_move_what_is_above_its_record(void **state)
{
	struct made *m = *state;

	infer_hidden(m, entering, entering_end);
	RULES(m, "sp+8 u", "sp+16 u", "sp+16 c-16", "sp+24 c-16", "sp+24 c-16", "sp+24 c-16",
	      "fp+16 c-16", "fp+16 c-16", "fp+16 c-16", "-", "-", "-");
	all_are_verified(m, true);
	/* without one it may be a part of another function */
	m = begin_again(state);
	infer_hidden(m, popping, popping_end);
	assert_int_equal(m->rows.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_return_address_may_be_moved),
		TEST(a_return_address_may_give_its_place_to_an_argument),
		TEST(a_return_address_is_none_of_data),
		TEST(a_hidden_function_may_move_what_is_above_its_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
