/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What becomes of each kind of row and function.
 */
#include "conversion.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SIGN_RA 0x2d

static void every_row_becomes_a_row(void **state)
{
	struct conversion_bench *b = *state;

	put_fde(&b->eh, TEXT, 64,
		BYTES(ADVANCE(1), CFA_OFFSET(16), OFFSET(6), 2, ADVANCE(3), DW_CFA_def_cfa_register,
		      6, ADVANCE(32), DW_CFA_def_cfa, 7, 8, DW_CFA_restore | 6));
	conversion_run(b);
	assert_rows(b, 65,
		    "401000 r7+8 c-8 same\n"
		    "401001 r7+16 c-8 c-16\n"
		    "401004 r6+16 c-8 c-16\n"
		    "401024 r7+8 c-8 same\n"
		    "401040 nothing\n");
	assert_int_equal(b->stats.fdes, 1);
	assert_int_equal(b->stats.cfi_rows, 4);
	assert_int_equal(b->stats.functions, 1);
	assert_int_equal(b->stats.rows, 4);
	assert_int_equal(b->stats.text, 64);
	assert_int_equal(b->stats.split, 0);
	assert_int_equal(b->stats.lost_fdes, 0);
	assert_lost(b, 0, 0);
}

static void equal_rows_that_follow_each_other_become_one(void **state)
{
	struct conversion_bench *b = *state;

	/* no rule needs rbx */
	put_fde(&b->eh, TEXT, 64,
		BYTES(ADVANCE(1), CFA_OFFSET(16), ADVANCE(3), OFFSET(3), 2, ADVANCE(4),
		      CFA_OFFSET(16), ADVANCE(4), CFA_OFFSET(24)));
	conversion_run(b);
	assert_rows(b, 64,
		    "401000 r7+8 c-8 same\n"
		    "401001 r7+16 c-8 same\n"
		    "40100c r7+24 c-8 same\n");
	assert_int_equal(b->stats.cfi_rows, 5);
	assert_int_equal(b->stats.rows, 3);
	assert_int_equal(b->view.num_fres, 3);
}

static void an_inexpressible_row_leaves_a_hole(void **state)
{
	struct conversion_bench *b = *state;
	uint64_t fde = put_fde(
		&b->eh, TEXT, 64,
		BYTES(ADVANCE(8), INEXPRESSIBLE, ADVANCE(4), DW_CFA_same_value, 6, CFA_OFFSET(16)));

	conversion_run(b);
	assert_rows(b, 64,
		    "401000 r7+8 c-8 same\n"
		    "401008 nothing\n"
		    "40100c r7+16 c-8 same\n");
	assert_lost(b, 1, 4);
	assert_gap(b, 0, 8, 12, BOBBIN_REASON_SFRAME_RULE);
	assert_int_equal(b->gaps[0].fde, fde);
	assert_false(b->gaps[0].debug_frame);
	assert_int_equal(b->stats.reasons[BOBBIN_REASON_SFRAME_RULE], 1);
	assert_int_equal(b->stats.functions, 2);
	assert_int_equal(b->stats.split, 1);
	assert_int_equal(b->stats.lost_fdes, 0);
}

static void holes_at_both_ends_are_left_out(void **state)
{
	struct conversion_bench *b = *state;

	put_fde(&b->eh, TEXT, 64,
		BYTES(INEXPRESSIBLE, ADVANCE(8), DW_CFA_same_value, 6, ADVANCE(8), INEXPRESSIBLE));
	conversion_run(b);
	assert_rows(b, 64,
		    "401000 nothing\n"
		    "401008 r7+8 c-8 same\n"
		    "401010 nothing\n");
	assert_lost(b, 2, 8 + 48);
	assert_gap(b, 0, 0, 8, BOBBIN_REASON_SFRAME_RULE);
	assert_gap(b, 1, 16, 64, BOBBIN_REASON_SFRAME_RULE);
	assert_int_equal(b->stats.functions, 1);
	assert_int_equal(b->stats.split, 1);
}

static void a_function_without_any_rule_is_lost(void **state)
{
	struct conversion_bench *b = *state;

	put_fde(&b->eh, TEXT, 64, BYTES(INEXPRESSIBLE));
	conversion_run(b);
	assert_rows(b, 64, "401000 nothing\n");
	assert_int_equal(b->view.num_fdes, 0);
	assert_int_equal(b->stats.lost_fdes, 1);
	assert_int_equal(b->stats.split, 0);
	assert_lost(b, 1, 64);
}

