/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions that are too large, too far away, or have too many rows.
 */
#include "conversion.h"

#include <endian.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A section with one FDE, of instructions that struct cfi_section has no room for. */
static void put_long_fde(struct conversion_bench *b, uint64_t size, const uint8_t *insn,
			 uint64_t insn_size)
{
	uint64_t fde = put_fde(&b->eh, TEXT, size, NO_BYTES);
	uint32_t length = htole32((uint32_t)(b->eh.size - fde - 4 + insn_size));

	b->long_frame = malloc(b->eh.size + insn_size);
	memcpy(b->long_frame, b->eh.data, b->eh.size);
	memcpy(b->long_frame + b->eh.size, insn, insn_size);
	memcpy(b->long_frame + fde, &length, sizeof(length));
	b->views[0] = cfi_section_view(&b->eh);
	b->views[0].frame = b->long_frame;
	b->views[0].frame_size = b->eh.size + insn_size;
	b->count = 1;
}

static void a_function_of_many_rows_becomes_several(void **state)
{
	enum {
		ROWS = 200000
	};
	struct conversion_bench *b = *state;
	uint8_t *insn = malloc(3 * ROWS);

	for (uint32_t i = 0; i < ROWS; i++)
		memcpy(insn + 3 * (size_t)i,
		       ((uint8_t[]){ADVANCE(1), CFA_OFFSET((uint8_t)(8 + 8 * (i % 8)))}), 3);
	put_long_fde(b, ROWS + 1, insn, 3 * ROWS);
	free(insn);
	for (b->options.version = 2; b->options.version <= 3; b->options.version++) {
		conversion_run(b);
		assert_int_equal(b->stats.cfi_rows, ROWS + 1);
		assert_lost(b, 0, 0);
		for (uint32_t i = 0; i < ROWS; i += 97) {
			struct bobbin_row row;

			assert_int_equal(rule_of_byte(b, TEXT + 1 + i, &row), 0);
			assert_int_equal(row.rule.cfa.off, 8 + 8 * (i % 8));
		}
	}
}

/* Each of the rows is tried alone, but not each with all that follow. */
static void many_rows_out_of_reach_take_no_time(void **state)
{
	enum {
		ROWS = 400000
	};
	struct conversion_bench *b = *state;
	uint8_t *insn = malloc(3 * ROWS);

	for (uint32_t i = 0; i < ROWS; i++)
		memcpy(insn + 3 * (size_t)i,
		       ((uint8_t[]){ADVANCE(1), CFA_OFFSET((uint8_t)(8 + 8 * (i % 8)))}), 3);
	put_long_fde(b, ROWS + 1, insn, 3 * ROWS);
	free(insn);
	b->options.version = 2;
	b->options.addr = TEXT + 3 * GIB;
	conversion_run(b);
	/* the first two rows are equal */
	assert_lost(b, ROWS, ROWS + 1);
	assert_int_equal(b->view.num_fdes, 0);
}

static const struct cfi_cie wide_cie = {.augmentation = "zR", .encoding = DW_EH_PE_udata8};

static void put_wide_fde(struct conversion_bench *b, uint64_t size, const uint8_t *insn,
			 uint64_t insn_size)
{
	uint64_t cie = put_cie(&b->eh, &wide_cie);

	put_fde_of(&b->eh, &wide_cie, cie, TEXT, size, insn, insn_size);
}

static void rows_of_more_than_4_gib_are_left_out(void **state)
{
	struct conversion_bench *b = *state;

	put_wide_fde(b, 5 * GIB, BYTES(ADVANCE(16), CFA_OFFSET(16)));
	put_fde(&b->eh, TEXT - 16, 16, NO_BYTES);
	conversion_run(b);
	assert_rows(b, 17,
		    "401000 r7+8 c-8 same\n"
		    "401010 nothing\n");
	assert_lost(b, 1, 5 * GIB - 16);
	assert_gap(b, 0, 16, 5 * GIB, BOBBIN_REASON_SFRAME_REACH);
	assert_int_equal(b->stats.text, 5 * GIB + 16);
}

