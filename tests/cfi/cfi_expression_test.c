/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Expressions that compilers, linkers and hand-written assembly really use
 * become rules; all others become rows without one.
 */
#include <dwarf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cfi_section.h"

#define AMD64 bobbin_arch_amd64()
#define EXPRESSION_SIZE 64

/* A program of one instruction, with or without a register, and its block. */
static void assert_expression(uint8_t op, int reg, const uint8_t *block, uint64_t size,
			      const char *rows)
{
	uint8_t insn[EXPRESSION_SIZE + 3];
	uint64_t n = 0;

	assert_true(size <= EXPRESSION_SIZE);
	insn[n++] = op;
	if (reg >= 0)
		insn[n++] = (uint8_t)reg;
	insn[n++] = (uint8_t)size;
	if (size)
		memcpy(insn + n, block, size);
	assert_program(AMD64, insn, n + size, rows);
}

static void assert_cfa(const uint8_t *block, uint64_t size, const char *rows)
{
	assert_expression(DW_CFA_def_cfa_expression, -1, block, size, rows);
}

/* pushes the CFA of a lazy-binding stub that is entered with N bytes to go */
#define STUB(n) \
	BYTES(DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit0 + (n), DW_OP_ge, \
	      DW_OP_lit3, DW_OP_shl, DW_OP_plus)

static void linkers_stubs_are_known_by_their_split(void **state)
{
	assert_cfa(STUB(11), "401000 r7+8 c-8 same plt>=11\n");
	assert_cfa(STUB(10), "401000 r7+8 c-8 same plt>=10\n");
	assert_cfa(STUB(9), "401000 r7+8 c-8 same plt>=9\n");
	assert_cfa(STUB(1), "401000 r7+8 c-8 same plt>=1\n");
	assert_cfa(STUB(15), "401000 r7+8 c-8 same plt>=15\n");
}

static void stubs_in_other_words_say_the_same(void **state)
{
	assert_cfa(BYTES(DW_OP_breg7, 0, DW_OP_breg16, 0, DW_OP_const1u, 15, DW_OP_and,
			 DW_OP_const1s, 11, DW_OP_ge, DW_OP_lit8, DW_OP_mul, DW_OP_plus,
			 DW_OP_plus_uconst, 8),
		   "401000 r7+8 c-8 same plt>=11\n");
	assert_cfa(BYTES(DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3,
			 DW_OP_shl, DW_OP_breg7, 8, DW_OP_plus),
		   "401000 r7+8 c-8 same plt>=11\n");
}

static void almost_stubs_have_no_rule(void **state)
{
	/* (pc & 7), (pc & 15) >= 0, (pc & 15) >= 16, << 4, pc + 1, and no PC at all */
	assert_cfa(BYTES(DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit7, DW_OP_and, DW_OP_lit11,
			 DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus),
		   "401000 none CFI_EXPRESSION\n");
	assert_cfa(STUB(0), "401000 none CFI_EXPRESSION\n");
	assert_cfa(STUB(16), "401000 none CFI_EXPRESSION\n");
	assert_cfa(BYTES(DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11,
			 DW_OP_ge, DW_OP_lit4, DW_OP_shl, DW_OP_plus),
		   "401000 none CFI_EXPRESSION\n");
	assert_cfa(BYTES(DW_OP_breg7, 8, DW_OP_breg16, 1, DW_OP_lit15, DW_OP_and, DW_OP_lit11,
			 DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus),
		   "401000 none CFI_EXPRESSION\n");
	assert_cfa(BYTES(DW_OP_breg16, 0), "401000 none CFI_EXPRESSION\n");
	assert_program(bobbin_arch_aarch64(),
		       BYTES(DW_CFA_def_cfa_expression, 11, DW_OP_breg31, 0, DW_OP_breg30, 0,
			     DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl,
			     DW_OP_plus),
		       "401000 none CFI_EXPRESSION\n");
}

