/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps by expressions: each operator, what no expression may do, and rows of which some
 * places are expressions and others are not.
 */
#include <dwarf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cfi/cfi_step.h"
#include "cfi_section.h"
#include "core/deps.h"

#define AMD64 bobbin_arch_amd64()
#define RBX 3
#define RBP 6
#define RIP 16
#define BASE 0x7000
#define WORDS 32
#define LONGEST 2000

struct frame {
	const struct bobbin_arch *arch;
	uint64_t words[WORDS];
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct table_step step;
	uint32_t operations;
	unsigned int reads;
};

static enum bobbin_reason read_words(void *ctx, uint64_t addr, void *dst, size_t size)
{
	struct frame *f = ctx;

	f->reads++;
	if (addr < BASE || addr - BASE > sizeof(f->words) - size)
		return BOBBIN_REASON_NO_MEMORY;
	memcpy(dst, (const uint8_t *)f->words + (addr - BASE), size);
	return BOBBIN_REASON_NONE;
}

static void put_word(struct frame *f, unsigned int i, uint64_t word)
{
	f->words[i] = f->arch->big_endian == BOBBIN_HOST_BIG_ENDIAN ? word
								    : __builtin_bswap64(word);
}

/* At the start of a function, which was called from 0x401234. */
static struct frame frame_of(const struct bobbin_arch *arch)
{
	struct frame f = {.arch = arch, .operations = 10000};

	put_word(&f, 4, 0x401234);
	f.step.regs =
		(struct bobbin_regs){.pc = TEXT, .sp = BASE + 32, .fp = BASE + 128, .exact = true};
	return f;
}

static enum bobbin_reason step(struct frame *f, const uint8_t *insn, uint64_t size)
{
	const struct bobbin_mem mem = {read_words, f};
	struct bobbin_cfi_view view;
	struct bobbin_cfi_rows rows;
	struct cfi_section s;
	struct bobbin_row row;

	cfi_section_init(&s, f->arch);
	put_fde(&s, TEXT, 0x40, insn, size);
	view = cfi_section_view(&s);
	f->step.arch = f->arch;
	f->step.operations = &f->operations;
	assert_int_equal(bobbin_cfi_lookup(&view, TEXT, &rows, NULL, &row), 0);
	return cfi_step(&rows, TEXT, &mem, &f->step);
}

/* The return address by an expression; @op: DW_CFA_expression or DW_CFA_val_expression. */
static enum bobbin_reason step_ra(struct frame *f, uint8_t op, const uint8_t *block, uint64_t size)
{
	uint8_t insn[LONGEST + 4] = {op, RIP, (uint8_t)(size & 0x7f) | 0x80, (uint8_t)(size >> 7)};

	assert_true(size <= LONGEST);
	memcpy(insn + 4, block, size);
	return step(f, insn, size + 4);
}

static void assert_value(uint64_t value, const uint8_t *block, uint64_t size)
{
	struct frame f = frame_of(AMD64);

	put_word(&f, 0, 0x1122334455667788);
	assert_int_equal(step_ra(&f, DW_CFA_val_expression, block, size), BOBBIN_REASON_NONE);
	if (f.step.regs.pc != value)
		fail_msg("%#llx, not %#llx", (unsigned long long)f.step.regs.pc,
			 (unsigned long long)value);
}

static void assert_refused(enum bobbin_reason reason, const uint8_t *block, uint64_t size)
{
	struct frame f = frame_of(AMD64);

	assert_int_equal(step_ra(&f, DW_CFA_val_expression, block, size), reason);
}

#define IS(value, ...) assert_value((uint64_t)(value), BYTES(__VA_ARGS__))
#define REFUSED(reason, ...) assert_refused(BOBBIN_REASON_##reason, BYTES(__VA_ARGS__))
#define MINUS(n) DW_OP_const1s, (uint8_t) - (n)