static void rows_that_have_no_rule_are_gaps_with_their_reason(void **state)
{
	struct conversion_bench *b = *state;

	put_fde(&b->eh, TEXT, 64,
		BYTES(ADVANCE(8), DW_CFA_def_cfa, 32, 8, ADVANCE(8), DW_CFA_def_cfa, 7, 8));
	conversion_run(b);
	assert_rows(b, 64,
		    "401000 r7+8 c-8 same\n"
		    "401008 nothing\n"
		    "401010 r7+8 c-8 same\n");
	assert_gap(b, 0, 8, 16, BOBBIN_REASON_CFI_REGISTER);
	assert_int_equal(b->stats.reasons[BOBBIN_REASON_CFI_REGISTER], 1);
	assert_int_equal(b->stats.split, 1);
}

static void rows_that_need_flexible_ones_are_left_out_of_version_2(void **state)
{
	struct conversion_bench *b = *state;

	put_fde(&b->eh, TEXT, 64,
		BYTES(ADVANCE(8), DW_CFA_def_cfa, 10, 0, ADVANCE(8), DW_CFA_def_cfa, 7, 8));
	conversion_run(b);
	assert_rows(b, 64,
		    "401000 r7+8 c-8 same\n"
		    "401008 r10+0 c-8 same\n"
		    "401010 r7+8 c-8 same\n");
	assert_lost(b, 0, 0);
	b->options.version = 2;
	conversion_run(b);
	assert_rows(b, 64,
		    "401000 r7+8 c-8 same\n"
		    "401008 nothing\n"
		    "401010 r7+8 c-8 same\n");
	assert_lost(b, 1, 8);
	assert_gap(b, 0, 8, 16, BOBBIN_REASON_SFRAME_RULE);
}

/* As in the stubs of glibc's locks before 2.20, with a CFA below the stack pointer. */
static void return_addresses_relative_to_the_pc_need_flexible_rows(void **state)
{
	struct conversion_bench *b = *state;

	put_fde(&b->eh, TEXT, 64,
		BYTES(ADVANCE(8), DW_CFA_def_cfa_sf, 7, 16, DW_CFA_val_expression, 16, 3,
		      DW_OP_breg16, 0xe5, 0x7e, ADVANCE(8), CFA_OFFSET(8), DW_CFA_restore_extended,
		      16));
	conversion_run(b);
	assert_rows(b, 64,
		    "401000 r7+8 c-8 same\n"
		    "401008 r7-128 pc-155 same\n"
		    "401010 r7+8 c-8 same\n");
	assert_lost(b, 0, 0);
	b->options.version = 2;
	conversion_run(b);
	assert_rows(b, 64,
		    "401000 r7+8 c-8 same\n"
		    "401008 nothing\n"
		    "401010 r7+8 c-8 same\n");
	assert_lost(b, 1, 8);
	assert_gap(b, 0, 8, 16, BOBBIN_REASON_SFRAME_RULE);
}

static void an_outermost_row_has_no_caller(void **state)
{
	struct conversion_bench *b = *state;

	put_fde(&b->eh, TEXT, 32, BYTES(DW_CFA_undefined, 16));
	put_fde(&b->eh, TEXT + 32, 32, BYTES(ADVANCE(8), DW_CFA_undefined, 16));
	for (b->options.version = 2; b->options.version <= 3; b->options.version++) {
		struct bobbin_row row;

		conversion_run(b);
		assert_lost(b, 0, 0);
		assert_int_equal(rule_of_byte(b, TEXT + 31, &row), 0);
		assert_int_equal(row.rule.ra.how, BOBBIN_HOW_UNDEFINED);
		assert_int_equal(rule_of_byte(b, TEXT + 39, &row), 0);
		assert_int_equal(row.rule.ra.how, BOBBIN_HOW_IN_CFA_MEM);
		assert_int_equal(rule_of_byte(b, TEXT + 40, &row), 0);
		assert_int_equal(row.rule.ra.how, BOBBIN_HOW_UNDEFINED);
	}
}

/* Each byte of @size from TEXT + @start on has the rule of a stub. */
static void assert_stubs(const struct conversion_bench *b, uint64_t start, uint64_t size)
{
	for (uint64_t pc = TEXT + start; pc < TEXT + start + size; pc++) {
		struct bobbin_row row;

		assert_int_equal(rule_of_byte(b, pc, &row), 0);
		assert_int_equal(row.rule.cfa.off, pc % 16 >= 11 ? 16 : 8);
	}
}