static struct bobbin_row lookup(const struct bobbin_cfi_view *view, uint64_t pc)
{
	struct bobbin_row row = {0};
	struct bobbin_cfi_rows rows;

	assert_int_equal(bobbin_cfi_lookup(view, pc, &rows, NULL, &row), 0);
	assert_true(row.start <= pc && pc < row.end);
	assert_true(row.function == TEXT);
	return row;
}

static uint64_t put_stub(struct cfi_section *s, uint64_t start, uint64_t size)
{
	return put_fde(s, start, size,
		       BYTES(DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc | 6,
			     DW_CFA_def_cfa_offset, 24, DW_CFA_advance_loc | 10,
			     DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0,
			     DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl,
			     DW_OP_plus));
}

/* glibc before 2.20: the stubs of its locks were jumped to. */
static void return_addresses_may_be_relative_to_the_pc(void **state)
{
	assert_expression(DW_CFA_val_expression, 16, BYTES(DW_OP_breg16, 0x65),
			  "401000 r7+8 pc-27 same\n");
	assert_expression(DW_CFA_val_expression, 16,
			  BYTES(DW_OP_breg16, 5, DW_OP_const4s, 8, 0, 0, 0, DW_OP_minus,
				DW_OP_const4s, 0xf0, 0xff, 0xfe, 0xff, DW_OP_plus),
			  "401000 r7+8 pc-65555 same\n");
	assert_expression(DW_CFA_val_expression, 16,
			  BYTES(DW_OP_lit4, DW_OP_bregx, 16, 0, DW_OP_plus),
			  "401000 r7+8 pc+4 same\n");
	assert_program(AMD64, BYTES(DW_CFA_register, 16, 16), "401000 r7+8 pc+0 same\n");
	assert_program(bobbin_arch_aarch64(),
		       BYTES(DW_CFA_val_expression, 30, 3, DW_OP_bregx, 32, 8),
		       "401000 r31+0 pc+8 same\n");
	assert_program(bobbin_arch_s390x(),
		       BYTES(DW_CFA_val_expression, 14, 4, DW_OP_bregx, 0xc1, 0, 8),
		       "401000 r15+160 pc+8 same\n");
}

static void nothing_else_is_relative_to_the_pc(void **state)
{
	assert_expression(DW_CFA_expression, 16, BYTES(DW_OP_breg16, 8),
			  "401000 none CFI_EXPRESSION\n");
	assert_expression(DW_CFA_val_expression, 6, BYTES(DW_OP_breg16, 8),
			  "401000 none CFI_EXPRESSION\n");
	assert_cfa(BYTES(DW_OP_breg16, 8), "401000 none CFI_EXPRESSION\n");
}

static void a_look_up_works_out_the_stub(void **state)
{
	struct bobbin_cfi_view view;
	struct cfi_section s;

	cfi_section_init(&s, AMD64);
	put_stub(&s, TEXT, 0x40);
	view = cfi_section_view(&s);
	assert_int_equal(lookup(&view, TEXT).rule.cfa.off, 16);
	assert_int_equal(lookup(&view, TEXT + 6).rule.cfa.off, 24);
	for (uint64_t pc = TEXT + 16; pc < TEXT + 0x40; pc++) {
		struct bobbin_row row = lookup(&view, pc);
		uint64_t block = pc & ~15ull;
		bool late = (pc & 15) >= 11;

		assert_int_equal(row.rule.cfa.off, late ? 16 : 8);
		assert_true(row.start == (late ? block + 11 : block));
		assert_true(row.end == (late ? block + 16 : block + 11));
	}
}

static void a_stubs_part_ends_with_its_row(void **state)
{
	struct bobbin_cfi_view view;
	struct bobbin_row row;
	struct cfi_section s;

	cfi_section_init(&s, AMD64);
	put_stub(&s, TEXT, 0x1d);
	view = cfi_section_view(&s);
	row = lookup(&view, TEXT + 0x1c);
	assert_true(row.start == TEXT + 0x1b && row.end == TEXT + 0x1d);
}