static void constants_are_pushed(void **state)
{
	IS(7, DW_OP_lit7, DW_OP_nop);
	IS(31, DW_OP_lit31);
	IS(0xfe, DW_OP_const1u, 0xfe);
	IS(-2, DW_OP_const1s, 0xfe);
	IS(0xfffe, DW_OP_const2u, 0xfe, 0xff);
	IS(-2, DW_OP_const2s, 0xfe, 0xff);
	IS(0xfffffffe, DW_OP_const4u, 0xfe, 0xff, 0xff, 0xff);
	IS(-2, DW_OP_const4s, 0xfe, 0xff, 0xff, 0xff);
	IS(0x0102030405060708, DW_OP_const8u, 8, 7, 6, 5, 4, 3, 2, 1);
	IS(-2, DW_OP_const8s, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff);
	IS(0x80, DW_OP_constu, 0x80, 0x01);
	IS(-128, DW_OP_consts, 0x80, 0x7f);
	IS(0x0102030405060708, DW_OP_addr, 8, 7, 6, 5, 4, 3, 2, 1);
	IS(0x1234, DW_OP_GNU_encoded_addr, DW_EH_PE_udata2, 0x34, 0x12);
}

static void values_move_on_the_stack(void **state)
{
	IS(18, DW_OP_lit9, DW_OP_dup, DW_OP_plus);
	IS(20, DW_OP_lit20, DW_OP_lit1, DW_OP_drop);
	IS(17, DW_OP_lit17, DW_OP_lit19, DW_OP_over);
	IS(2, DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_lit4, DW_OP_pick, 2);
	IS(4, DW_OP_lit4, DW_OP_pick, 0);
	IS(6, DW_OP_lit6, DW_OP_lit12, DW_OP_swap);
	/* the top becomes the third, and the others move up */
	IS(8, DW_OP_lit7, DW_OP_lit8, DW_OP_lit9, DW_OP_rot);
	IS(7, DW_OP_lit7, DW_OP_lit8, DW_OP_lit9, DW_OP_rot, DW_OP_drop);
	IS(9, DW_OP_lit7, DW_OP_lit8, DW_OP_lit9, DW_OP_rot, DW_OP_drop, DW_OP_drop);
	/* the CFA is there from the start */
	IS(BASE + 40, DW_OP_lit1, DW_OP_mul);
	IS(BASE + 41, DW_OP_call_frame_cfa, DW_OP_lit1, DW_OP_or);
}

static void arithmetic_is_that_of_64_bits(void **state)
{
	IS(123, MINUS(123), DW_OP_abs);
	IS(7, DW_OP_lit7, DW_OP_abs);
	IS(-31, DW_OP_lit31, DW_OP_neg);
	IS(~5ull, DW_OP_lit5, DW_OP_not);
	IS(2, DW_OP_lit3, DW_OP_lit6, DW_OP_and);
	IS(7, DW_OP_lit3, DW_OP_lit6, DW_OP_or);
	IS(5, DW_OP_lit3, DW_OP_lit6, DW_OP_xor);
	IS(-3, DW_OP_lit3, DW_OP_lit6, DW_OP_minus);
	IS(-4, MINUS(6), DW_OP_lit2, DW_OP_plus);
	IS(-3, MINUS(6), DW_OP_plus_uconst, 3);
	IS(512, DW_OP_lit16, DW_OP_const1u, 32, DW_OP_mul);
	/* signed and towards zero; the rest is unsigned */
	IS(3, MINUS(6), MINUS(2), DW_OP_div);
	IS(-2, MINUS(7), DW_OP_lit3, DW_OP_div);
	IS(-2, DW_OP_lit7, MINUS(3), DW_OP_div);
	IS(INT64_MIN, DW_OP_lit1, DW_OP_const1u, 63, DW_OP_shl, MINUS(1), DW_OP_div);
	IS(-6, MINUS(6), MINUS(4), DW_OP_mod);
	IS(2, MINUS(6), DW_OP_lit4, DW_OP_mod);
	IS(256, DW_OP_lit16, DW_OP_lit4, DW_OP_shl);
	IS(2, DW_OP_lit16, DW_OP_lit3, DW_OP_shr);
	IS(UINT64_MAX >> 1, MINUS(1), DW_OP_lit1, DW_OP_shr);
	IS(-2, MINUS(16), DW_OP_lit3, DW_OP_shra);
	IS(-16, MINUS(16), DW_OP_lit0, DW_OP_shra);
	IS(-1, MINUS(16), DW_OP_const1u, 200, DW_OP_shra);
	IS(9, DW_OP_lit1, DW_OP_const1u, 64, DW_OP_shl, DW_OP_lit9, DW_OP_plus);
	IS(9, MINUS(1), DW_OP_const1u, 64, DW_OP_shr, DW_OP_lit9, DW_OP_plus);
}

