/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One step from a frame to its caller.  A stack is an array of words at
 * address BASE; reading anything else fails.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <bobbin/step.h>

#include "core/plain_step.h"

#define BASE 0x7ffc00001000ull
#define WORDS 64

/* Addresses of words of the stack. */
#define WORD(n) (BASE + 8 * (uint64_t)(n))

struct stack {
	uint64_t words[WORDS];
	bool big_endian;
	enum bobbin_reason beyond; /* what reads outside say; 0: NO_MEMORY */
	unsigned int reads;
};

static enum bobbin_reason stack_read(void *ctx, uint64_t addr, void *dst, size_t len)
{
	struct stack *s = ctx;
	uint8_t *bytes = dst;

	s->reads++;
	memset(dst, 0xa5, len);
	if (addr < BASE || addr - BASE > sizeof(s->words) - len)
		return s->beyond ? s->beyond : BOBBIN_REASON_NO_MEMORY;
	for (size_t i = 0; i < len; i++) {
		uint64_t at = addr - BASE + i;
		unsigned int byte = at % 8;

		bytes[i] = (uint8_t)(s->words[at / 8] >> 8 * (s->big_endian ? 7 - byte : byte));
	}
	return BOBBIN_REASON_NONE;
}

static struct bobbin_place at(enum bobbin_how how, uint8_t reg, int32_t off)
{
	return (struct bobbin_place){.how = (uint8_t)how, .reg = reg, .off = off};
}

static struct bobbin_rule rule_of(struct bobbin_place cfa, struct bobbin_place ra,
				  struct bobbin_place fp)
{
	return (struct bobbin_rule){.cfa = cfa, .ra = ra, .fp = fp, .index = BOBBIN_NO_INDEX};
}

/* push %rbp; mov %rsp,%rbp */
static struct bobbin_rule amd64_framed(void)
{
	return rule_of(at(BOBBIN_HOW_AT_REG, 6, 16), at(BOBBIN_HOW_IN_CFA_MEM, 0, -8),
		       at(BOBBIN_HOW_IN_CFA_MEM, 0, -16));
}

static enum bobbin_reason step(const struct bobbin_arch *arch, const struct bobbin_rule *rule,
			       struct stack *s, struct bobbin_regs *regs)
{
	const struct bobbin_mem mem = {stack_read, s};

	s->big_endian = arch->big_endian;
	return bobbin_step(arch, rule, &mem, regs);
}

static void assert_refuses(const struct bobbin_arch *arch, const struct bobbin_rule *rule,
			   struct stack *s, const struct bobbin_regs *regs,
			   enum bobbin_reason reason)
{
	struct bobbin_regs after;

	memcpy(&after, regs, sizeof(after));
	assert_int_equal(step(arch, rule, s, &after), reason);
	assert_memory_equal(&after, regs, sizeof(after));
}

static void a_framed_amd64_function_steps_to_its_caller(void **state)
{
	struct stack s = {.words = {[4] = 0xfeed, [5] = 0x401234}};
	struct bobbin_regs regs = {.pc = 1, .sp = WORD(0), .fp = WORD(4), .exact = true};
	struct bobbin_rule rule = amd64_framed();

	assert_int_equal(step(bobbin_arch_amd64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.pc == 0x401234);
	assert_true(regs.sp == WORD(6));
	assert_true(regs.fp == 0xfeed);
	assert_false(regs.exact);
	assert_false(regs.ra_known);
	assert_null(regs.gpr);
	assert_true(s.reads <= 3);
}

static void an_unchanged_frame_pointer_is_the_callers(void **state)
{
	struct stack s = {.words = {[2] = 0x1111}};
	struct bobbin_regs regs = {.pc = 1, .sp = WORD(0), .fp = 0xabcdef, .exact = true};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_AT_REG, 7, 24),
					  at(BOBBIN_HOW_IN_CFA_MEM, 0, -8),
					  at(BOBBIN_HOW_SAME, 0, 0));

	assert_int_equal(step(bobbin_arch_amd64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.pc == 0x1111 && regs.sp == WORD(3) && regs.fp == 0xabcdef);
	assert_int_equal(s.reads, 1);
}

/* pop %rbp; → ret: the slot's rule still holds, but a copy of the stack begins above it */
static void a_popped_frame_pointer_is_in_its_register(void **state)
{
	struct stack s = {.words = {[0] = 0x1111}};
	struct bobbin_regs regs = {.pc = 1, .sp = WORD(0), .fp = 0xabcdef, .exact = true};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_AT_REG, 7, 8),
					  at(BOBBIN_HOW_IN_CFA_MEM, 0, -8),
					  at(BOBBIN_HOW_IN_CFA_MEM, 0, -16));

	assert_int_equal(step(bobbin_arch_amd64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.pc == 0x1111 && regs.sp == WORD(1) && regs.fp == 0xabcdef);
}