static void lazy_binding_stubs_become_rows_that_repeat(void **state)
{
	struct conversion_bench *b = *state;
	struct bobbin_sframe_fde fde;

	put_fde(&b->eh, TEXT, 0x400, STUBS);
	for (b->options.version = 2; b->options.version <= 3; b->options.version++) {
		conversion_run(b);
		assert_stubs(b, 0, 0x400);
		fde = function_at(b, TEXT + 0x200);
		assert_true(fde.pcmask);
		assert_int_equal(fde.rep_size, 16);
		assert_int_equal(fde.num_fres, 2);
		assert_int_equal(b->view.num_fdes, 1);
		assert_lost(b, 0, 0);
	}
}

/* The linker decides where they will be. */
static void stubs_without_final_addresses_are_left_out(void **state)
{
	struct conversion_bench *b = *state;

	b->options.floating = true;
	put_fde(&b->eh, TEXT, 0x400, STUBS);
	put_fde(&b->eh, TEXT + 0x400, 0x10, BYTES(CFA_OFFSET(16)));
	conversion_run(b);
	assert_int_equal(b->view.num_fdes, 1);
	assert_int_equal(function_at(b, TEXT + 0x400).size, 0x10);
	assert_gap(b, 0, 0, 0x400, BOBBIN_REASON_SFRAME_RULE);
	assert_lost(b, 1, 0x400);
}

static void stubs_may_start_and_end_anywhere(void **state)
{
	struct conversion_bench *b = *state;

	for (uint64_t start = 0; start < 16; start++) {
		for (uint64_t size = 1; size < 70; size++) {
			cfi_section_init(&b->eh, bobbin_arch_amd64());
			put_fde(&b->eh, TEXT + start, size, STUBS);
			conversion_run(b);
			assert_stubs(b, start, size);
			assert_lost(b, 0, 0);
		}
		assert_true(function_at(b, TEXT + 40).pcmask);
	}
}

/* The first stub is another one: what linkers write for .plt. */
static void stubs_may_follow_other_rows(void **state)
{
	struct conversion_bench *b = *state;

	put_fde(&b->eh, TEXT, 0x100,
		BYTES(CFA_OFFSET(16), ADVANCE(6), CFA_OFFSET(24), ADVANCE(10),
		      DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15,
		      DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus));
	conversion_run(b);
	assert_stubs(b, 16, 0xf0);
	assert_rows(b, 17,
		    "401000 r7+16 c-8 same\n"
		    "401006 r7+24 c-8 same\n"
		    "401010 r7+8 c-8 same\n");
	assert_true(function_at(b, TEXT + 0x80).pcmask);
	assert_false(function_at(b, TEXT + 8).pcmask);
	assert_lost(b, 0, 0);
}

static const struct cfi_cie signal_cie = {.augmentation = "zRS",
					  .encoding = DW_EH_PE_pcrel | DW_EH_PE_sdata4};

static void put_trampoline(struct conversion_bench *b, const uint8_t *insn, uint64_t insn_size)
{
	uint64_t cie;

	put_fde(&b->eh, TEXT, 16, NO_BYTES);
	cie = put_cie(&b->eh, &signal_cie);
	put_fde_of(&b->eh, &signal_cie, cie, TEXT + 16, 16, insn, insn_size);
	put_fde(&b->eh, TEXT + 32, 16, NO_BYTES);
}

static void signal_frames_are_marked(void **state)
{
	struct conversion_bench *b = *state;

	put_trampoline(b, BYTES(CFA_OFFSET(64)));
	conversion_run(b);
	assert_rows(b, 48,
		    "401000 r7+8 c-8 same\n"
		    "401010 r7+64 c-8 same S\n"
		    "401020 r7+8 c-8 same\n");
	assert_true(function_at(b, TEXT + 16).signal);
	assert_false(function_at(b, TEXT + 15).signal);
	assert_false(function_at(b, TEXT + 32).signal);
	assert_lost(b, 0, 0);
}

static void version_2_has_no_signal_frames(void **state)
{
	struct conversion_bench *b = *state;

	put_trampoline(b, BYTES(CFA_OFFSET(64)));
	b->options.version = 2;
	conversion_run(b);
	assert_rows(b, 48,
		    "401000 r7+8 c-8 same\n"
		    "401010 nothing\n"
		    "401020 r7+8 c-8 same\n");
	assert_lost(b, 1, 16);
	assert_int_equal(b->stats.lost_fdes, 1);
}