static void a_stub_at_the_end_of_the_address_space_does_not_wrap(void **state)
{
	const struct cfi_cie cie = {.augmentation = "zR", .encoding = DW_EH_PE_udata8};
	struct bobbin_cfi_view view;
	struct bobbin_cfi_rows rows;
	struct bobbin_row row;
	struct cfi_section s;
	uint64_t at;

	cfi_section_init(&s, AMD64);
	at = put_cie(&s, &cie);
	put_fde_of(&s, &cie, at, UINT64_MAX - 31, 31,
		   BYTES(DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0,
			 DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl,
			 DW_OP_plus));
	view = cfi_section_view(&s);
	assert_int_equal(bobbin_cfi_lookup(&view, UINT64_MAX - 1, &rows, NULL, &row), 0);
	assert_true(row.start == UINT64_MAX - 4 && row.end == UINT64_MAX);
	assert_int_equal(row.rule.cfa.off, 16);
}

static void a_stubs_offset_does_not_overflow(void **state)
{
	assert_cfa(BYTES(DW_OP_breg7, 0xf8, 0xff, 0xff, 0xff, 0x07, DW_OP_breg16, 0, DW_OP_lit15,
			 DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus),
		   "401000 none CFI_EXPRESSION\n");
}

/* GCC's dynamic realignment of the stack: CFA = r10, later *(rbp - 8) */
static void realigned_frames_are_followed(void **state)
{
	assert_program(AMD64,
		       BYTES(DW_CFA_advance_loc | 5, DW_CFA_def_cfa, 10, 0, DW_CFA_advance_loc | 9,
			     DW_CFA_expression, 6, 2, DW_OP_breg6, 0, DW_CFA_advance_loc | 5,
			     DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref,
			     DW_CFA_advance_loc | 20, DW_CFA_def_cfa, 10, 0, DW_CFA_advance_loc | 5,
			     DW_CFA_def_cfa, 7, 8),
		       "401000 r7+8 c-8 same\n"
		       "401005 r10+0 c-8 same\n"
		       "40100e r10+0 c-8 *(r6+0)\n"
		       "401013 *(r6-8)+0 c-8 *(r6+0)\n"
		       "401027 r10+0 c-8 *(r6+0)\n"
		       "40102c r7+8 c-8 *(r6+0)\n");
}

/* OpenSSL's perlasm saves the caller's stack pointer in its frame */
static void saved_stack_pointers_are_followed(void **state)
{
	assert_cfa(BYTES(DW_OP_breg7, 0xb8, 0x01, DW_OP_deref, DW_OP_plus_uconst, 8),
		   "401000 *(r7+184)+8 c-8 same\n");
	assert_cfa(BYTES(DW_OP_breg7, 16, DW_OP_deref, DW_OP_plus_uconst, 56),
		   "401000 *(r7+16)+56 c-8 same\n");
	assert_cfa(BYTES(DW_OP_breg6, 0x10, DW_OP_deref, DW_OP_lit8, DW_OP_minus),
		   "401000 *(r6+16)-8 c-8 same\n");
	assert_cfa(BYTES(DW_OP_breg7, 8, DW_OP_breg9, 0, DW_OP_lit8, DW_OP_mul, DW_OP_plus,
			 DW_OP_deref, DW_OP_plus_uconst, 8),
		   "401000 *(r7+8+8*r9)+8 c-8 same\n");
	assert_cfa(BYTES(DW_OP_breg9, 0, DW_OP_lit3, DW_OP_shl, DW_OP_breg7, 8, DW_OP_plus,
			 DW_OP_deref),
		   "401000 *(r7+8+8*r9)+0 c-8 same\n");
}