static void functions_of_more_than_4_gib_fall_into_parts(void **state)
{
	struct conversion_bench *b = *state;
	struct bobbin_row row;

	/* three rows of 3 GiB */
	put_wide_fde(b, 9 * GIB,
		     BYTES(DW_CFA_advance_loc4, 0, 0, 0, 0xc0, CFA_OFFSET(16), DW_CFA_advance_loc4,
			   0, 0, 0, 0xc0, CFA_OFFSET(24)));
	conversion_run(b);
	assert_lost(b, 0, 0);
	for (uint64_t i = 0; i < 9; i++) {
		assert_int_equal(rule_of_byte(b, TEXT + i * GIB, &row), 0);
		assert_int_equal(row.rule.cfa.off, 8 + 8 * (i / 3));
		assert_int_equal(rule_of_byte(b, TEXT + (i + 1) * GIB - 1, &row), 0);
		assert_int_equal(row.rule.cfa.off, 8 + 8 * (i / 3));
	}
}

static void stubs_of_more_than_4_gib_are_not_fatal(void **state)
{
	struct conversion_bench *b = *state;
	struct bobbin_row row;

	put_wide_fde(b, 5 * GIB, STUBS);
	put_fde(&b->eh, TEXT - 16, 16, NO_BYTES);
	conversion_run(b);
	assert_int_equal(rule_of_byte(b, TEXT - 1, &row), 0);
}

static void stubs_that_cannot_be_expressed_are_gaps(void **state)
{
	static const uint8_t inexpressible[] = {INEXPRESSIBLE,
						DW_CFA_def_cfa_expression,
						11,
						DW_OP_breg7,
						8,
						DW_OP_breg16,
						0,
						DW_OP_lit15,
						DW_OP_and,
						DW_OP_lit11,
						DW_OP_ge,
						DW_OP_lit3,
						DW_OP_shl,
						DW_OP_plus};
	struct conversion_bench *b = *state;

	put_fde(&b->eh, TEXT, 64, inexpressible, sizeof(inexpressible));
	conversion_run(b);
	assert_rows(b, 64, "401000 nothing\n");
	assert_lost(b, 1, 64);
	assert_gap(b, 0, 0, 64, BOBBIN_REASON_SFRAME_RULE);

	cfi_section_init(&b->eh, bobbin_arch_amd64());
	put_fde(&b->eh, TEXT, 64, STUBS);
	b->options.version = 2;
	b->options.addr = TEXT + 3 * GIB;
	conversion_run(b);
	assert_rows(b, 64, "401000 nothing\n");
	assert_gap(b, 0, 0, 64, BOBBIN_REASON_SFRAME_REACH);
}

static void stubs_at_the_end_of_the_address_space_are_like_others(void **state)
{
	struct conversion_bench *b = *state;
	struct bobbin_row row;
	uint64_t cie = put_cie(&b->eh, &wide_cie), end = -(uint64_t)6;

	put_fde_of(&b->eh, &wide_cie, cie, end - 40, 40, STUBS);
	conversion_run(b);
	assert_lost(b, 0, 0);
	for (uint64_t pc = end - 40; pc < end; pc++) {
		assert_int_equal(rule_of_byte(b, pc, &row), 0);
		assert_int_equal(row.rule.cfa.off, pc % 16 >= 11 ? 16 : 8);
	}
}

static void version_2_reaches_2_gib(void **state)
{
	struct conversion_bench *b = *state;

	put_fde(&b->eh, TEXT, 16, BYTES(ADVANCE(4), CFA_OFFSET(16)));
	b->options.addr = TEXT + 3 * GIB;
	conversion_run(b);
	assert_rows(b, 16,
		    "401000 r7+8 c-8 same\n"
		    "401004 r7+16 c-8 same\n");
	b->options.version = 2;
	conversion_run(b);
	assert_rows(b, 16, "401000 nothing\n");
	assert_lost(b, 2, 16);
	assert_int_equal(b->stats.reasons[BOBBIN_REASON_SFRAME_REACH], 2);
	assert_int_equal(b->stats.lost_fdes, 1);
}

#define sentence(name) \
	cmocka_unit_test_setup_teardown(name, conversion_set_up, conversion_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		sentence(a_function_of_many_rows_becomes_several),
		sentence(many_rows_out_of_reach_take_no_time),
		sentence(rows_of_more_than_4_gib_are_left_out),
		sentence(functions_of_more_than_4_gib_fall_into_parts),
		sentence(stubs_of_more_than_4_gib_are_not_fatal),
		sentence(stubs_that_cannot_be_expressed_are_gaps),
		sentence(stubs_at_the_end_of_the_address_space_are_like_others),
		sentence(version_2_reaches_2_gib),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
