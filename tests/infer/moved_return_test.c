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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_return_address_may_be_moved),
		TEST(a_return_address_may_give_its_place_to_an_argument),
		TEST(a_return_address_is_none_of_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
