/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of code without call-frame information become functions beside those that have it.
 */
#include "conversion.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* The packed rule whose CFA is a register and an offset, with FP saved at CFA-16 or unchanged. */
static uint64_t word_of(unsigned int reg, int32_t off, bool saved)
{
	const struct bobbin_rule rule = {
		.cfa = {.how = BOBBIN_HOW_AT_REG, .reg = (uint8_t)reg, .off = off},
		.ra = {.how = BOBBIN_HOW_IN_CFA_MEM, .off = -8},
		.fp = {.how = saved ? BOBBIN_HOW_IN_CFA_MEM : BOBBIN_HOW_SAME,
		       .off = saved ? -16 : 0},
		.index = BOBBIN_NO_INDEX,
	};
	uint64_t word;

	assert_int_equal(bobbin_rule_pack(&rule, &word), 0);
	return word;
}

static void add(struct conversion_bench *b, const struct added_row *rows, size_t count)
{
	b->options.added = (struct added_rows){rows, count};
}

static void rows_are_added_between_functions(void **state)
{
	const struct added_row rows[] = {
		{TEXT, TEXT + 1, TEXT, word_of(7, 8, false)},
		{TEXT + 1, TEXT + 16, TEXT, word_of(7, 16, true)},
		{TEXT + 48, TEXT + 52, TEXT + 48, word_of(7, 8, false)},
		{TEXT + 52, TEXT + 64, TEXT + 48, word_of(6, 16, true)},
	};
	struct conversion_bench *b = *state;

	put_fde(&b->eh, TEXT + 16, 16, BYTES(ADVANCE(4), CFA_OFFSET(24)));
	add(b, rows, 4);
	conversion_run(b);
	assert_rows(b, 65,
		    "401000 r7+8 c-8 same\n"
		    "401001 r7+16 c-8 c-16\n"
		    "401010 r7+8 c-8 same\n"
		    "401014 r7+24 c-8 same\n"
		    "401020 nothing\n"
		    "401030 r7+8 c-8 same\n"
		    "401034 r6+16 c-8 c-16\n"
		    "401040 nothing\n");
	assert_true(b->view.sorted);
	assert_int_equal(b->stats.functions, 3);
	assert_int_equal(b->stats.fdes, 1);
	assert_int_equal(b->stats.text, 16);
	assert_lost(b, 0, 0);
}

/* Readers find functions by the starts of FDEs. */
static void each_function_begins_one(void **state)
{
	const struct added_row rows[] = {
		{TEXT, TEXT + 8, TEXT, word_of(7, 8, false)},
		{TEXT + 8, TEXT + 16, TEXT + 8, word_of(7, 8, false)},
		{TEXT + 24, TEXT + 32, TEXT + 8, word_of(7, 8, false)},
	};
	struct conversion_bench *b = *state;

	add(b, rows, 3);
	conversion_run(b);
	assert_int_equal(b->view.num_fdes, 3);
	assert_int_equal(function_at(b, TEXT).size, 8);
	assert_int_equal(function_at(b, TEXT + 8).size, 8);
	assert_int_equal(function_at(b, TEXT + 24).size, 8);
}

static void no_call_frame_information_is_needed(void **state)
{
	const struct added_row rows[] = {{TEXT, TEXT + 8, TEXT, word_of(7, 8, false)}};
	struct conversion_bench *b = *state;

	b->options.arch = bobbin_arch_amd64();
	add(b, rows, 1);
	conversion_run(b);
	assert_int_equal(b->count, 0);
	assert_rows(b, 9,
		    "401000 r7+8 c-8 same\n"
		    "401008 nothing\n");
}

/* A signal frame before them does not make them such. */
static void added_rows_are_no_signal_frames(void **state)
{
	const struct cfi_cie cie = {.augmentation = "zRS", .encoding = DW_EH_PE_pcrel};
	const struct added_row rows[] = {{TEXT + 16, TEXT + 32, TEXT + 16, word_of(7, 8, false)}};
	struct conversion_bench *b = *state;

	put_fde_of(&b->eh, &cie, put_cie(&b->eh, &cie), TEXT, 16, BYTES(CFA_OFFSET(16)));
	add(b, rows, 1);
	conversion_run(b);
	assert_true(function_at(b, TEXT).signal);
	assert_false(function_at(b, TEXT + 16).signal);
}

/* Version 2 has no rows whose CFA is loaded. */
static void what_cannot_be_added_is_told_and_is_no_loss_of_tables(void **state)
{
	const struct bobbin_rule loaded = {
		.cfa = {.how = BOBBIN_HOW_IN_REG_MEM, .reg = 6, .off = -8},
		.ra = {.how = BOBBIN_HOW_IN_CFA_MEM, .off = -8},
		.fp = {.how = BOBBIN_HOW_IN_REG_MEM, .reg = 6},
		.index = BOBBIN_NO_INDEX,
	};
	struct added_row rows[] = {
		{TEXT, TEXT + 4, TEXT, word_of(7, 8, false)},
		{TEXT + 4, TEXT + 12, TEXT, 0},
		{TEXT + 12, TEXT + 16, TEXT, word_of(7, 8, false)},
	};
	struct conversion_bench *b = *state;

	assert_int_equal(bobbin_rule_pack(&loaded, &rows[1].word), 0);
	b->options.version = 2;
	put_fde(&b->eh, TEXT + 32, 16, NO_BYTES);
	add(b, rows, 3);
	free(b->data);
	b->data = NULL;
	assert_int_equal(conversion_try(b), 0);
	assert_int_equal(bobbin_sframe_view(b->data, b->size, b->options.addr, NULL, &b->view), 0);
	assert_rows(b, 17,
		    "401000 r7+8 c-8 same\n"
		    "401004 nothing\n"
		    "40100c r7+8 c-8 same\n"
		    "401010 nothing\n");
	assert_int_equal(b->stats.lost_added, 1);
	assert_int_equal(b->stats.lost_rows, 0);
	assert_int_equal(b->stats.lost_text, 0);
	assert_int_equal(b->gap_count, 1);
	assert_true(b->gaps[0].added);
	assert_gap(b, 0, 4, 12, BOBBIN_REASON_SFRAME_RULE);
}

#define sentence(name) \
	cmocka_unit_test_setup_teardown(name, conversion_set_up, conversion_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		sentence(rows_are_added_between_functions),
		sentence(each_function_begins_one),
		sentence(no_call_frame_information_is_needed),
		sentence(added_rows_are_no_signal_frames),
		sentence(what_cannot_be_added_is_told_and_is_no_loss_of_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