static void an_unreadable_frame_pointer_of_a_caller_is_missed(void **state)
{
	struct stack s = {.words = {[0] = 0x1111}};
	const struct bobbin_regs regs = {.pc = 1, .sp = WORD(-2), .fp = 0xabcdef};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_AT_REG, 7, 24),
					  at(BOBBIN_HOW_IN_CFA_MEM, 0, -8),
					  at(BOBBIN_HOW_IN_CFA_MEM, 0, -16));

	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_NO_MEMORY);
}

static void frame_pointers_come_from_each_kind_of_place(void **state)
{
	const uint64_t gpr[BOBBIN_REG_COUNT] = {[11] = WORD(8)};
	struct stack s = {.words = {[1] = 0x1111, [9] = 0x99}};
	const struct bobbin_place places[] = {
		at(BOBBIN_HOW_AT_CFA, 0, -16),
		at(BOBBIN_HOW_AT_REG, 11, 16),
		at(BOBBIN_HOW_IN_REG_MEM, 11, 8),
		at(BOBBIN_HOW_IN_CFA_MEM, 0, 56),
	};
	const uint64_t values[] = {WORD(0), WORD(10), 0x99, 0x99};

	for (size_t i = 0; i < 4; i++) {
		struct bobbin_regs regs = {.sp = WORD(0), .gpr = gpr, .gpr_known = 1u << 11};
		struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_AT_REG, 7, 16),
						  at(BOBBIN_HOW_IN_CFA_MEM, 0, -8), places[i]);

		assert_int_equal(step(bobbin_arch_amd64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
		assert_true(regs.fp == values[i]);
	}
}

static void a_cfa_is_loaded_from_memory_and_added_to(void **state)
{
	struct stack s = {.words = {[3] = WORD(20), [20] = 0x2020}};
	struct bobbin_regs regs = {.sp = WORD(0)};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_IN_REG_MEM, 7, 24),
					  at(BOBBIN_HOW_IN_CFA_MEM, 0, -8),
					  at(BOBBIN_HOW_SAME, 0, 0));

	rule.plus = 8;
	assert_int_equal(step(bobbin_arch_amd64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.sp == WORD(21) && regs.pc == 0x2020);
}

/* CFA = *(rsp + 8 + 8 * r9) + 8, from bn_mul_mont */
static void a_cfa_is_loaded_with_an_index(void **state)
{
	const uint64_t gpr[BOBBIN_REG_COUNT] = {[9] = 5};
	struct stack s = {.words = {[6] = WORD(20), [20] = 0x2020}};
	struct bobbin_regs regs = {.sp = WORD(0), .gpr = gpr, .gpr_known = 1u << 9};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_IN_REG_MEM, 7, 8),
					  at(BOBBIN_HOW_IN_CFA_MEM, 0, -8),
					  at(BOBBIN_HOW_SAME, 0, 0));

	rule.plus = 8;
	rule.index = 9;
	assert_int_equal(step(bobbin_arch_amd64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.sp == WORD(21) && regs.pc == 0x2020);
	rule.plus = -8;
	regs = (struct bobbin_regs){.sp = WORD(0), .gpr = gpr, .gpr_known = 1u << 9};
	s.words[18] = 0x1818;
	assert_int_equal(step(bobbin_arch_amd64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.sp == WORD(19) && regs.pc == 0x1818);
}

static void a_missing_index_or_base_register_is_named(void **state)
{
	const uint64_t gpr[BOBBIN_REG_COUNT] = {[9] = 5};
	struct stack s = {0};
	struct bobbin_regs regs = {.sp = WORD(0), .gpr = gpr, .gpr_known = 1u << 8};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_IN_REG_MEM, 7, 8),
					  at(BOBBIN_HOW_IN_CFA_MEM, 0, -8),
					  at(BOBBIN_HOW_SAME, 0, 0));

	rule.index = 9;
	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_NO_REGISTER);
	rule.index = 200;
	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_NO_REGISTER);
	rule.index = BOBBIN_NO_INDEX;
	rule.cfa.reg = 10;
	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_NO_REGISTER);
	rule.cfa = at(BOBBIN_HOW_AT_REG, 200, 8);
	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_NO_REGISTER);
	regs.gpr = NULL;
	regs.gpr_known = ~0u;
	rule.cfa.reg = 10;
	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_NO_REGISTER);
}

