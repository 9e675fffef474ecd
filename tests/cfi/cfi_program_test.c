/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call-frame instructions, one by one, also those that no assembler emits.
 * DWARF register numbers: rbp 6, rsp 7; x29, x30, sp 31; r11, r14, r15.
 */
#include <dwarf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cfi_section.h"

#define ADVANCE(n) (DW_CFA_advance_loc | (n))
#define OFFSET(reg) (DW_CFA_offset | (reg))
#define RESTORE(reg) (DW_CFA_restore | (reg))

#define AMD64 bobbin_arch_amd64()
#define AARCH64 bobbin_arch_aarch64()
#define S390X bobbin_arch_s390x()

/* x29 and x30 at CFA - 16, the state of the return address */
#ifndef DW_CFA_AARCH64_negate_ra_state
#define DW_CFA_AARCH64_negate_ra_state 0x2d
#endif
#define DW_CFA_AARCH64_negate_ra_state_with_pc 0x2c

static void an_empty_program_has_the_initial_row(void **state)
{
	assert_program(AMD64, NO_BYTES, "401000 r7+8 c-8 same\n");
	assert_program(AARCH64, NO_BYTES, "401000 r31+0 same same\n");
	assert_program(S390X, NO_BYTES, "401000 r15+160 same same\n");
	assert_program(AMD64, BYTES(DW_CFA_nop, DW_CFA_nop), "401000 r7+8 c-8 same\n");
}

static void a_framed_function_has_four_rows(void **state)
{
	assert_program(AMD64,
		       BYTES(ADVANCE(1), DW_CFA_def_cfa_offset, 16, OFFSET(6), 2, ADVANCE(3),
			     DW_CFA_def_cfa_register, 6, ADVANCE(32), DW_CFA_def_cfa, 7, 8,
			     RESTORE(6)),
		       "401000 r7+8 c-8 same\n"
		       "401001 r7+16 c-8 c-16\n"
		       "401004 r6+16 c-8 c-16\n"
		       "401024 r7+8 c-8 same\n");
}

static void each_advance_moves_the_location(void **state)
{
	assert_program(AMD64,
		       BYTES(ADVANCE(1), DW_CFA_advance_loc1, 2, DW_CFA_advance_loc2, 3, 0,
			     DW_CFA_advance_loc4, 4, 0, 0, 0),
		       "401000 r7+8 c-8 same\n"
		       "401001 r7+8 c-8 same\n"
		       "401003 r7+8 c-8 same\n"
		       "401006 r7+8 c-8 same\n"
		       "40100a r7+8 c-8 same\n");
	assert_program(S390X, BYTES(DW_CFA_advance_loc2, 0, 3, DW_CFA_advance_loc4, 0, 0, 0, 4),
		       "401000 r15+160 same same\n"
		       "401003 r15+160 same same\n"
		       "401007 r15+160 same same\n");
}

static void an_advance_by_nothing_makes_no_row(void **state)
{
	assert_program(AMD64,
		       BYTES(ADVANCE(0), DW_CFA_def_cfa_offset, 24, DW_CFA_advance_loc1, 0,
			     DW_CFA_advance_loc4, 0, 0, 0, 0),
		       "401000 r7+24 c-8 same\n");
}

static void an_advance_beyond_the_function_ends_it(void **state)
{
	assert_program(AMD64,
		       BYTES(DW_CFA_advance_loc2, 0xff, 0, DW_CFA_def_cfa_offset, 16,
			     DW_CFA_advance_loc1, 1, DW_CFA_def_cfa_offset, 24),
		       "401000 r7+8 c-8 same\n"
		       "4010ff r7+16 c-8 same\n");
	assert_program(AMD64, BYTES(DW_CFA_advance_loc4, 0xff, 0xff, 0xff, 0xff, 0x3f),
		       "401000 r7+8 c-8 same\n");
}

static void advances_count_in_code_alignments(void **state)
{
	const struct cfi_cie cie = {.code_align = 4};

	assert_program_of(AARCH64, &cie, BYTES(ADVANCE(1), DW_CFA_def_cfa_offset, 32),
			  "401000 r31+0 same same\n"
			  "401004 r31+32 same same\n");
}

