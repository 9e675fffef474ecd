/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core/plain_step.h"

#include <bobbin/step.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WORDS 64
#define BASE 0x7000

struct stack {
	uint64_t words[WORDS];
};

static enum bobbin_reason read_stack(void *ctx, uint64_t addr, void *dst, size_t len)
{
	const struct stack *stack = ctx;

	if (addr < BASE || addr - BASE > sizeof(stack->words) - len)
		return BOBBIN_REASON_NO_MEMORY;
	memcpy(dst, (const uint8_t *)stack->words + (addr - BASE), len);
	return BOBBIN_REASON_NONE;
}

/* What a walker does with a plain word; false: it would ask bobbin_step(). */
static bool plain_step(const struct plain_forms *forms, uint64_t word, struct stack *stack,
		       struct bobbin_regs *regs)
{
	uint64_t cfa, ra, fp = regs->fp;
	int64_t off;

	if (!plain_cfa(forms, word, regs->sp, regs->fp, &cfa) || cfa <= regs->sp || cfa % 8 ||
	    read_stack(stack, cfa - 8, &ra, 8))
		return false;
	if (plain_fp_saved(word, &off) && read_stack(stack, cfa + (uint64_t)off, &fp, 8))
		return false;
	*regs = (struct bobbin_regs){.pc = ra, .sp = cfa, .fp = fp};
	return true;
}

/* Foreign byte orders have no plain steps: false then, and that is all to be seen. */
static bool forms_of_amd64(struct plain_forms *forms)
{
	plain_forms_of(bobbin_arch_amd64(), forms);
	if (!BOBBIN_HOST_BIG_ENDIAN)
		return true;
	assert_int_equal(forms->from_sp | forms->from_fp | forms->record, 0);
	return false;
}

static int32_t random_off(void)
{
	return (int32_t)(rand() % 64 - 16) * 8;
}

static struct bobbin_rule random_rule(void)
{
	static const uint8_t bases[] = {7, 6, 7, 6, 10, 3};

	return (struct bobbin_rule){
		.cfa = {.how = rand() % 8 ? BOBBIN_HOW_AT_REG : BOBBIN_HOW_IN_REG_MEM,
			.reg = bases[rand() % 6],
			.off = random_off()},
		.ra = {.how = rand() % 8 ? BOBBIN_HOW_IN_CFA_MEM : BOBBIN_HOW_UNDEFINED,
		       .off = rand() % 8 ? -8 : -16},
		.fp = {.how = rand() % 2 ? BOBBIN_HOW_SAME : BOBBIN_HOW_IN_CFA_MEM, .off = 0},
		.index = BOBBIN_NO_INDEX,
		.flags = rand() % 16 ? 0 : BOBBIN_RULE_SIGNAL,
	};
}

static void a_plain_step_is_what_step_does(void **state)
{
	unsigned int plain = 0;
	struct plain_forms forms;
	struct stack stack;
	struct bobbin_mem mem = {read_stack, &stack};

	(void)state;
	if (!forms_of_amd64(&forms))
		return;
	srand(1);
	for (unsigned int i = 0; i < WORDS; i++)
		stack.words[i] = BASE + (uint64_t)(rand() % WORDS) * 8;
	for (unsigned int i = 0; i < 200000; i++) {
		struct bobbin_rule rule = random_rule();
		struct bobbin_regs fast = {.pc = 1, .sp = BASE + 8 * (uint64_t)(rand() % 32)}, slow;
		uint64_t word;

		if (rule.fp.how == BOBBIN_HOW_IN_CFA_MEM)
			rule.fp.off = random_off();
		fast.fp = BASE + 8 * (uint64_t)(rand() % WORDS);
		slow = fast;
		assert_int_equal(bobbin_rule_pack(&rule, &word), 0);
		assert_int_equal(plain_outermost(word), rule.ra.how == BOBBIN_HOW_UNDEFINED);
		if (!plain_step(&forms, word, &stack, &fast))
			continue;
		plain++;
		assert_int_equal(bobbin_step(bobbin_arch_amd64(), &rule, &mem, &slow),
				 BOBBIN_REASON_NONE);
		assert_int_equal(fast.pc, slow.pc);
		assert_int_equal(fast.sp, slow.sp);
		assert_int_equal(fast.fp, slow.fp);
		assert_false(slow.exact);
	}
	/* not only refusals */
	assert_true(plain > 20000);
}

/* push %rbp; mov %rsp, %rbp: the commonest rule of all but the leaf's */
static void a_frame_record_is_plain(void **state)
{
	struct bobbin_rule rule = {
		.cfa = {.how = BOBBIN_HOW_AT_REG, .reg = 6, .off = 16},
		.ra = {.how = BOBBIN_HOW_IN_CFA_MEM, .off = -8},
		.fp = {.how = BOBBIN_HOW_IN_CFA_MEM, .off = -16},
		.index = BOBBIN_NO_INDEX,
	};
	struct plain_forms forms;
	uint64_t word, cfa;
	int64_t off;

	(void)state;
	if (!forms_of_amd64(&forms))
		return;
	assert_int_equal(bobbin_rule_pack(&rule, &word), 0);
	assert_int_equal(word, forms.record);
	assert_true(plain_cfa(&forms, word, BASE, BASE + 32, &cfa));
	assert_int_equal(cfa, BASE + 48);
	assert_true(plain_fp_saved(word, &off));
	assert_int_equal(off, -16);
}

static void a_word_without_a_rule_is_neither_plain_nor_outermost(void **state)
{
	struct plain_forms forms;

	(void)state;
	plain_forms_of(bobbin_arch_amd64(), &forms);
	for (int reason = 1; reason < BOBBIN_REASON_COUNT; reason++) {
		struct bobbin_rule rule = bobbin_rule_none((enum bobbin_reason)reason);
		uint64_t word, cfa;

		assert_int_equal(bobbin_rule_pack(&rule, &word), 0);
		assert_false(plain_cfa(&forms, word, BASE, BASE, &cfa));
		assert_false(plain_outermost(word));
	}
}

static void architectures_with_a_link_register_have_no_plain_rules(void **state)
{
	struct plain_forms forms;

	(void)state;
	plain_forms_of(bobbin_arch_aarch64(), &forms);
	assert_int_equal(forms.from_sp, 0);
	plain_forms_of(bobbin_arch_s390x(), &forms);
	assert_int_equal(forms.from_sp, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_step_is_what_step_does),
		cmocka_unit_test(a_frame_record_is_plain),
		cmocka_unit_test(a_word_without_a_rule_is_neither_plain_nor_outermost),
		cmocka_unit_test(architectures_with_a_link_register_have_no_plain_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