static void a_missing_register_of_ra_or_fp_is_named(void **state)
{
	struct stack s = {.words = {[1] = 0x1111}};
	struct bobbin_regs regs = {.sp = WORD(0), .fp = 3};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_AT_REG, 7, 16), at(BOBBIN_HOW_AT_REG, 2, 0),
					  at(BOBBIN_HOW_SAME, 0, 0));

	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_NO_REGISTER);
	rule.ra = at(BOBBIN_HOW_IN_REG_MEM, 2, 0);
	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_NO_REGISTER);
	rule.ra = at(BOBBIN_HOW_IN_CFA_MEM, 0, -8);
	rule.fp = at(BOBBIN_HOW_AT_REG, 3, 0);
	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_NO_REGISTER);
}

static void unreadable_stack_leaves_registers_alone(void **state)
{
	struct stack s = {0};
	struct bobbin_regs regs = {.pc = 1, .sp = WORD(WORDS), .fp = WORD(WORDS + 2)};
	struct bobbin_rule rule = amd64_framed();

	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_NO_MEMORY);
	rule.cfa.how = BOBBIN_HOW_IN_REG_MEM;
	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_NO_MEMORY);
	/* the return address is there, the frame pointer is not */
	regs.sp = WORD(0);
	rule = rule_of(at(BOBBIN_HOW_AT_REG, 7, 16), at(BOBBIN_HOW_IN_CFA_MEM, 0, -8),
		       at(BOBBIN_HOW_IN_CFA_MEM, 0, -4096));
	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_NO_MEMORY);
}

/* OpenSSL's SHA for AVX2; only copies of the stack lack this word. */
static void a_cfa_that_is_kept_below_the_stack_pointer_is_said(void **state)
{
	struct stack s = {.words = {[3] = WORD(6), [6] = 0x401234}};
	struct bobbin_regs regs = {.pc = 1, .sp = WORD(4), .exact = true};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_IN_REG_MEM, 7, -8),
					  at(BOBBIN_HOW_IN_CFA_MEM, 0, -8),
					  at(BOBBIN_HOW_SAME, 0, 0));

	rule.plus = 8;
	assert_int_equal(step(bobbin_arch_amd64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.pc == 0x401234);
	regs = (struct bobbin_regs){.pc = 1, .sp = WORD(0), .exact = true};
	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_BELOW_SP);
}

static void the_readers_own_reason_is_handed_on(void **state)
{
	struct stack s = {.beyond = BOBBIN_REASON_STACK_END};
	struct bobbin_regs regs = {.pc = 1, .sp = WORD(WORDS), .fp = WORD(WORDS)};
	struct bobbin_rule rule = amd64_framed();

	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_STACK_END);
}

static void a_cfa_towards_the_leaf_is_stuck(void **state)
{
	struct stack s = {.words = {[4] = 0xfeed, [5] = 0x401234}};
	struct bobbin_regs regs = {.pc = 1, .sp = WORD(10), .fp = WORD(4), .exact = true};
	struct bobbin_rule rule = amd64_framed();

	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_STUCK);
}

static void an_equal_cfa_is_allowed_at_an_exact_pc_only(void **state)
{
	struct stack s = {.words = {[4] = 0xfeed, [5] = 0x401234}};
	struct bobbin_regs regs = {.pc = 1, .sp = WORD(6), .fp = WORD(4), .exact = true};
	struct bobbin_rule rule = amd64_framed();

	assert_int_equal(step(bobbin_arch_amd64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.sp == WORD(6));
	regs.fp = WORD(4);
	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_STUCK);
}

static void a_return_address_may_be_relative_to_the_pc(void **state)
{
	struct stack s = {.words = {0}};
	struct bobbin_regs regs = {.pc = 0x401020, .sp = WORD(0), .fp = 0xabcdef};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_AT_REG, 7, 128),
					  at(BOBBIN_HOW_AT_PC, 0, -27), at(BOBBIN_HOW_SAME, 0, 0));

	assert_int_equal(step(bobbin_arch_amd64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.pc == 0x401005 && regs.sp == WORD(16) && regs.fp == 0xabcdef);
	assert_false(regs.exact);
	assert_int_equal(s.reads, 0);
	rule.cfa = at(BOBBIN_HOW_AT_REG, 31, 16);
	regs = (struct bobbin_regs){.pc = 0x401020, .sp = WORD(0)};
	assert_int_equal(step(bobbin_arch_aarch64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.pc == 0x401005 && regs.sp == WORD(2));
}

static void the_pc_is_a_register_like_any_other(void **state)
{
	struct stack s = {.words = {[5] = 0x401234}};
	struct bobbin_regs regs = {.pc = WORD(4), .sp = WORD(0)};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_AT_REG, 7, 16),
					  at(BOBBIN_HOW_IN_REG_MEM, 16, 8),
					  at(BOBBIN_HOW_SAME, 0, 0));

	assert_int_equal(step(bobbin_arch_amd64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.pc == 0x401234);
}