static void an_advance_that_overflows_is_refused(void **state)
{
	const struct cfi_cie cie = {.code_align = UINT64_MAX};

	assert_program_of(AMD64, &cie, BYTES(ADVANCE(2)), "error CFI_RANGE\n");
	assert_program_of(AMD64, &cie, BYTES(ADVANCE(1)), "error CFI_RANGE\n");
}

/* set_loc is encoded as the FDE's own addresses are. */
static void set_loc_moves_to_an_encoded_address(void **state)
{
	const struct cfi_cie cie = {.augmentation = "zR", .encoding = DW_EH_PE_udata4};

	assert_program_of(AMD64, &cie,
			  BYTES(DW_CFA_set_loc, 0x10, 0x10, 0x40, 0, DW_CFA_def_cfa_offset, 16),
			  "401000 r7+8 c-8 same\n"
			  "401010 r7+16 c-8 same\n");
	assert_program_of(AMD64, &cie, BYTES(DW_CFA_set_loc, 0, 0x10, 0x40, 0),
			  "401000 r7+8 c-8 same\n");
	assert_program_of(AMD64, &cie, BYTES(DW_CFA_set_loc, 0, 0, 0x40, 0), "error CFI_RANGE\n");
	assert_program_of(AMD64, &cie, BYTES(DW_CFA_set_loc, 0, 0), "error TRUNCATED\n");
}

static void set_loc_may_be_relative_to_itself(void **state)
{
	const struct cfi_cie cie = {0};
	struct bobbin_cfi_view view;
	struct cfi_section s;
	char text[ROWS_TEXT];
	uint64_t fde;

	cfi_section_init(&s, AMD64);
	put_cie(&s, &cie);
	/* length, id, start, size and augmentation are 17 bytes, the opcode one */
	fde = s.size;
	put(&s, 22, 4);
	put(&s, s.size, 4);
	put(&s, TEXT - SECTION_ADDR - s.size, 4);
	put(&s, 256, 4);
	put(&s, 0, 1);
	put(&s, DW_CFA_set_loc, 1);
	put(&s, TEXT + 0x20 - SECTION_ADDR - s.size, 4);
	put_bytes(&s, BYTES(DW_CFA_def_cfa_offset, 64, DW_CFA_nop, DW_CFA_nop));
	s.data[fde] = (uint8_t)(s.size - fde - 4);
	view = cfi_section_view(&s);
	rows_text(&view, fde, text);
	assert_string_equal(text, "401000 r7+8 c-8 same\n"
				  "401020 r7+64 c-8 same\n");
}

static void cfas_are_defined_in_each_form(void **state)
{
	assert_program(AMD64, BYTES(DW_CFA_def_cfa, 10, 0), "401000 r10+0 c-8 same\n");
	assert_program(AMD64, BYTES(DW_CFA_def_cfa_sf, 6, 0x7e), "401000 r6+16 c-8 same\n");
	assert_program(AMD64, BYTES(DW_CFA_def_cfa_sf, 6, 2), "401000 r6-16 c-8 same\n");
	assert_program(AMD64, BYTES(DW_CFA_def_cfa_register, 3), "401000 r3+8 c-8 same\n");
	assert_program(AMD64, BYTES(DW_CFA_def_cfa_offset, 0x80, 0x01), "401000 r7+128 c-8 same\n");
	assert_program(AMD64, BYTES(DW_CFA_def_cfa_offset_sf, 0x70), "401000 r7+128 c-8 same\n");
}

static void a_cfa_of_no_base_register_has_no_rule(void **state)
{
	assert_program(AMD64, BYTES(DW_CFA_def_cfa, 32, 8), "401000 none CFI_REGISTER\n");
	/* xmm0; s390x has floating-point registers there, which hold addresses */
	assert_program(AMD64, BYTES(DW_CFA_def_cfa, 17, 8), "401000 none CFI_REGISTER\n");
	assert_program(AMD64, BYTES(DW_CFA_def_cfa, 16, 8), "401000 r16+8 c-8 same\n");
	assert_program(S390X, BYTES(DW_CFA_def_cfa, 17, 8), "401000 r17+8 same same\n");
	assert_program(AMD64, BYTES(DW_CFA_def_cfa_register, 0x80, 0x01),
		       "401000 none CFI_REGISTER\n");
	assert_program(AMD64, BYTES(DW_CFA_def_cfa, 7, 0x80, 0x80, 0x80, 0x80, 0x10),
		       "401000 none CFI_RANGE\n");
	/* -8 * INT64_MIN */
	assert_program(AMD64,
		       BYTES(DW_CFA_def_cfa_offset_sf, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
			     0x80, 0x80, 0x7f),
		       "401000 none CFI_RANGE\n");
}