/* As the kernel's: the CFA and all registers are in the frame of the signal. */
static void a_trampoline_without_a_rule_keeps_its_mark(void **state)
{
	struct conversion_bench *b = *state;
	struct bobbin_sframe_fde fde;

	put_trampoline(b, BYTES(INEXPRESSIBLE));
	conversion_run(b);
	assert_rows(b, 48,
		    "401000 r7+8 c-8 same\n"
		    "401010 nothing\n"
		    "401020 r7+8 c-8 same\n");
	fde = function_at(b, TEXT + 16);
	assert_true(fde.signal);
	assert_int_equal(fde.num_fres, 0);
	assert_int_equal(fde.start, TEXT + 16);
	assert_int_equal(fde.size, 16);
	assert_lost(b, 1, 16);
	b->options.version = 2;
	conversion_run(b);
	assert_int_equal(rule_of_byte(b, TEXT + 16, &(struct bobbin_row){0}), -ENOENT);
}

static void a_function_in_which_another_starts_is_left_out(void **state)
{
	struct conversion_bench *b = *state;

	put_fde(&b->eh, TEXT, 64, NO_BYTES);
	put_fde(&b->eh, TEXT + 16, 64, BYTES(ADVANCE(4), CFA_OFFSET(16)));
	put_fde(&b->eh, TEXT + 32, 0, BYTES(CFA_OFFSET(32)));
	conversion_run(b);
	assert_rows(b, 81,
		    "401000 nothing\n"
		    "401010 r7+8 c-8 same\n"
		    "401014 r7+16 c-8 same\n"
		    "401050 nothing\n");
	assert_int_equal(b->stats.fdes, 1);
	assert_int_equal(b->stats.dead, 1);
	assert_int_equal(b->stats.text, 64);
}

static void of_equal_starts_the_last_function_says(void **state)
{
	struct conversion_bench *b = *state;

	put_fde(&b->eh, TEXT, 16, NO_BYTES);
	put_fde(&b->eh, TEXT, 16, BYTES(CFA_OFFSET(16)));
	conversion_run(b);
	assert_rows(b, 16, "401000 r7+16 c-8 same\n");
	assert_int_equal(b->stats.fdes, 1);
}

static void debug_frame_speaks_where_eh_frame_does_not(void **state)
{
	struct conversion_bench *b = *state;
	uint64_t fde;

	put_fde(&b->eh, TEXT, 32, BYTES(CFA_OFFSET(16)));
	cfi_section_init(&b->debug, bobbin_arch_amd64());
	b->debug.debug_frame = true;
	put_fde(&b->debug, TEXT + 16, 64, NO_BYTES);
	fde = put_fde(&b->debug, TEXT + 32, 32, BYTES(CFA_OFFSET(24), ADVANCE(16), INEXPRESSIBLE));
	conversion_run(b);
	assert_rows(b, 64,
		    "401000 r7+16 c-8 same\n"
		    "401020 r7+24 c-8 same\n"
		    "401030 nothing\n");
	assert_gap(b, 0, 48, 64, BOBBIN_REASON_SFRAME_RULE);
	assert_true(b->gaps[0].debug_frame);
	assert_int_equal(b->gaps[0].fde, fde);
	assert_int_equal(b->stats.text, 64);
}

static void a_malformed_function_leaves_the_others_alone(void **state)
{
	struct conversion_bench *b = *state;

	put_fde(&b->eh, TEXT, 16, NO_BYTES);
	/* no such instruction */
	put_fde(&b->eh, TEXT + 16, 16, BYTES(ADVANCE(4), CFA_OFFSET(16), ADVANCE(4), 0x3f));
	put_fde(&b->eh, TEXT + 32, 16, NO_BYTES);
	conversion_run(b);
	assert_rows(b, 16, "401000 r7+8 c-8 same\n");
	assert_int_equal(rule_of_byte(b, TEXT + 24, &(struct bobbin_row){0}), -ENOENT);
	assert_int_equal(rule_of_byte(b, TEXT + 31, &(struct bobbin_row){0}), -ENOENT);
	assert_int_equal(rule_of_byte(b, TEXT + 32, &(struct bobbin_row){0}), 0);
	assert_int_equal(b->gap_count, 1);
	assert_int_equal(b->gaps[0].end, TEXT + 32);
	assert_int_equal(b->stats.lost_rows, 1);
}

static void an_entry_that_cannot_be_read_is_counted(void **state)
{
	struct conversion_bench *b = *state;
	uint64_t fde;

	put_fde(&b->eh, TEXT, 16, NO_BYTES);
	fde = put_fde(&b->eh, TEXT + 16, 16, NO_BYTES);
	b->eh.data[fde + 4] ^= 1;
	put_fde(&b->eh, TEXT + 32, 16, NO_BYTES);
	conversion_run(b);
	assert_rows(b, 48,
		    "401000 r7+8 c-8 same\n"
		    "401010 nothing\n"
		    "401020 r7+8 c-8 same\n");
	assert_int_equal(b->stats.fdes, 2);
	assert_int_equal(b->stats.lost_fdes, 1);
	assert_int_equal(b->stats.lost_rows, 1);
}

