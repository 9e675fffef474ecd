/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the return address is, instruction by instruction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "infer/frame_state.h"
#include "infer/x86_decode.h"

static const value entry_sp = VALUE_BASE | (value)-8 << (VALUE_KIND_BITS + VALUE_BASE_BITS);

static void push(struct frame_state *s, unsigned int reg)
{
	const struct insn insn = {
		.op = OP_PUSH, .reg = (uint8_t)reg, .base = NO_REG, .index = NO_REG, .size = 8};

	frame_state_step(s, &insn, 1);
}

static void pop(struct frame_state *s, unsigned int reg)
{
	const struct insn insn = {
		.op = OP_POP, .reg = (uint8_t)reg, .base = NO_REG, .index = NO_REG, .size = 8};

	frame_state_step(s, &insn, 1);
}

/* To or from a word of the stack. */
static struct insn of_stack(enum insn_op op, int64_t value)
{
	return (struct insn){.op = (uint8_t)op,
			     .reg = NO_REG,
			     .base = X86_SP,
			     .index = NO_REG,
			     .value = value,
			     .size = 8};
}

static void move_sp(struct frame_state *s, int64_t by)
{
	frame_state_step(s, &(struct insn){.op = OP_ADD, .reg = X86_SP, .value = by}, 1);
}

static bool has_rule(const struct frame_state *s)
{
	struct bobbin_rule rule;

	return frame_state_rule(s, false, &rule);
}

static void a_function_finds_its_return_address_on_top(void **state)
{
	struct frame_state s;

	frame_state_entry(&s, &machine_amd64);
	assert_true(s.regs[X86_SP] == entry_sp);
	assert_true(frame_state_word(&s, entry_sp) == VALUE_RETURN);
	assert_true(frame_state_is_undone(&s) && !frame_state_has_popped(&s) && has_rule(&s));
}

static void a_return_address_is_followed_to_a_register_and_back(void **state)
{
	struct frame_state s;

	frame_state_entry(&s, &machine_amd64);
	pop(&s, X86_CX);
	assert_true(s.regs[X86_CX] == VALUE_RETURN);
	assert_true(frame_state_has_popped(&s) && !has_rule(&s) && !frame_state_is_undone(&s));
	push(&s, X86_CX);
	assert_true(frame_state_is_undone(&s) && has_rule(&s));
}

/* The address is that after the word was taken off. */
static void a_word_is_popped_over_the_return_address(void **state)
{
	struct insn insn = of_stack(OP_POP, 8);
	struct frame_state s;

	frame_state_entry(&s, &machine_amd64);
	push(&s, X86_AX);
	frame_state_step(&s, &insn, 1);
	assert_true(has_rule(&s) && frame_state_is_undone(&s));
	push(&s, X86_AX);
	insn.value = 0;
	frame_state_step(&s, &insn, 1);
	assert_false(has_rule(&s));
}

/* A word of the stack, by the address before it is pushed. */
static void a_return_address_is_pushed_again(void **state)
{
	struct insn insn = of_stack(OP_PUSH, 8);
	struct frame_state s;

	frame_state_entry(&s, &machine_amd64);
	push(&s, X86_AX);
	frame_state_step(&s, &insn, 1);
	assert_true(frame_state_word(&s, frame_state_sp(&s)) == VALUE_RETURN);
	/* half of it is not it */
	insn.size = 2;
	insn.value = 0;
	frame_state_step(&s, &insn, 1);
	assert_true(frame_state_word(&s, frame_state_sp(&s)) == VALUE_NONE);
	/* nor is what is loaded from elsewhere */
	insn.size = 8;
	insn.base = X86_DI;
	frame_state_step(&s, &insn, 1);
	assert_true(frame_state_word(&s, frame_state_sp(&s)) == VALUE_NONE);
}

static void something_else_in_its_place_is_no_return_address(void **state)
{
	struct frame_state s;

	frame_state_entry(&s, &machine_amd64);
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

	frame_state_entry(&s, &machine_amd64);
	move_sp(&s, 8);
	assert_true(frame_state_word(&s, entry_sp) == VALUE_RETURN);
	frame_state_call(&s, 0);
	move_sp(&s, -8);
	assert_true(s.lost_ra && !has_rule(&s));
}