static void an_offset_without_a_cfa_has_no_rule(void **state)
{
	const struct cfi_cie cie = {.insn = (const uint8_t[]){DW_CFA_nop}, .insn_size = 1};

	assert_program_of(AMD64, &cie, NO_BYTES, "401000 none CFI_NO_CFA\n");
	assert_program_of(AMD64, &cie, BYTES(DW_CFA_def_cfa_offset, 8), "401000 none CFI_NO_CFA\n");
	assert_program_of(AMD64, &cie, BYTES(DW_CFA_def_cfa_register, 7),
			  "401000 none CFI_NO_CFA\n");
	assert_program_of(AMD64, &cie, BYTES(DW_CFA_def_cfa, 7, 8), "401000 r7+8 c-8 same\n");
}

/* as libgcrypt does after CFA = *(rsp + 24) + 56 */
static void a_cfa_register_after_an_expression_keeps_the_old_offset(void **state)
{
	assert_program(AMD64,
		       BYTES(DW_CFA_def_cfa, 0, 56, ADVANCE(1), DW_CFA_def_cfa_expression, 5,
			     DW_OP_breg7, 24, DW_OP_deref, DW_OP_plus_uconst, 56, ADVANCE(1),
			     DW_CFA_def_cfa_register, 7),
		       "401000 r0+56 c-8 same\n"
		       "401001 *(r7+24)+56 c-8 same\n"
		       "401002 r7+56 c-8 same\n");
}

static void registers_are_saved_in_each_form(void **state)
{
	assert_program(AMD64, BYTES(OFFSET(6), 2), "401000 r7+8 c-8 c-16\n");
	assert_program(AMD64, BYTES(DW_CFA_offset_extended, 6, 3), "401000 r7+8 c-8 c-24\n");
	assert_program(AMD64, BYTES(DW_CFA_offset_extended_sf, 6, 4), "401000 r7+8 c-8 c-32\n");
	assert_program(AMD64, BYTES(DW_CFA_offset_extended_sf, 6, 0x7f), "401000 r7+8 c-8 c+8\n");
	assert_program(AMD64, BYTES(DW_CFA_GNU_negative_offset_extended, 6, 2),
		       "401000 r7+8 c-8 c+16\n");
	assert_program(AMD64, BYTES(DW_CFA_val_offset, 6, 2), "401000 r7+8 c-8 v-16\n");
	assert_program(AMD64, BYTES(DW_CFA_val_offset_sf, 6, 0x7e), "401000 r7+8 c-8 v+16\n");
	assert_program(AMD64, BYTES(DW_CFA_register, 6, 11), "401000 r7+8 c-8 r11+0\n");
	assert_program(AMD64, BYTES(DW_CFA_register, 16, 2), "401000 r7+8 r2+0 same\n");
	assert_program(AMD64, BYTES(OFFSET(16), 3), "401000 r7+8 c-24 same\n");
}

static void registers_return_to_unchanged(void **state)
{
	assert_program(AMD64,
		       BYTES(OFFSET(6), 2, ADVANCE(1), DW_CFA_same_value, 6, ADVANCE(1), OFFSET(6),
			     3, ADVANCE(1), DW_CFA_undefined, 6),
		       "401000 r7+8 c-8 c-16\n"
		       "401001 r7+8 c-8 same\n"
		       "401002 r7+8 c-8 c-24\n"
		       "401003 r7+8 c-8 same\n");
}