/* glibc's stubs of locks call themselves, below the red zone; nobody else may go down. */
static void only_an_exact_pc_has_a_caller_below(void **state)
{
	struct stack s = {.words = {0}};
	struct bobbin_regs regs = {.pc = 0x401020, .sp = WORD(16), .exact = true};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_AT_REG, 7, -128),
					  at(BOBBIN_HOW_AT_PC, 0, 12), at(BOBBIN_HOW_SAME, 0, 0));

	assert_int_equal(step(bobbin_arch_amd64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.pc == 0x40102c && regs.sp == WORD(0));
	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_STUCK);
	/* another register may be anything */
	regs = (struct bobbin_regs){.pc = 1, .sp = WORD(16), .fp = WORD(16), .exact = true};
	rule.cfa.reg = 6;
	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_STUCK);
}

static void a_misaligned_cfa_is_refused(void **state)
{
	struct stack s = {0};
	struct bobbin_regs regs = {.pc = 1, .sp = WORD(0), .fp = WORD(4) + 4, .exact = true};
	struct bobbin_rule rule = amd64_framed();

	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_MISALIGNED);
	rule.flags = BOBBIN_RULE_SIGNAL;
	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_MISALIGNED);
	/* AArch64 asks for 16 bytes */
	rule = rule_of(at(BOBBIN_HOW_AT_REG, 31, 24), at(BOBBIN_HOW_IN_CFA_MEM, 0, -8),
		       at(BOBBIN_HOW_SAME, 0, 0));
	assert_refuses(bobbin_arch_aarch64(), &rule, &s, &regs, BOBBIN_REASON_MISALIGNED);
	rule.cfa.off = 32;
	s.words[3] = 0x401234;
	assert_int_equal(step(bobbin_arch_aarch64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
}

static void no_rule_gives_its_reason(void **state)
{
	struct stack s = {0};
	struct bobbin_regs regs = {.pc = 1, .sp = WORD(0)};
	struct bobbin_rule rule = bobbin_rule_none(BOBBIN_REASON_CFI_EXPRESSION);

	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_CFI_EXPRESSION);
	rule.reason = BOBBIN_REASON_NONE;
	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_BAD_RULE);
	assert_int_equal(s.reads, 0);
}

static void an_undefined_return_address_is_the_outermost_frame(void **state)
{
	struct stack s = {0};
	struct bobbin_regs regs = {.pc = 1, .sp = WORD(0)};
	struct bobbin_rule rule = amd64_framed();

	rule.ra = at(BOBBIN_HOW_UNDEFINED, 0, 0);
	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_OUTERMOST);
	assert_int_equal(s.reads, 0);
}

/* A wrong rule and a stack that code switched find zeros, too. */
static void a_return_address_of_zero_is_no_mark_of_a_root(void **state)
{
	struct stack s = {.words = {[4] = 0xfeed, [5] = 0}};
	struct bobbin_regs regs = {.pc = 1, .sp = WORD(0), .fp = WORD(4)};
	struct bobbin_rule rule = amd64_framed();

	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_ZERO_RA);
	rule = rule_of(at(BOBBIN_HOW_AT_REG, 31, 16), at(BOBBIN_HOW_SAME, 0, 0),
		       at(BOBBIN_HOW_SAME, 0, 0));
	regs = (struct bobbin_regs){.pc = 1, .sp = WORD(0), .ra_known = true};
	assert_refuses(bobbin_arch_aarch64(), &rule, &s, &regs, BOBBIN_REASON_ZERO_RA);
	/* the authentication code is removed */
	regs.ra = 0x007f000000000000;
	rule.flags = BOBBIN_RULE_MANGLED;
	assert_refuses(bobbin_arch_aarch64(), &rule, &s, &regs, BOBBIN_REASON_ZERO_RA);
}