static void below_a_frame_a_call_overwrites_nothing_of_it(void **state)
{
	struct frame_state s;

	frame_state_entry(&s, &machine_amd64);
	push(&s, X86_BP);
	frame_state_call(&s, 0);
	assert_true(has_rule(&s));
	pop(&s, X86_BP);
	assert_true(frame_state_is_undone(&s));
}

static void what_is_pushed_is_found_again(void **state)
{
	struct frame_state s;

	frame_state_entry(&s, &machine_amd64);
	frame_state_push(&s, value_number(VALUE_CONSTANT, 0x401000));
	pop(&s, X86_BX);
	assert_true(s.regs[X86_BX] == value_number(VALUE_CONSTANT, 0x401000));
	assert_true(frame_state_is_undone(&s));
}

static void where_one_path_lost_it_it_is_lost(void **state)
{
	struct frame_state a, b;
	bool changed = false;

	frame_state_entry(&a, &machine_amd64);
	frame_state_entry(&b, &machine_amd64);
	pop(&b, X86_CX);
	push(&b, X86_DX);
	frame_state_join(&a, &b, &changed);
	assert_true(changed && a.lost_ra && !has_rule(&a));
}

static void step(struct frame_state *s, struct insn insn)
{
	frame_state_step(s, &insn, 1);
}

/* push %rbp; mov %rsp, %rbp; sub $48, %rsp */
static void make_frame(struct frame_state *s)
{
	frame_state_entry(s, &machine_amd64);
	push(s, X86_BP);
	step(s, (struct insn){.op = OP_MOVE, .reg = X86_BP, .base = X86_SP});
	move_sp(s, -48);
}

static void rule_is(const struct frame_state *s, unsigned int reg, int32_t cfa, int32_t fp)
{
	struct bobbin_rule rule;

	assert_true(frame_state_rule(s, false, &rule));
	assert_int_equal(rule.cfa.how, BOBBIN_HOW_AT_REG);
	assert_int_equal(rule.cfa.reg, reg);
	assert_int_equal(rule.cfa.off, cfa);
	assert_int_equal(rule.ra.off, -8);
	assert_int_equal(rule.fp.how, fp ? BOBBIN_HOW_IN_CFA_MEM : BOBBIN_HOW_SAME);
	assert_int_equal(rule.fp.off, fp);
}

/* DWARF's numbers */
#define SP 7
#define FP 6

static void a_frame_is_known_by_both_registers(void **state)
{
	struct frame_state s;

	make_frame(&s);
	rule_is(&s, SP, 64, -16);
	step(&s, (struct insn){.op = OP_ALIGN, .reg = X86_SP, .value = -32});
	rule_is(&s, FP, 16, -16);
	step(&s, (struct insn){.op = OP_LEAVE});
	rule_is(&s, SP, 8, 0);
	assert_true(frame_state_is_undone(&s));
}

static void enter_is_a_frame_in_one_instruction(void **state)
{
	struct frame_state s, made;

	make_frame(&made);
	frame_state_entry(&s, &machine_amd64);
	step(&s, (struct insn){.op = OP_ENTER, .value = 48});
	assert_true(s.regs[X86_SP] == made.regs[X86_SP] && s.regs[X86_BP] == made.regs[X86_BP]);
	rule_is(&s, SP, 64, -16);
}

/* mov %eax, @value(%rbp), or another size */
static void store_by_fp(struct frame_state *s, int64_t at, uint8_t size)
{
	step(s, (struct insn){.op = OP_STORE,
			      .reg = X86_AX,
			      .base = X86_BP,
			      .index = NO_REG,
			      .value = at,
			      .size = size});
}

static void a_store_into_a_part_of_a_word_overwrites_it(void **state)
{
	struct frame_state s;

	make_frame(&s);
	store_by_fp(&s, -4, 4);
	store_by_fp(&s, -8, 8);
	assert_true(has_rule(&s));
	store_by_fp(&s, 7, 1);
	assert_false(has_rule(&s));
	make_frame(&s);
	store_by_fp(&s, -4, 16);
	assert_true(s.lost_ra || !has_rule(&s));
	make_frame(&s);
	store_by_fp(&s, 15, 1);
	assert_true(s.lost_ra && !has_rule(&s));
}