/* RA must not be 0, so one is added. */
static void comparisons_are_signed(void **state)
{
	static const struct {
		uint8_t op, less, equal, more;
	} ops[] = {{DW_OP_lt, 1, 0, 0}, {DW_OP_le, 1, 1, 0}, {DW_OP_eq, 0, 1, 0},
		   {DW_OP_ne, 1, 0, 1}, {DW_OP_ge, 0, 1, 1}, {DW_OP_gt, 0, 0, 1}};

	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		IS(1 + ops[i].less, MINUS(6), DW_OP_lit3, ops[i].op, DW_OP_plus_uconst, 1);
		IS(1 + ops[i].equal, DW_OP_lit3, DW_OP_lit3, ops[i].op, DW_OP_plus_uconst, 1);
		IS(1 + ops[i].more, DW_OP_lit3, MINUS(6), ops[i].op, DW_OP_plus_uconst, 1);
	}
}

static void jumps_are_taken_or_not(void **state)
{
	IS(5, DW_OP_lit5, DW_OP_skip, 1, 0, DW_OP_lit6);
	IS(5, DW_OP_lit5, DW_OP_lit1, DW_OP_bra, 1, 0, DW_OP_lit6);
	IS(6, DW_OP_lit5, DW_OP_lit0, DW_OP_bra, 1, 0, DW_OP_lit6);
	/* to the end; and a loop that counts down to 0 and adds */
	IS(5, DW_OP_lit5, DW_OP_skip, 0, 0);
	IS(20, DW_OP_lit0, DW_OP_lit10, DW_OP_swap, DW_OP_lit2, DW_OP_plus, DW_OP_swap, DW_OP_lit1,
	   DW_OP_minus, DW_OP_dup, DW_OP_bra, 0xf6, 0xff, DW_OP_drop);
}

static void memory_is_read_in_sizes(void **state)
{
	IS(0x1122334455667788, DW_OP_const2u, 0x00, 0x70, DW_OP_deref, DW_OP_lit0, DW_OP_or);
	IS(0x88, DW_OP_const2u, 0x00, 0x70, DW_OP_deref_size, 1);
	IS(0x6677, DW_OP_const2u, 0x01, 0x70, DW_OP_deref_size, 2);
	IS(0x55667788, DW_OP_const2u, 0x00, 0x70, DW_OP_deref_size, 4);
	REFUSED(NO_MEMORY, DW_OP_lit1, DW_OP_deref);
	REFUSED(CFI_EXPRESSION, DW_OP_const2u, 0x00, 0x70, DW_OP_deref_size, 9);
	REFUSED(CFI_EXPRESSION, DW_OP_const2u, 0x00, 0x70, DW_OP_deref_size, 0);
}