static void a_signal_may_interrupt_at_address_zero(void **state)
{
	struct stack s = {.words = {[4] = 0xfeed, [5] = 0}};
	struct bobbin_regs regs = {.pc = 1, .sp = WORD(0), .fp = WORD(4)};
	struct bobbin_rule rule = amd64_framed();

	rule.flags = BOBBIN_RULE_SIGNAL;
	assert_int_equal(step(bobbin_arch_amd64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_int_equal(regs.pc, 0);
	assert_true(regs.exact);
}

/* Rules come from anywhere: each combination of forms that has no meaning. */
static void a_place_without_meaning_is_a_bad_rule(void **state)
{
	struct stack s = {.words = {[1] = 0x1111}};
	struct bobbin_regs regs = {.sp = WORD(0), .fp = WORD(0)};

	for (int how = 0; how < 256; how++) {
		struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_AT_REG, 7, 16),
						  at(BOBBIN_HOW_IN_CFA_MEM, 0, -8),
						  at(BOBBIN_HOW_SAME, 0, 0));

		rule.cfa.how = (uint8_t)how;
		if (how && how != BOBBIN_HOW_AT_REG && how != BOBBIN_HOW_IN_REG_MEM)
			assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs,
				       BOBBIN_REASON_BAD_RULE);
		rule.cfa.how = BOBBIN_HOW_AT_REG;
		rule.ra.how = (uint8_t)how;
		if (how != BOBBIN_HOW_UNDEFINED && how != BOBBIN_HOW_IN_CFA_MEM &&
		    how != BOBBIN_HOW_AT_REG && how != BOBBIN_HOW_IN_REG_MEM &&
		    how != BOBBIN_HOW_AT_PC)
			assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs,
				       BOBBIN_REASON_BAD_RULE);
		rule.ra.how = BOBBIN_HOW_IN_CFA_MEM;
		rule.fp.how = (uint8_t)how;
		if (how == BOBBIN_HOW_NO_RULE || how == BOBBIN_HOW_UNDEFINED ||
		    how > BOBBIN_HOW_IN_REG_MEM)
			assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs,
				       BOBBIN_REASON_BAD_RULE);
	}
}

static void a_signal_frame_may_switch_stacks(void **state)
{
	struct stack s = {.words = {[40] = WORD(2), [41] = 0x401000, [35] = 0xf0f0}};
	struct bobbin_regs regs = {.pc = 0x7000, .sp = WORD(20)};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_IN_REG_MEM, 7, 160),
					  at(BOBBIN_HOW_IN_REG_MEM, 7, 168),
					  at(BOBBIN_HOW_IN_REG_MEM, 7, 120));

	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_STUCK);
	rule.flags = BOBBIN_RULE_SIGNAL;
	s.reads = 0;
	assert_int_equal(step(bobbin_arch_amd64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.sp == WORD(2) && regs.pc == 0x401000 && regs.fp == 0xf0f0);
	assert_true(regs.exact);
	assert_int_equal(s.reads, 3);
}

static void a_rule_that_switches_stacks_may_lead_below(void **state)
{
	struct stack s = {.words = {[2] = 0xf0f0, [3] = 0x401000}};
	struct bobbin_regs regs = {.pc = 0x7000, .sp = WORD(20), .fp = WORD(2)};
	struct bobbin_rule rule = amd64_framed();
	uint64_t word;

	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_STUCK);
	rule.flags = BOBBIN_RULE_SWITCH;
	assert_int_equal(bobbin_rule_pack(&rule, &word), 0);
	assert_true(plain_switches(word) && !plain_outermost(word));
	assert_int_equal(step(bobbin_arch_amd64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.sp == WORD(4) && regs.pc == 0x401000 && regs.fp == 0xf0f0);
	assert_true(!regs.exact);
}

static void the_look_up_is_one_byte_before_a_return_address(void **state)
{
	struct bobbin_regs regs = {.pc = 0x401000};

	assert_true(bobbin_regs_lookup_pc(&regs) == 0x400fff);
	regs.exact = true;
	assert_true(bobbin_regs_lookup_pc(&regs) == 0x401000);
}

static void an_aarch64_leaf_returns_through_its_link_register(void **state)
{
	struct stack s = {0};
	struct bobbin_regs regs = {.pc = 1, .sp = WORD(2), .fp = 7, .ra = 0x4444, .exact = true};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_AT_REG, 31, 0), at(BOBBIN_HOW_SAME, 0, 0),
					  at(BOBBIN_HOW_SAME, 0, 0));

	assert_refuses(bobbin_arch_aarch64(), &rule, &s, &regs, BOBBIN_REASON_NO_REGISTER);
	regs.ra_known = true;
	assert_int_equal(step(bobbin_arch_aarch64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.pc == 0x4444 && regs.sp == WORD(2) && regs.fp == 7);
	assert_false(regs.ra_known);
	assert_int_equal(s.reads, 0);
	/* a caller that claims the same is no leaf */
	assert_refuses(bobbin_arch_aarch64(), &rule, &s, &regs, BOBBIN_REASON_STUCK);
}

