/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the return address is, instruction by instruction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "infer/frame_state.h"

static const value entry_sp = VALUE_BASE | (value)-8 << (VALUE_KIND_BITS + VALUE_BASE_BITS);

static void push(struct frame_state *s, unsigned int reg)
{
	frame_state_step(s, &(struct x86_insn){.op = OP_PUSH, .reg = (uint8_t)reg, .size = 8}, 1);
}

static void pop(struct frame_state *s, unsigned int reg)
{
	frame_state_step(s, &(struct x86_insn){.op = OP_POP, .reg = (uint8_t)reg, .size = 8}, 1);
}

static void move_sp(struct frame_state *s, int64_t by)
{
	frame_state_step(s, &(struct x86_insn){.op = OP_ADD, .reg = X86_SP, .value = by}, 1);
}

static bool has_rule(const struct frame_state *s)
{
	struct bobbin_rule rule;

	return frame_state_rule(s, &rule);
}

static void a_function_finds_its_return_address_on_top(void **state)
{
	struct frame_state s;

	frame_state_entry(&s);
	assert_true(s.regs[X86_SP] == entry_sp);
	assert_true(frame_state_word(&s, entry_sp) == VALUE_RETURN);
	assert_true(frame_state_is_undone(&s) && !frame_state_has_popped(&s) && has_rule(&s));
}

static void a_return_address_is_followed_to_a_register_and_back(void **state)
{
	struct frame_state s;

	frame_state_entry(&s);
	pop(&s, X86_CX);
	assert_true(s.regs[X86_CX] == VALUE_RETURN);
	assert_true(frame_state_has_popped(&s) && !has_rule(&s) && !frame_state_is_undone(&s));
	push(&s, X86_CX);
	assert_true(frame_state_is_undone(&s) && has_rule(&s));
}

static void something_else_in_its_place_is_no_return_address(void **state)
{
	struct frame_state s;

	frame_state_entry(&s);
	pop(&s, X86_CX);
	push(&s, X86_DX);
	assert_true(frame_state_word(&s, entry_sp) == VALUE_NONE);
	assert_true(s.lost_ra && !frame_state_is_undone(&s) && !has_rule(&s));
	/* and back again */
	pop(&s, X86_DX);
	push(&s, X86_CX);
	assert_true(frame_state_is_undone(&s) && has_rule(&s));
}

static void a_call_overwrites_a_return_address_that_was_popped(void **state)
{
	struct frame_state s;

	frame_state_entry(&s);
	move_sp(&s, 8);
	assert_true(frame_state_word(&s, entry_sp) == VALUE_RETURN);
	frame_state_call(&s);
	move_sp(&s, -8);
	assert_true(s.lost_ra && !has_rule(&s));
}

static void below_a_frame_a_call_overwrites_nothing_of_it(void **state)
{
	struct frame_state s;

	frame_state_entry(&s);
	push(&s, X86_BP);
	frame_state_call(&s);
	assert_true(has_rule(&s));
	pop(&s, X86_BP);
	assert_true(frame_state_is_undone(&s));
}

static void what_is_pushed_is_found_again(void **state)
{
	struct frame_state s;

	frame_state_entry(&s);
	frame_state_push(&s, value_number(VALUE_CONSTANT, 0x401000));
	pop(&s, X86_BX);
	assert_true(s.regs[X86_BX] == value_number(VALUE_CONSTANT, 0x401000));
	assert_true(frame_state_is_undone(&s));
}

static void where_one_path_lost_it_it_is_lost(void **state)
{
	struct frame_state a, b;
	bool changed = false;

	frame_state_entry(&a);
	frame_state_entry(&b);
	pop(&b, X86_CX);
	push(&b, X86_DX);
	frame_state_join(&a, &b, &changed);
	assert_true(changed && a.lost_ra && !has_rule(&a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_finds_its_return_address_on_top),
		cmocka_unit_test(a_return_address_is_followed_to_a_register_and_back),
		cmocka_unit_test(something_else_in_its_place_is_no_return_address),
		cmocka_unit_test(a_call_overwrites_a_return_address_that_was_popped),
		cmocka_unit_test(below_a_frame_a_call_overwrites_nothing_of_it),
		cmocka_unit_test(what_is_pushed_is_found_again),
		cmocka_unit_test(where_one_path_lost_it_it_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