/* __restore_rt: everything lies in the signal frame */
static void signal_trampolines_are_followed(void **state)
{
	const struct cfi_cie cie = {.augmentation = "zRS", .encoding = DW_EH_PE_udata8};

	assert_program_of(AMD64, &cie,
			  BYTES(DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 0xa0, 0x01, DW_OP_deref,
				DW_CFA_expression, 6, 3, DW_OP_breg7, 0xf8, 0x00, DW_CFA_expression,
				7, 3, DW_OP_breg7, 0xa0, 0x01, DW_CFA_expression, 16, 3,
				DW_OP_breg7, 0xa8, 0x01, DW_CFA_expression, 8, 2, DW_OP_breg7, 40),
			  "401000 *(r7+160)+0 *(r7+168) *(r7+120) S\n");
}

static void a_trampoline_with_another_stack_pointer_has_no_rule(void **state)
{
	assert_program(AMD64,
		       BYTES(DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 0xa0, 0x01, DW_OP_deref,
			     DW_CFA_expression, 7, 3, DW_OP_breg7, 0xa8, 0x01),
		       "401000 none CFI_SP_RULE\n");
	assert_program(AMD64,
		       BYTES(DW_CFA_def_cfa_expression, 6, DW_OP_breg7, 0xa0, 0x01, DW_OP_deref,
			     DW_OP_plus_uconst, 8, DW_CFA_expression, 7, 3, DW_OP_breg7, 0xa0,
			     0x01),
		       "401000 none CFI_SP_RULE\n");
}

static void plain_registers_may_be_expressions(void **state)
{
	assert_cfa(BYTES(DW_OP_breg7, 0x80, 0x01), "401000 r7+128 c-8 same\n");
	assert_cfa(BYTES(DW_OP_bregx, 6, 16), "401000 r6+16 c-8 same\n");
	assert_cfa(BYTES(DW_OP_nop, DW_OP_breg3, 0, DW_OP_plus_uconst, 24),
		   "401000 r3+24 c-8 same\n");
	assert_cfa(BYTES(DW_OP_breg7, 0, DW_OP_const2s, 0xf0, 0xff, DW_OP_minus),
		   "401000 r7+16 c-8 same\n");
	assert_cfa(BYTES(DW_OP_const4u, 16, 0, 0, 0, DW_OP_breg7, 0, DW_OP_plus),
		   "401000 r7+16 c-8 same\n");
	assert_cfa(BYTES(DW_OP_breg7, 0, DW_OP_const8s, 0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
			 0xff, DW_OP_plus, DW_OP_constu, 16, DW_OP_plus, DW_OP_consts, 0x7f,
			 DW_OP_plus),
		   "401000 r7+7 c-8 same\n");
	assert_cfa(BYTES(DW_OP_breg7, 0, DW_OP_lit4, DW_OP_lit3, DW_OP_shl, DW_OP_plus),
		   "401000 r7+32 c-8 same\n");
}

/* Registers' expressions start with the CFA on the stack. */
static void registers_expressions_are_places(void **state)
{
	assert_expression(DW_CFA_expression, 6, BYTES(DW_OP_lit16, DW_OP_minus),
			  "401000 r7+8 c-8 c-16\n");
	assert_expression(DW_CFA_val_expression, 6, BYTES(DW_OP_lit16, DW_OP_minus),
			  "401000 r7+8 c-8 v-16\n");
	assert_expression(DW_CFA_expression, 6, BYTES(DW_OP_breg6, 0x70),
			  "401000 r7+8 c-8 *(r6-16)\n");
	assert_expression(DW_CFA_val_expression, 6, BYTES(DW_OP_breg10, 8),
			  "401000 r7+8 c-8 r10+8\n");
	assert_expression(DW_CFA_val_expression, 6, BYTES(DW_OP_breg10, 8, DW_OP_deref),
			  "401000 r7+8 c-8 *(r10+8)\n");
	assert_expression(DW_CFA_expression, 16, BYTES(DW_OP_breg10, 0x78),
			  "401000 r7+8 *(r10-8) same\n");
	assert_expression(DW_CFA_val_expression, 16, BYTES(DW_OP_breg2, 0),
			  "401000 r7+8 r2+0 same\n");
}