static void a_link_register_is_found_among_all_registers(void **state)
{
	const uint64_t gpr[BOBBIN_REG_COUNT] = {[30] = 0x3030};
	struct stack s = {0};
	struct bobbin_regs regs = {.sp = WORD(2), .gpr = gpr, .gpr_known = 1u << 30, .exact = true};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_AT_REG, 31, 0), at(BOBBIN_HOW_SAME, 0, 0),
					  at(BOBBIN_HOW_SAME, 0, 0));

	assert_int_equal(step(bobbin_arch_aarch64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.pc == 0x3030);
}

static void a_signed_return_address_loses_its_code(void **state)
{
	struct stack s = {.words = {[2] = 0xf0, [3] = 0x00ab00401234ull | 0x1234ull << 48}};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_AT_REG, 29, 16),
					  at(BOBBIN_HOW_IN_CFA_MEM, 0, -8),
					  at(BOBBIN_HOW_IN_CFA_MEM, 0, -16));
	struct bobbin_regs regs = {.sp = WORD(0), .fp = WORD(2)}, plain = regs;

	rule.flags = BOBBIN_RULE_MANGLED | BOBBIN_RULE_KEY_B;
	assert_int_equal(step(bobbin_arch_aarch64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.pc == 0x00ab00401234);
	assert_true(regs.sp == WORD(4) && regs.fp == 0xf0);
	rule.flags = 0;
	assert_int_equal(step(bobbin_arch_aarch64(), &rule, &s, &plain), BOBBIN_REASON_NONE);
	assert_true(plain.pc == s.words[3]);
}

static void a_signed_link_register_loses_its_code(void **state)
{
	struct stack s = {0};
	struct bobbin_regs regs = {
		.sp = WORD(2), .ra = 0xff7f00000000444cull, .ra_known = true, .exact = true};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_AT_REG, 31, 0), at(BOBBIN_HOW_SAME, 0, 0),
					  at(BOBBIN_HOW_SAME, 0, 0));

	rule.flags = BOBBIN_RULE_MANGLED;
	assert_int_equal(step(bobbin_arch_aarch64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.pc == 0x444c);
}

/* Bit 55 is not part of the code; it tells where the address belongs. */
static void a_signed_return_address_of_the_kernel_gets_its_ones_back(void **state)
{
	const struct bobbin_arch *both[] = {bobbin_arch_aarch64(), bobbin_arch_aarch64_be()};

	for (size_t i = 0; i < 2; i++) {
		struct stack s = {.words = {[3] = 0x12b4800010aabbccull}};
		struct bobbin_regs regs = {.sp = WORD(0)};
		struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_AT_REG, 31, 32),
						  at(BOBBIN_HOW_IN_CFA_MEM, 0, -8),
						  at(BOBBIN_HOW_SAME, 0, 0));

		rule.flags = BOBBIN_RULE_MANGLED;
		assert_int_equal(step(both[i], &rule, &s, &regs), BOBBIN_REASON_NONE);
		assert_true(regs.pc == 0xffff800010aabbccull);
	}
}

static void both_keys_leave_the_same_address(void **state)
{
	const uint8_t keys[] = {0, BOBBIN_RULE_KEY_B};

	for (size_t i = 0; i < 2; i++) {
		struct stack s = {.words = {[3] = 0xaa55ffffdeadbeecull}};
		struct bobbin_regs regs = {.sp = WORD(0)};
		struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_AT_REG, 31, 32),
						  at(BOBBIN_HOW_IN_CFA_MEM, 0, -8),
						  at(BOBBIN_HOW_SAME, 0, 0));

		rule.flags = BOBBIN_RULE_MANGLED | keys[i];
		assert_int_equal(step(bobbin_arch_aarch64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
		assert_true(regs.pc == 0xffffdeadbeecull);
	}
}