static void other_registers_are_parsed_and_dropped(void **state)
{
	assert_program(AMD64,
		       BYTES(OFFSET(3), 2, DW_CFA_offset_extended, 0xff, 0x01, 9, DW_CFA_val_offset,
			     12, 4, DW_CFA_register, 13, 0x80, 0x02, DW_CFA_undefined, 200, 1,
			     DW_CFA_same_value, 14, DW_CFA_restore_extended, 15, RESTORE(12),
			     DW_CFA_expression, 3, 2, DW_OP_breg6, 0x78, DW_CFA_val_expression, 3,
			     1, 0xff, DW_CFA_def_cfa_offset, 48),
		       "401000 r7+48 c-8 same\n");
}

static void pushed_argument_sizes_are_for_exceptions_only(void **state)
{
	assert_program(AMD64,
		       BYTES(DW_CFA_GNU_args_size, 0x90, 0x01, ADVANCE(4), DW_CFA_GNU_args_size, 0),
		       "401000 r7+8 c-8 same\n"
		       "401004 r7+8 c-8 same\n");
}

static void restore_returns_to_the_cies_rule(void **state)
{
	static const uint8_t insn[] = {DW_CFA_def_cfa, 7, 8, OFFSET(16), 1, OFFSET(6), 5};
	const struct cfi_cie cie = {.insn = insn, .insn_size = sizeof(insn)};

	assert_program_of(AMD64, &cie,
			  BYTES(OFFSET(6), 2, ADVANCE(1), RESTORE(6), ADVANCE(1), OFFSET(6), 3,
				OFFSET(16), 9, ADVANCE(1), DW_CFA_restore_extended, 6, RESTORE(16)),
			  "401000 r7+8 c-8 c-16\n"
			  "401001 r7+8 c-8 c-40\n"
			  "401002 r7+8 c-72 c-24\n"
			  "401003 r7+8 c-8 c-40\n");
	assert_program(AMD64, BYTES(OFFSET(6), 2, ADVANCE(1), RESTORE(6)),
		       "401000 r7+8 c-8 c-16\n"
		       "401001 r7+8 c-8 same\n");
}

/* A CUDA compiler restores registers in its CIE: to what they were before. */
static void a_cie_may_restore_what_it_set(void **state)
{
	static const uint8_t insn[] = {DW_CFA_def_cfa, 6, 16, OFFSET(6), 2,
				       DW_CFA_def_cfa, 7, 8,  RESTORE(6)};
	const struct cfi_cie cie = {.insn = insn, .insn_size = sizeof(insn)};

	assert_program_of(AMD64, &cie, NO_BYTES, "401000 r7+8 c-8 same\n");
}

static void remembered_states_nest(void **state)
{
	assert_program(AMD64,
		       BYTES(DW_CFA_def_cfa_offset, 16, OFFSET(6), 2, DW_CFA_remember_state,
			     ADVANCE(1), DW_CFA_def_cfa, 6, 24, DW_CFA_remember_state, ADVANCE(1),
			     DW_CFA_def_cfa, 7, 8, RESTORE(6), ADVANCE(1), DW_CFA_restore_state,
			     ADVANCE(1), DW_CFA_restore_state),
		       "401000 r7+16 c-8 c-16\n"
		       "401001 r6+24 c-8 c-16\n"
		       "401002 r7+8 c-8 same\n"
		       "401003 r6+24 c-8 c-16\n"
		       "401004 r7+16 c-8 c-16\n");
}

static void sixteen_states_nest_and_not_one_more(void **state)
{
	uint8_t insn[2 * BOBBIN_CFI_STATES + 2];

	memset(insn, DW_CFA_remember_state, BOBBIN_CFI_STATES);
	memset(insn + BOBBIN_CFI_STATES, DW_CFA_restore_state, BOBBIN_CFI_STATES);
	assert_program(AMD64, insn, 2 * BOBBIN_CFI_STATES, "401000 r7+8 c-8 same\n");
	insn[BOBBIN_CFI_STATES] = DW_CFA_remember_state;
	assert_program(AMD64, insn, BOBBIN_CFI_STATES + 1, "error CFI_STATE\n");
}