static void places_that_no_rule_holds_have_none(void **state)
{
	const char *none = "401000 none CFI_EXPRESSION\n";

	/* two loads; a load plus something; an index; a constant; a stub's step; nothing */
	assert_expression(DW_CFA_expression, 6, BYTES(DW_OP_breg6, 0, DW_OP_deref), none);
	assert_expression(DW_CFA_val_expression, 6,
			  BYTES(DW_OP_breg6, 0, DW_OP_deref, DW_OP_plus_uconst, 8), none);
	assert_expression(DW_CFA_expression, 6,
			  BYTES(DW_OP_breg7, 8, DW_OP_breg9, 0, DW_OP_lit8, DW_OP_mul, DW_OP_plus),
			  none);
	assert_expression(DW_CFA_val_expression, 16, BYTES(DW_OP_lit0), none);
	assert_expression(DW_CFA_expression, 6, STUB(11), none);
	assert_expression(DW_CFA_expression, 6, BYTES(DW_OP_breg7, 0x80, 0x80, 0x80, 0x80, 0x10),
			  none);
}

static void cfas_that_no_rule_holds_have_none(void **state)
{
	const char *none = "401000 none CFI_EXPRESSION\n";

	assert_cfa(NO_BYTES, none);
	assert_cfa(BYTES(DW_OP_lit8), none);
	assert_cfa(BYTES(DW_OP_breg7, 0, DW_OP_deref, DW_OP_deref), none);
	assert_cfa(BYTES(DW_OP_breg7, 0, DW_OP_breg6, 0, DW_OP_plus), none);
	assert_cfa(BYTES(DW_OP_breg7, 0, DW_OP_breg6, 0, DW_OP_lit8, DW_OP_mul, DW_OP_plus), none);
	assert_cfa(BYTES(DW_OP_breg7, 0, DW_OP_breg6, 0, DW_OP_minus), none);
	assert_cfa(BYTES(DW_OP_breg7, 0, DW_OP_lit4, DW_OP_mul), none);
	assert_cfa(BYTES(DW_OP_breg7, 0, DW_OP_const1s, 0xf0, DW_OP_and), none);
	assert_cfa(BYTES(DW_OP_breg7, 0, DW_OP_deref, DW_OP_plus_uconst, 0x80, 0x80, 0x02), none);
	assert_cfa(BYTES(DW_OP_breg7, 8, DW_OP_breg9, 8, DW_OP_lit8, DW_OP_mul, DW_OP_plus,
			 DW_OP_deref),
		   none);
	assert_cfa(BYTES(DW_OP_bregx, 32, 0), none);
	assert_cfa(BYTES(DW_OP_reg7), none);
	assert_cfa(BYTES(DW_OP_call_frame_cfa), none);
	assert_cfa(BYTES(DW_OP_dup), none);
	assert_cfa(BYTES(0xff), none);
}

static void malformed_expressions_have_no_rule(void **state)
{
	const char *none = "401000 none CFI_EXPRESSION\n";
	uint8_t deep[EXPRESSION_SIZE];

	assert_cfa(BYTES(DW_OP_breg7), none);
	assert_cfa(BYTES(DW_OP_breg7, 8, DW_OP_const4u, 1, 2), none);
	assert_cfa(BYTES(DW_OP_breg7, 8, DW_OP_plus), none);
	assert_cfa(BYTES(DW_OP_plus), none);
	assert_cfa(BYTES(DW_OP_deref), none);
	memset(deep, DW_OP_lit1, sizeof(deep));
	assert_cfa(deep, sizeof(deep), none);
}