/* A key without a signature means nothing; nor does a signature where there are none. */
static void addresses_that_are_not_signed_stay_as_they_are(void **state)
{
	struct stack s = {.words = {[3] = 0xaa55ffffdeadbeecull}};
	struct bobbin_regs regs = {.sp = WORD(0)};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_AT_REG, 31, 32),
					  at(BOBBIN_HOW_IN_CFA_MEM, 0, -8),
					  at(BOBBIN_HOW_SAME, 0, 0));

	rule.flags = BOBBIN_RULE_KEY_B;
	assert_int_equal(step(bobbin_arch_aarch64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.pc == s.words[3]);

	regs = (struct bobbin_regs){.sp = WORD(0)};
	rule.flags = BOBBIN_RULE_MANGLED;
	rule.cfa.reg = 7;
	assert_int_equal(step(bobbin_arch_amd64(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.pc == s.words[3]);

	regs = (struct bobbin_regs){.sp = WORD(0)};
	rule.cfa = at(BOBBIN_HOW_AT_REG, 15, 160 + 32);
	rule.ra.off = 24 - 160 - 32;
	assert_int_equal(step(bobbin_arch_s390x(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.pc == s.words[3]);
}

static void big_endian_aarch64_reads_big_endian_words(void **state)
{
	struct stack s = {.words = {[1] = 0x0102030405060708}};
	struct bobbin_regs regs = {.sp = WORD(0)};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_AT_REG, 31, 16),
					  at(BOBBIN_HOW_IN_CFA_MEM, 0, -8),
					  at(BOBBIN_HOW_SAME, 0, 0));

	assert_int_equal(step(bobbin_arch_aarch64_be(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.pc == 0x0102030405060708);
}

/* CFA = r15 + 160 + 160; r14 at CFA - 48, r11 at CFA - 72; SP is CFA - 160 */
static void an_s390x_frame_steps_with_its_bias(void **state)
{
	struct stack s = {.words = {[34] = 0x80001234, [31] = 0xb0b0}};
	struct bobbin_regs regs = {.sp = WORD(0)};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_AT_REG, 15, 320),
					  at(BOBBIN_HOW_IN_CFA_MEM, 0, -48),
					  at(BOBBIN_HOW_IN_CFA_MEM, 0, -72));

	assert_int_equal(step(bobbin_arch_s390x(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.sp == WORD(20));
	assert_true(regs.pc == 0x80001234 && regs.fp == 0xb0b0);
}

static void an_s390x_leaf_keeps_its_stack_pointer(void **state)
{
	struct stack s = {0};
	struct bobbin_regs regs = {.sp = WORD(4), .ra = 0x777, .ra_known = true, .exact = true};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_AT_REG, 15, 160), at(BOBBIN_HOW_SAME, 0, 0),
					  at(BOBBIN_HOW_SAME, 0, 0));

	assert_int_equal(step(bobbin_arch_s390x(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.sp == WORD(4) && regs.pc == 0x777);
	regs.ra_known = true;
	regs.ra = 0x777;
	assert_refuses(bobbin_arch_s390x(), &rule, &s, &regs, BOBBIN_REASON_STUCK);
}

/* GCC saves r14 and r11 in floating-point registers, DWARF 16 to 31 */
static void an_s390x_leaf_finds_registers_parked_in_others(void **state)
{
	const uint64_t gpr[BOBBIN_REG_COUNT] = {[16] = 0xaaaa, [17] = 0xbbbb};
	struct stack s = {0};
	struct bobbin_regs regs = {.sp = WORD(4), .gpr = gpr, .gpr_known = 3u << 16, .exact = true};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_AT_REG, 15, 160),
					  at(BOBBIN_HOW_AT_REG, 16, 0),
					  at(BOBBIN_HOW_AT_REG, 17, 0));

	assert_int_equal(step(bobbin_arch_s390x(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.pc == 0xaaaa && regs.fp == 0xbbbb);
}

/*
 * Only in the topmost frame floating-point registers are known; r14 alone may be saved there.
 */
static void an_s390x_caller_has_no_parked_registers(void **state)
{
	struct stack s = {0};
	const struct bobbin_regs regs = {.sp = WORD(4), .fp = 0xbbbb};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_AT_REG, 15, 320),
					  at(BOBBIN_HOW_AT_REG, 16, 0), at(BOBBIN_HOW_SAME, 0, 0));

	assert_refuses(bobbin_arch_s390x(), &rule, &s, &regs, BOBBIN_REASON_NO_REGISTER);
}

/* alloca(): r11 holds what r15 was, and has its bias */
static void an_s390x_frame_of_varying_size_is_found_by_its_frame_pointer(void **state)
{
	struct stack s = {.words = {[32] = 0x80001234, [29] = 0xb0b0}};
	struct bobbin_regs regs = {.sp = WORD(0), .fp = WORD(8)};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_AT_REG, 11, 240),
					  at(BOBBIN_HOW_IN_CFA_MEM, 0, -48),
					  at(BOBBIN_HOW_IN_CFA_MEM, 0, -72));

	assert_int_equal(step(bobbin_arch_s390x(), &rule, &s, &regs), BOBBIN_REASON_NONE);
	assert_true(regs.sp == WORD(18));
	assert_true(regs.pc == 0x80001234 && regs.fp == 0xb0b0);
}