static void registers_are_those_of_the_frame(void **state)
{
	struct frame f = frame_of(AMD64);

	IS(BASE + 33, DW_OP_reg7, DW_OP_lit1, DW_OP_or);
	IS(BASE + 129, DW_OP_breg6, 1, DW_OP_lit0, DW_OP_or);
	IS(TEXT + 1, DW_OP_regx, 16, DW_OP_lit1, DW_OP_or);
	IS(TEXT - 1, DW_OP_bregx, 16, 0x7f, DW_OP_lit0, DW_OP_or);
	/* what is not known is named */
	assert_int_equal(step_ra(&f, DW_CFA_val_expression,
				 BYTES(DW_OP_breg3, 0, DW_OP_breg12, 0, DW_OP_xor)),
			 BOBBIN_REASON_NO_REGISTER);
	assert_int_equal(f.step.missing, 1u << 3);
	f = frame_of(AMD64);
	f.gpr[3] = 5;
	f.gpr[12] = 3;
	f.step.regs.gpr = f.gpr;
	f.step.regs.gpr_known = 1u << 3 | 1u << 12;
	assert_int_equal(step_ra(&f, DW_CFA_val_expression,
				 BYTES(DW_OP_breg3, 0, DW_OP_breg12, 0, DW_OP_xor)),
			 BOBBIN_REASON_NONE);
	assert_int_equal(f.step.regs.pc, 6);
	REFUSED(CFI_REGISTER, DW_OP_regx, 60);
}

static void addresses_are_where_the_file_is_loaded(void **state)
{
	struct frame f = frame_of(AMD64);

	f.step.bias = 0x10000;
	assert_int_equal(
		step_ra(&f, DW_CFA_val_expression, BYTES(DW_OP_addr, 8, 0, 0, 0, 0, 0, 0, 0)),
		BOBBIN_REASON_NONE);
	assert_int_equal(f.step.regs.pc, 0x10008);
}

static void nonsense_is_refused(void **state)
{
	REFUSED(CFI_EXPRESSION, DW_OP_drop, DW_OP_drop);
	REFUSED(CFI_EXPRESSION, DW_OP_drop);
	REFUSED(CFI_EXPRESSION, DW_OP_plus);
	REFUSED(CFI_EXPRESSION, DW_OP_lit1, DW_OP_pick, 2);
	REFUSED(CFI_EXPRESSION, DW_OP_lit1, DW_OP_lit0, DW_OP_div);
	REFUSED(CFI_EXPRESSION, DW_OP_lit1, DW_OP_lit0, DW_OP_mod);
	REFUSED(CFI_EXPRESSION, DW_OP_xderef);
	REFUSED(CFI_EXPRESSION, DW_OP_lit1, DW_OP_stack_value);
	REFUSED(CFI_EXPRESSION, DW_OP_lit5, DW_OP_skip, 1, 0);
	REFUSED(CFI_EXPRESSION, DW_OP_lit5, DW_OP_skip, 0xfb, 0xff);
	REFUSED(TRUNCATED, DW_OP_lit5, DW_OP_const4u, 1);
	REFUSED(TRUNCATED, DW_OP_lit5, DW_OP_skip, 0);
}

static void no_expression_takes_for_ever(void **state)
{
	struct frame f = frame_of(AMD64);
	uint8_t many[LONGEST];

	REFUSED(CFI_EXPRESSION, DW_OP_skip, 0xfd, 0xff);
	REFUSED(CFI_EXPRESSION, DW_OP_dup, DW_OP_skip, 0xfc, 0xff);
	/* with 64 values on the stack, not more */
	memset(many, DW_OP_lit1, sizeof(many));
	assert_value(1, many, 63);
	assert_refused(BOBBIN_REASON_CFI_EXPRESSION, many, 64);
	/* reads cost more */
	assert_int_equal(
		step_ra(&f, DW_CFA_val_expression,
			BYTES(DW_OP_breg7, 0, DW_OP_deref, DW_OP_drop, DW_OP_skip, 0xf9, 0xff)),
		BOBBIN_REASON_CFI_EXPRESSION);
	assert_true(f.reads < 1000);
	/* what is left is for the whole walk */
	assert_true(f.operations < 20);
	assert_int_equal(
		step_ra(&f, DW_CFA_val_expression,
			BYTES(DW_OP_breg7, 0, DW_OP_deref, DW_OP_drop, DW_OP_skip, 0xf9, 0xff)),
		BOBBIN_REASON_CFI_EXPRESSION);
}