static void arithmetic_that_overflows_has_no_rule(void **state)
{
	const char *none = "401000 none CFI_EXPRESSION\n";

#define INT64_MIN_LEB 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f
	assert_cfa(BYTES(DW_OP_breg7, 0x78, DW_OP_consts, INT64_MIN_LEB, DW_OP_plus), none);
	assert_cfa(BYTES(DW_OP_breg7, 0, DW_OP_consts, INT64_MIN_LEB, DW_OP_minus), none);
	assert_cfa(BYTES(DW_OP_breg7, 0, DW_OP_consts, INT64_MIN_LEB, DW_OP_lit2, DW_OP_mul,
			 DW_OP_plus),
		   none);
	assert_cfa(BYTES(DW_OP_breg7, 0, DW_OP_lit1, DW_OP_const1u, 64, DW_OP_shl, DW_OP_plus),
		   none);
	assert_cfa(BYTES(DW_OP_breg7, 0, DW_OP_lit1, DW_OP_const1s, 0xff, DW_OP_shl, DW_OP_plus),
		   none);
	assert_cfa(BYTES(DW_OP_breg7, 0, DW_OP_deref, DW_OP_consts, INT64_MIN_LEB, DW_OP_plus,
			 DW_OP_consts, INT64_MIN_LEB, DW_OP_plus),
		   none);
#undef INT64_MIN_LEB
}

static void a_later_rule_replaces_an_unknown_expression(void **state)
{
	assert_program(AMD64,
		       BYTES(DW_CFA_expression, 6, 1, DW_OP_lit0, DW_CFA_advance_loc | 1,
			     DW_CFA_offset | 6, 2, DW_CFA_def_cfa_expression, 1, DW_OP_lit0,
			     DW_CFA_advance_loc | 1, DW_CFA_def_cfa, 7, 16),
		       "401000 none CFI_EXPRESSION\n"
		       "401001 none CFI_EXPRESSION\n"
		       "401002 r7+16 c-8 c-16\n");
}

static void an_unknown_expression_is_remembered_as_such(void **state)
{
	assert_program(AMD64,
		       BYTES(DW_CFA_expression, 6, 1, DW_OP_lit0, DW_CFA_remember_state,
			     DW_CFA_same_value, 6, DW_CFA_advance_loc | 1, DW_CFA_restore_state),
		       "401000 r7+8 c-8 same\n"
		       "401001 none CFI_EXPRESSION\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(linkers_stubs_are_known_by_their_split),
		cmocka_unit_test(stubs_in_other_words_say_the_same),
		cmocka_unit_test(almost_stubs_have_no_rule),
		cmocka_unit_test(return_addresses_may_be_relative_to_the_pc),
		cmocka_unit_test(nothing_else_is_relative_to_the_pc),
		cmocka_unit_test(a_look_up_works_out_the_stub),
		cmocka_unit_test(a_stubs_part_ends_with_its_row),
		cmocka_unit_test(a_stub_at_the_end_of_the_address_space_does_not_wrap),
		cmocka_unit_test(a_stubs_offset_does_not_overflow),
		cmocka_unit_test(realigned_frames_are_followed),
		cmocka_unit_test(saved_stack_pointers_are_followed),
		cmocka_unit_test(signal_trampolines_are_followed),
		cmocka_unit_test(a_trampoline_with_another_stack_pointer_has_no_rule),
		cmocka_unit_test(plain_registers_may_be_expressions),
		cmocka_unit_test(registers_expressions_are_places),
		cmocka_unit_test(places_that_no_rule_holds_have_none),
		cmocka_unit_test(cfas_that_no_rule_holds_have_none),
		cmocka_unit_test(malformed_expressions_have_no_rule),
		cmocka_unit_test(arithmetic_that_overflows_has_no_rule),
		cmocka_unit_test(a_later_rule_replaces_an_unknown_expression),
		cmocka_unit_test(an_unknown_expression_is_remembered_as_such),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