static void a_store_to_an_unknown_place_hits_nothing(void **state)
{
	struct frame_state s;

	make_frame(&s);
	step(&s,
	     (struct insn){
		     .op = OP_STORE, .reg = X86_AX, .base = X86_DI, .index = NO_REG, .size = 8});
	rule_is(&s, SP, 64, -16);
}

static void what_changes_an_unfollowed_register_changes_no_rule(void **state)
{
	struct frame_state s;

	make_frame(&s);
	step(&s, (struct insn){.op = OP_NOTHING, .mask = 1u << X86_AX | 1u << X86_R11});
	rule_is(&s, SP, 64, -16);
	step(&s, (struct insn){.op = OP_NOTHING, .mask = 1u << X86_SP});
	rule_is(&s, FP, 16, -16);
	step(&s, (struct insn){.op = OP_NOTHING, .mask = 1u << X86_BP});
	assert_false(has_rule(&s));
}

static void more_words_than_are_followed_are_not_found_again(void **state)
{
	struct frame_state s;

	make_frame(&s);
	for (unsigned int i = 0; i < FRAME_SLOTS; i++)
		frame_state_push(&s, value_number(VALUE_CONSTANT, i));
	assert_int_equal(s.count, FRAME_SLOTS);
	rule_is(&s, SP, 64 + 8 * FRAME_SLOTS, -16);
	assert_true(frame_state_word(&s, s.regs[X86_SP]) == VALUE_NONE);
}

static void a_comparison_limits_the_index_of_a_switch(void **state)
{
	const struct insn above = {.op = OP_BRANCH, .cond = COND_ABOVE};
	struct frame_state s, taken;

	frame_state_entry(&s, &machine_amd64);
	step(&s, (struct insn){.op = OP_COMPARE, .value = 9});
	taken = s;
	frame_state_branch(&taken, &above, true);
	assert_int_equal(taken.limit, 0);
	frame_state_branch(&s, &above, false);
	assert_int_equal(s.limit, 10);
}

static void paths_that_disagree_about_the_stack_pointer_are_noticed(void **state)
{
	struct frame_state a, b;
	bool changed = false;

	make_frame(&a);
	b = a;
	assert_int_equal(frame_state_join(&a, &b, &changed), JOIN_AGREES);
	assert_false(changed);
	move_sp(&b, -8);
	assert_int_equal(frame_state_join(&a, &b, &changed), JOIN_MOVES);
	assert_true(changed);
	/* the frame pointer still tells */
	rule_is(&a, FP, 16, -16);
	b.regs[X86_BP] = VALUE_NONE;
	assert_int_equal(frame_state_join(&a, &b, &changed), JOIN_LOSES);
	assert_false(has_rule(&a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_finds_its_return_address_on_top),
		cmocka_unit_test(a_return_address_is_followed_to_a_register_and_back),
		cmocka_unit_test(a_word_is_popped_over_the_return_address),
		cmocka_unit_test(a_return_address_is_pushed_again),
		cmocka_unit_test(something_else_in_its_place_is_no_return_address),
		cmocka_unit_test(a_call_overwrites_a_return_address_that_was_popped),
		cmocka_unit_test(below_a_frame_a_call_overwrites_nothing_of_it),
		cmocka_unit_test(what_is_pushed_is_found_again),
		cmocka_unit_test(where_one_path_lost_it_it_is_lost),
		cmocka_unit_test(a_frame_is_known_by_both_registers),
		cmocka_unit_test(enter_is_a_frame_in_one_instruction),
		cmocka_unit_test(a_store_into_a_part_of_a_word_overwrites_it),
		cmocka_unit_test(a_store_to_an_unknown_place_hits_nothing),
		cmocka_unit_test(what_changes_an_unfollowed_register_changes_no_rule),
		cmocka_unit_test(more_words_than_are_followed_are_not_found_again),
		cmocka_unit_test(a_comparison_limits_the_index_of_a_switch),
		cmocka_unit_test(paths_that_disagree_about_the_stack_pointer_are_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