static void rows_mix_expressions_with_other_places(void **state)
{
	struct frame f = frame_of(AMD64);

	/* the CFA twice through memory, RA and FP as usual */
	put_word(&f, 16, BASE + 8 * 17);
	put_word(&f, 17, BASE + 8 * 10);
	put_word(&f, 9, 0x401111);
	put_word(&f, 8, 0x2222);
	assert_int_equal(step(&f, BYTES(DW_CFA_def_cfa_expression, 4, DW_OP_breg6, 0, DW_OP_deref,
					DW_OP_deref, DW_CFA_offset | RBP, 2)),
			 BOBBIN_REASON_NONE);
	assert_true(f.step.regs.pc == 0x401111 && f.step.regs.fp == 0x2222);
	assert_true(f.step.regs.sp == BASE + 80 && !f.step.regs.exact);
	/* FP by an address that is computed */
	f = frame_of(AMD64);
	put_word(&f, 3, 0x3333);
	assert_int_equal(step(&f, BYTES(DW_CFA_expression, RBP, 4, DW_OP_lit2, DW_OP_lit8,
					DW_OP_mul, DW_OP_minus)),
			 BOBBIN_REASON_NONE);
	assert_true(f.step.regs.pc == 0x401234 && f.step.regs.fp == 0x3333);
	/* SP that is not the CFA */
	f = frame_of(AMD64);
	assert_int_equal(step(&f, BYTES(DW_CFA_val_expression, 7, 4, DW_OP_lit16, DW_OP_plus,
					DW_OP_lit0, DW_OP_or)),
			 BOBBIN_REASON_NONE);
	assert_true(f.step.regs.pc == 0x401234 && f.step.regs.sp == BASE + 40 + 16);
}

static void steps_by_expressions_go_up(void **state)
{
	struct frame f = frame_of(AMD64);

	assert_int_equal(step(&f, BYTES(DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 0x78, DW_OP_lit0,
					DW_OP_or)),
			 BOBBIN_REASON_STUCK);
	f = frame_of(AMD64);
	assert_int_equal(
		step(&f, BYTES(DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 9, DW_OP_lit0, DW_OP_or)),
		BOBBIN_REASON_MISALIGNED);
}

/* As walks do that look for RBX: it takes the place of the frame pointer. */
static void any_register_can_be_followed(void **state)
{
	struct bobbin_arch arch = *AMD64;
	struct frame f = frame_of(AMD64);

	arch.fp = RBX;
	f.arch = &arch;
	put_word(&f, 3, 0x55aa);
	f.step.regs.fp = 0x9999;
	f.gpr[RBP] = BASE + 128;
	f.step.regs.gpr = f.gpr;
	f.step.regs.gpr_known = 1u << RBP;
	assert_int_equal(step(&f, BYTES(DW_CFA_val_expression, RBX, 6, DW_OP_lit16, DW_OP_minus,
					DW_OP_deref, DW_OP_const1u, 0xff, DW_OP_xor)),
			 BOBBIN_REASON_NONE);
	assert_true(f.step.regs.fp == 0x5555);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constants_are_pushed),
		cmocka_unit_test(values_move_on_the_stack),
		cmocka_unit_test(arithmetic_is_that_of_64_bits),
		cmocka_unit_test(comparisons_are_signed),
		cmocka_unit_test(jumps_are_taken_or_not),
		cmocka_unit_test(memory_is_read_in_sizes),
		cmocka_unit_test(registers_are_those_of_the_frame),
		cmocka_unit_test(addresses_are_where_the_file_is_loaded),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(no_expression_takes_for_ever),
		cmocka_unit_test(rows_mix_expressions_with_other_places),
		cmocka_unit_test(steps_by_expressions_go_up),
		cmocka_unit_test(any_register_can_be_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