static void an_unbalanced_restore_is_refused_after_good_rows(void **state)
{
	assert_program(AMD64, BYTES(ADVANCE(1), DW_CFA_restore_state),
		       "401000 r7+8 c-8 same\nerror CFI_STATE\n");
	/* what a CIE remembers is not the function's */
	static const uint8_t insn[] = {DW_CFA_def_cfa, 7, 8, DW_CFA_remember_state};
	const struct cfi_cie cie = {.insn = insn, .insn_size = sizeof(insn)};

	assert_program_of(AMD64, &cie, BYTES(DW_CFA_restore_state), "error CFI_STATE\n");
}

static void a_cie_does_not_advance(void **state)
{
	static const uint8_t advance[] = {ADVANCE(1)};
	static const uint8_t set_loc[] = {DW_CFA_set_loc, 0, 0, 0, 0};
	const struct cfi_cie one = {.insn = advance, .insn_size = sizeof(advance)};
	const struct cfi_cie other = {.insn = set_loc, .insn_size = sizeof(set_loc)};

	assert_program_of(AMD64, &one, NO_BYTES, "error CFI_OPCODE\n");
	assert_program_of(AMD64, &other, NO_BYTES, "error CFI_OPCODE\n");
}

static void unknown_instructions_are_refused(void **state)
{
	static const uint8_t unknown[] = {0x17, 0x1c, 0x1d, 0x20, 0x2b, 0x30, 0x3f};

	for (size_t i = 0; i < sizeof(unknown); i++)
		assert_program(AMD64, BYTES(unknown[i]), "error CFI_OPCODE\n");
}

/* Each instruction with operands, cut after its opcode. */
static void cut_instructions_are_refused(void **state)
{
	static const uint8_t with_operands[] = {
		DW_CFA_set_loc,
		DW_CFA_advance_loc1,
		DW_CFA_advance_loc2,
		DW_CFA_advance_loc4,
		DW_CFA_offset_extended,
		DW_CFA_restore_extended,
		DW_CFA_undefined,
		DW_CFA_same_value,
		DW_CFA_register,
		DW_CFA_def_cfa,
		DW_CFA_def_cfa_register,
		DW_CFA_def_cfa_offset,
		DW_CFA_def_cfa_expression,
		DW_CFA_expression,
		DW_CFA_offset_extended_sf,
		DW_CFA_def_cfa_sf,
		DW_CFA_def_cfa_offset_sf,
		DW_CFA_val_offset,
		DW_CFA_val_offset_sf,
		DW_CFA_val_expression,
		DW_CFA_GNU_args_size,
		DW_CFA_GNU_negative_offset_extended,
		OFFSET(6),
	};

	for (size_t i = 0; i < sizeof(with_operands); i++)
		assert_program(AMD64, BYTES(with_operands[i]), "error TRUNCATED\n");
	assert_program(AMD64, BYTES(DW_CFA_def_cfa_expression, 2, DW_OP_breg7),
		       "error TRUNCATED\n");
	assert_program(AMD64, BYTES(DW_CFA_expression, 6, 9, DW_OP_breg7, 0), "error TRUNCATED\n");
}

static void an_undefined_return_address_is_outermost(void **state)
{
	assert_program(AMD64, BYTES(DW_CFA_undefined, 16), "401000 r7+8 undef same\n");
	assert_program(AARCH64, BYTES(DW_CFA_undefined, 30), "401000 r31+0 undef same\n");
	assert_program(S390X, BYTES(DW_CFA_undefined, 14), "401000 r15+160 undef same\n");
}

static void an_outermost_frame_needs_neither_cfa_nor_fp(void **state)
{
	const struct cfi_cie cie = {.insn = (const uint8_t[]){DW_CFA_nop}, .insn_size = 1};

	assert_program_of(AMD64, &cie, BYTES(DW_CFA_undefined, 16), "401000 r7+0 undef same\n");
	assert_program(AMD64,
		       BYTES(DW_CFA_undefined, 16, DW_CFA_expression, 6, 1, DW_OP_lit0,
			     DW_CFA_register, 7, 8),
		       "401000 r7+0 undef same\n");
}