static void addresses_wrap_without_harm(void **state)
{
	struct stack s = {0};
	struct bobbin_regs regs = {.sp = UINT64_MAX - 7, .fp = 8};
	struct bobbin_rule rule = rule_of(at(BOBBIN_HOW_AT_REG, 7, 16),
					  at(BOBBIN_HOW_IN_CFA_MEM, 0, -8),
					  at(BOBBIN_HOW_SAME, 0, 0));

	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_STUCK);
	regs.sp = 0;
	rule.cfa = at(BOBBIN_HOW_AT_REG, 6, -16);
	rule.ra.off = INT32_MIN;
	assert_refuses(bobbin_arch_amd64(), &rule, &s, &regs, BOBBIN_REASON_NO_MEMORY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_framed_amd64_function_steps_to_its_caller),
		cmocka_unit_test(an_unchanged_frame_pointer_is_the_callers),
		cmocka_unit_test(a_popped_frame_pointer_is_in_its_register),
		cmocka_unit_test(an_unreadable_frame_pointer_of_a_caller_is_missed),
		cmocka_unit_test(frame_pointers_come_from_each_kind_of_place),
		cmocka_unit_test(a_cfa_is_loaded_from_memory_and_added_to),
		cmocka_unit_test(a_cfa_is_loaded_with_an_index),
		cmocka_unit_test(a_missing_index_or_base_register_is_named),
		cmocka_unit_test(a_missing_register_of_ra_or_fp_is_named),
		cmocka_unit_test(unreadable_stack_leaves_registers_alone),
		cmocka_unit_test(a_cfa_that_is_kept_below_the_stack_pointer_is_said),
		cmocka_unit_test(the_readers_own_reason_is_handed_on),
		cmocka_unit_test(a_cfa_towards_the_leaf_is_stuck),
		cmocka_unit_test(an_equal_cfa_is_allowed_at_an_exact_pc_only),
		cmocka_unit_test(a_return_address_may_be_relative_to_the_pc),
		cmocka_unit_test(the_pc_is_a_register_like_any_other),
		cmocka_unit_test(only_an_exact_pc_has_a_caller_below),
		cmocka_unit_test(a_misaligned_cfa_is_refused),
		cmocka_unit_test(no_rule_gives_its_reason),
		cmocka_unit_test(an_undefined_return_address_is_the_outermost_frame),
		cmocka_unit_test(a_return_address_of_zero_is_no_mark_of_a_root),
		cmocka_unit_test(a_signal_may_interrupt_at_address_zero),
		cmocka_unit_test(a_place_without_meaning_is_a_bad_rule),
		cmocka_unit_test(a_signal_frame_may_switch_stacks),
		cmocka_unit_test(a_rule_that_switches_stacks_may_lead_below),
		cmocka_unit_test(the_look_up_is_one_byte_before_a_return_address),
		cmocka_unit_test(an_aarch64_leaf_returns_through_its_link_register),
		cmocka_unit_test(a_link_register_is_found_among_all_registers),
		cmocka_unit_test(a_signed_return_address_loses_its_code),
		cmocka_unit_test(a_signed_link_register_loses_its_code),
		cmocka_unit_test(a_signed_return_address_of_the_kernel_gets_its_ones_back),
		cmocka_unit_test(both_keys_leave_the_same_address),
		cmocka_unit_test(addresses_that_are_not_signed_stay_as_they_are),
		cmocka_unit_test(big_endian_aarch64_reads_big_endian_words),
		cmocka_unit_test(an_s390x_frame_steps_with_its_bias),
		cmocka_unit_test(an_s390x_leaf_keeps_its_stack_pointer),
		cmocka_unit_test(an_s390x_leaf_finds_registers_parked_in_others),
		cmocka_unit_test(an_s390x_caller_has_no_parked_registers),
		cmocka_unit_test(an_s390x_frame_of_varying_size_is_found_by_its_frame_pointer),
		cmocka_unit_test(addresses_wrap_without_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