static void both_keys_of_aarch64_can_be_told_apart(void **state)
{
	const struct cfi_cie key_b = {.augmentation = "zRB",
				      .encoding = DW_EH_PE_pcrel | DW_EH_PE_sdata4};
	struct conversion_bench *b = *state;
	uint64_t cie;

	cfi_section_init(&b->eh, bobbin_arch_aarch64());
	for (uint64_t i = 0; i < 4; i++) {
		put_fde(&b->eh, TEXT + i * 32, 16, BYTES(SIGN_RA));
		cie = put_cie(&b->eh, &key_b);
		put_fde_of(&b->eh, &key_b, cie, TEXT + i * 32 + 16, 16, BYTES(SIGN_RA));
	}
	for (unsigned int i = 0; i < 4; i++) {
		b->options.version = 2 + i / 2;
		b->options.share = i % 2;
		conversion_run(b);
		assert_rows(b, 64,
			    "401000 r31+0 same same M\n"
			    "401010 r31+0 same same M B\n"
			    "401020 r31+0 same same M\n"
			    "401030 r31+0 same same M B\n");
		assert_lost(b, 0, 0);
	}
}

static void equal_functions_take_less_room_when_shared(void **state)
{
	struct conversion_bench *b = *state;
	uint64_t alone;

	for (uint64_t i = 0; i < 32; i++)
		put_fde(&b->eh, TEXT + i * 128, 64,
			BYTES(ADVANCE(1), CFA_OFFSET(16), OFFSET(6), 2, ADVANCE(3),
			      DW_CFA_def_cfa_register, 6, ADVANCE(32), DW_CFA_def_cfa, 7, 8,
			      DW_CFA_restore | 6));
	conversion_run(b);
	alone = b->size;
	b->options.share = true;
	conversion_run(b);
	assert_true(b->size < alone);
	assert_int_equal(rule_of_byte(b, TEXT + 31 * 128 + 4, &(struct bobbin_row){0}), 0);
}

static void no_functions_make_an_empty_section(void **state)
{
	struct conversion_bench *b = *state;

	conversion_run(b);
	assert_int_equal(b->view.num_fdes, 0);
	assert_int_equal(b->size, 28);
}

static void other_versions_are_refused(void **state)
{
	struct conversion_bench *b = *state;

	put_fde(&b->eh, TEXT, 16, NO_BYTES);
	b->options.version = 1;
	assert_int_equal(conversion_try(b), -EINVAL);
	b->options.version = 4;
	assert_int_equal(conversion_try(b), -EINVAL);
	assert_null(b->data);
}

static void gaps_need_no_listener(void **state)
{
	struct conversion_bench *b = *state;

	put_fde(&b->eh, TEXT, 16, BYTES(INEXPRESSIBLE));
	b->options.gap = NULL;
	conversion_run(b);
	assert_int_equal(b->stats.lost_rows, 1);
}

#define sentence(name) \
	cmocka_unit_test_setup_teardown(name, conversion_set_up, conversion_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		sentence(every_row_becomes_a_row),
		sentence(equal_rows_that_follow_each_other_become_one),
		sentence(an_inexpressible_row_leaves_a_hole),
		sentence(holes_at_both_ends_are_left_out),
		sentence(a_function_without_any_rule_is_lost),
		sentence(rows_that_have_no_rule_are_gaps_with_their_reason),
		sentence(rows_that_need_flexible_ones_are_left_out_of_version_2),
		sentence(return_addresses_relative_to_the_pc_need_flexible_rows),
		sentence(an_outermost_row_has_no_caller),
		sentence(lazy_binding_stubs_become_rows_that_repeat),
		sentence(stubs_without_final_addresses_are_left_out),
		sentence(stubs_may_start_and_end_anywhere),
		sentence(stubs_may_follow_other_rows),
		sentence(signal_frames_are_marked),
		sentence(version_2_has_no_signal_frames),
		sentence(a_trampoline_without_a_rule_keeps_its_mark),
		sentence(a_function_in_which_another_starts_is_left_out),
		sentence(of_equal_starts_the_last_function_says),
		sentence(debug_frame_speaks_where_eh_frame_does_not),
		sentence(a_malformed_function_leaves_the_others_alone),
		sentence(an_entry_that_cannot_be_read_is_counted),
		sentence(both_keys_of_aarch64_can_be_told_apart),
		sentence(equal_functions_take_less_room_when_shared),
		sentence(no_functions_make_an_empty_section),
		sentence(other_versions_are_refused),
		sentence(gaps_need_no_listener),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