static void an_offset_that_does_not_fit_has_no_rule(void **state)
{
	assert_program(AMD64, BYTES(OFFSET(6), 0x80, 0x80, 0x80, 0x80, 0x02),
		       "401000 none CFI_RANGE\n");
	assert_program(AMD64,
		       BYTES(OFFSET(16), 0x80, 0x80, 0x80, 0x80, 0x02, ADVANCE(1), RESTORE(16)),
		       "401000 none CFI_RANGE\n"
		       "401001 r7+8 c-8 same\n");
	assert_program(AMD64, BYTES(DW_CFA_register, 6, 32), "401000 none CFI_REGISTER\n");
	assert_program(AMD64, BYTES(DW_CFA_register, 6, 17), "401000 none CFI_REGISTER\n");
}

static void a_return_address_that_makes_no_sense_has_no_rule(void **state)
{
	assert_program(AMD64, BYTES(DW_CFA_val_offset, 16, 1), "401000 none BAD_RULE\n");
	assert_program(AMD64, BYTES(DW_CFA_same_value, 16), "401000 none BAD_RULE\n");
	assert_program(AARCH64, BYTES(DW_CFA_same_value, 30), "401000 r31+0 same same\n");
}

/* longjmp: rsp has a rule that is not the CFA */
static void a_stack_pointer_of_its_own_has_no_rule(void **state)
{
	assert_program(AMD64, BYTES(DW_CFA_register, 7, 8), "401000 none CFI_SP_RULE\n");
	assert_program(AMD64, BYTES(OFFSET(7), 2), "401000 none CFI_SP_RULE\n");
	assert_program(AMD64, BYTES(DW_CFA_val_offset, 7, 1), "401000 none CFI_SP_RULE\n");
	assert_program(AMD64, BYTES(DW_CFA_expression, 7, 1, DW_OP_lit0),
		       "401000 none CFI_EXPRESSION\n");
	assert_program(AMD64, BYTES(DW_CFA_register, 7, 8, ADVANCE(1), RESTORE(7)),
		       "401000 none CFI_SP_RULE\n"
		       "401001 r7+8 c-8 same\n");
}

static void a_stack_pointer_that_is_the_cfa_needs_no_rule(void **state)
{
	assert_program(AMD64, BYTES(DW_CFA_val_offset, 7, 0), "401000 r7+8 c-8 same\n");
	assert_program(AMD64, BYTES(DW_CFA_same_value, 7), "401000 r7+8 c-8 same\n");
}

static void s390x_saves_its_stack_pointer_with_the_others(void **state)
{
	assert_program(S390X,
		       BYTES(ADVANCE(6), OFFSET(11), 9, OFFSET(14), 6, OFFSET(15), 5, ADVANCE(6),
			     DW_CFA_def_cfa_offset, 0xc0, 0x02),
		       "401000 r15+160 same same\n"
		       "401006 r15+160 c-48 c-72\n"
		       "40100c r15+320 c-48 c-72\n");
}

static void s390x_parks_registers_in_floating_point_registers(void **state)
{
	assert_program(
		S390X,
		BYTES(DW_CFA_register, 15, 16, DW_CFA_register, 14, 17, DW_CFA_register, 11, 18),
		"401000 r15+160 r17+0 r18+0\n");
	assert_program(S390X, BYTES(DW_CFA_val_offset, 15, 20), "401000 r15+160 same same\n");
	assert_program(S390X, BYTES(DW_CFA_val_offset, 15, 19), "401000 none CFI_SP_RULE\n");
}

static void aarch64_signs_its_return_address(void **state)
{
	assert_program(AARCH64,
		       BYTES(ADVANCE(4), DW_CFA_AARCH64_negate_ra_state, ADVANCE(4),
			     DW_CFA_def_cfa_offset, 32, OFFSET(29), 4, OFFSET(30), 3, ADVANCE(4),
			     DW_CFA_remember_state, DW_CFA_AARCH64_negate_ra_state, ADVANCE(4),
			     DW_CFA_restore_state),
		       "401000 r31+0 same same\n"
		       "401004 r31+0 same same M\n"
		       "401008 r31+32 c-24 c-32 M\n"
		       "40100c r31+32 c-24 c-32\n"
		       "401010 r31+32 c-24 c-32 M\n");
	assert_program(AARCH64, BYTES(DW_CFA_AARCH64_negate_ra_state_with_pc),
		       "401000 r31+0 same same M\n");
}

static void other_architectures_sign_nothing(void **state)
{
	assert_program(AMD64, BYTES(DW_CFA_AARCH64_negate_ra_state), "error CFI_OPCODE\n");
	assert_program(S390X, BYTES(DW_CFA_AARCH64_negate_ra_state), "error CFI_OPCODE\n");
}

static void key_b_is_marked_where_the_address_is_signed(void **state)
{
	const struct cfi_cie cie = {.augmentation = "zRB", .encoding = DW_EH_PE_udata8};

	assert_program_of(AARCH64, &cie, BYTES(ADVANCE(4), DW_CFA_AARCH64_negate_ra_state),
			  "401000 r31+0 same same\n"
			  "401004 r31+0 same same M B\n");
}

static void a_program_copied_midway_goes_on_alike(void **state)
{
	struct bobbin_cfi_rows rows, copy;
	struct bobbin_row one, other;
	struct bobbin_cfi_view view;
	struct bobbin_cfi_fde fde;
	struct cfi_section s;
	uint64_t at;

	cfi_section_init(&s, AMD64);
	at = put_fde(&s, TEXT, 16,
		     BYTES(DW_CFA_remember_state, ADVANCE(1), DW_CFA_def_cfa_offset, 16, ADVANCE(1),
			   DW_CFA_restore_state));
	view = cfi_section_view(&s);
	assert_int_equal(bobbin_cfi_fde(&view, at, NULL, &fde), 0);
	assert_int_equal(bobbin_cfi_rows_init(&view, &fde, NULL, &rows), 0);
	assert_int_equal(bobbin_cfi_rows_next(&rows, NULL, &one), 1);
	copy = rows;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(bobbin_cfi_rows_next(&rows, NULL, &one), 1);
		assert_int_equal(bobbin_cfi_rows_next(&copy, NULL, &other), 1);
		assert_true(one.start == other.start && one.end == other.end);
		assert_true(bobbin_rule_equal(&one.rule, &other.rule));
	}
	assert_int_equal(bobbin_cfi_rows_next(&rows, NULL, &one), 0);
	assert_int_equal(bobbin_cfi_rows_next(&rows, NULL, &one), 0);
	assert_int_equal(bobbin_cfi_rows_next(&copy, NULL, &other), 0);
}

static void programs_of_other_cies_start_anew(void **state)
{
	static const struct cfi_cie plain = {.augmentation = "zR"},
				    signal = {.augmentation = "zRS"};
	static const struct cfi_cie *const order[] = {&plain, &plain, &signal, &plain};
	struct bobbin_cfi_fde like = {0}, fde, found;
	struct bobbin_cfi_rows rows, again = {0};
	struct bobbin_row row, other;
	struct bobbin_cfi_view view;
	struct cfi_section s;
	uint64_t offset = 0;

	cfi_section_init(&s, AMD64);
	for (unsigned int i = 0; i < 4; i++)
		put_fde_of(&s, order[i], put_cie(&s, order[i]), TEXT + 16 * i, 16,
			   BYTES(ADVANCE(1), DW_CFA_def_cfa_offset, 24));
	view = cfi_section_view(&s);
	for (unsigned int i = 0; i < 4; i++) {
		uint64_t from = offset;

		assert_int_equal(bobbin_cfi_next(&view, &from, NULL, &fde), 1);
		assert_int_equal(bobbin_cfi_next_like(&view, &offset, &like, NULL, &found), 1);
		assert_int_equal(found.start, TEXT + 16 * i);
		assert_int_equal(found.cie, fde.cie);
		assert_int_equal(found.signal, order[i] == &signal);
		assert_int_equal(bobbin_cfi_rows_init(&view, &fde, NULL, &rows), 0);
		if (i)
			assert_int_equal(bobbin_cfi_rows_again(&found, NULL, &again), 0);
		else
			again = rows;
		while (bobbin_cfi_rows_next(&rows, NULL, &row) > 0) {
			assert_int_equal(bobbin_cfi_rows_next(&again, NULL, &other), 1);
			assert_true(row.start == other.start && row.end == other.end);
			assert_true(bobbin_rule_equal(&row.rule, &other.rule));
		}
		like = found;
	}
}

static void a_failure_names_the_instruction_and_leaves_the_row_alone(void **state)
{
	struct bobbin_row row, before;
	struct bobbin_error err = {0};
	struct bobbin_cfi_rows rows;
	struct bobbin_cfi_view view;
	struct bobbin_cfi_fde fde;
	struct cfi_section s;
	uint64_t at;

	cfi_section_init(&s, AMD64);
	at = put_fde(&s, TEXT, 16, BYTES(DW_CFA_nop, DW_CFA_def_cfa_offset, 16, 0x3f));
	view = cfi_section_view(&s);
	assert_int_equal(bobbin_cfi_fde(&view, at, NULL, &fde), 0);
	assert_int_equal(bobbin_cfi_rows_init(&view, &fde, &err, &rows), 0);
	memset(&row, 0xa5, sizeof(row));
	memcpy(&before, &row, sizeof(row));
	assert_true(bobbin_cfi_rows_next(&rows, &err, &row) < 0);
	assert_memory_equal(&row, &before, sizeof(row));
	assert_int_equal(err.reason, BOBBIN_REASON_CFI_OPCODE);
	assert_int_equal(err.offset, fde.insn + 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_program_has_the_initial_row),
		cmocka_unit_test(a_framed_function_has_four_rows),
		cmocka_unit_test(each_advance_moves_the_location),
		cmocka_unit_test(an_advance_by_nothing_makes_no_row),
		cmocka_unit_test(an_advance_beyond_the_function_ends_it),
		cmocka_unit_test(advances_count_in_code_alignments),
		cmocka_unit_test(an_advance_that_overflows_is_refused),
		cmocka_unit_test(set_loc_moves_to_an_encoded_address),
		cmocka_unit_test(set_loc_may_be_relative_to_itself),
		cmocka_unit_test(cfas_are_defined_in_each_form),
		cmocka_unit_test(a_cfa_of_no_base_register_has_no_rule),
		cmocka_unit_test(an_offset_without_a_cfa_has_no_rule),
		cmocka_unit_test(a_cfa_register_after_an_expression_keeps_the_old_offset),
		cmocka_unit_test(registers_are_saved_in_each_form),
		cmocka_unit_test(registers_return_to_unchanged),
		cmocka_unit_test(other_registers_are_parsed_and_dropped),
		cmocka_unit_test(pushed_argument_sizes_are_for_exceptions_only),
		cmocka_unit_test(restore_returns_to_the_cies_rule),
		cmocka_unit_test(a_cie_may_restore_what_it_set),
		cmocka_unit_test(remembered_states_nest),
		cmocka_unit_test(sixteen_states_nest_and_not_one_more),
		cmocka_unit_test(an_unbalanced_restore_is_refused_after_good_rows),
		cmocka_unit_test(a_cie_does_not_advance),
		cmocka_unit_test(unknown_instructions_are_refused),
		cmocka_unit_test(cut_instructions_are_refused),
		cmocka_unit_test(an_undefined_return_address_is_outermost),
		cmocka_unit_test(an_outermost_frame_needs_neither_cfa_nor_fp),
		cmocka_unit_test(an_offset_that_does_not_fit_has_no_rule),
		cmocka_unit_test(a_return_address_that_makes_no_sense_has_no_rule),
		cmocka_unit_test(a_stack_pointer_of_its_own_has_no_rule),
		cmocka_unit_test(a_stack_pointer_that_is_the_cfa_needs_no_rule),
		cmocka_unit_test(s390x_saves_its_stack_pointer_with_the_others),
		cmocka_unit_test(s390x_parks_registers_in_floating_point_registers),
		cmocka_unit_test(aarch64_signs_its_return_address),
		cmocka_unit_test(other_architectures_sign_nothing),
		cmocka_unit_test(key_b_is_marked_where_the_address_is_signed),
		cmocka_unit_test(a_program_copied_midway_goes_on_alike),
		cmocka_unit_test(programs_of_other_cies_start_anew),
		cmocka_unit_test(a_failure_names_the_instruction_and_leaves_the_row_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
