/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs that go straight to bytes, beside the same row by row.
 */
#include "convert/usual_program.h"

#include <dwarf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cfi_section.h"

#define ADVANCE(n) (DW_CFA_advance_loc | (n))
#define OFFSET(reg) (DW_CFA_offset | (reg))
#define RESTORE(reg) (DW_CFA_restore | (reg))
#define MAX_BYTES 4096

/* A section with one function, and where its rows go. */
struct bench {
	struct cfi_section section;
	struct bobbin_cfi_view view;
	struct bobbin_cfi_fde fde;
	struct bobbin_cfi_rows program;
	struct bobbin_sframe_builder builder;
	struct bobbin_sframe_built fdes[1];
	uint8_t fres[MAX_BYTES];
};

/* What came of a program. */
struct result {
	bool usual;
	uint32_t rows, merged;
	uint8_t bytes[MAX_BYTES];
	size_t size;
};

static void start(struct bench *b, const struct cfi_cie *cie, uint64_t size, const uint8_t *insn,
		  uint64_t insn_size)
{
	const struct bobbin_arch *arch = bobbin_arch_amd64();
	uint64_t at;

	cfi_section_init(&b->section, arch);
	at = put_fde_of(&b->section, cie, put_cie(&b->section, cie), TEXT, size, insn, insn_size);
	b->view = cfi_section_view(&b->section);
	assert_int_equal(bobbin_cfi_fde(&b->view, at, NULL, &b->fde), 0);
	assert_int_equal(bobbin_cfi_rows_init(&b->view, &b->fde, NULL, &b->program), 0);
	assert_int_equal(bobbin_sframe_builder_init(arch, 0x600000, 3, &b->builder), 0);
	b->builder.fdes = b->fdes;
	b->builder.fde_max = 1;
	b->builder.fres = b->fres;
	b->builder.fre_max = sizeof(b->fres);
}

static void take(const struct bench *b, const struct usual_rows *rows, struct result *ret)
{
	ret->merged = rows->count;
	ret->size = (size_t)(rows->at - b->fres);
	memcpy(ret->bytes, b->fres, ret->size);
}

static struct result straight(struct bench *b, uint32_t size)
{
	struct result ret = {.usual = false};
	struct usual_rule initial;
	struct usual_rows rows;

	memset(b->fres, 0, sizeof(b->fres));
	assert_true(usual_rows_start(&b->builder, size, &rows));
	ret.usual = usual_program_start(&b->program, &initial) &&
		    usual_program_run(&b->view, &b->fde, &initial, size, &rows, &ret.rows);
	take(b, &rows, &ret);
	return ret;
}

/* Rows that start in the part of the function that is wanted. */
static struct result row_by_row(struct bench *b, uint32_t size)
{
	struct bobbin_cfi_rows program = b->program;
	struct result ret = {.usual = true};
	struct usual_rule rule;
	struct usual_rows rows;
	struct bobbin_row row;
	int r = 1;

	memset(b->fres, 0, sizeof(b->fres));
	assert_true(usual_rows_start(&b->builder, size, &rows));
	while (ret.usual && (r = bobbin_cfi_rows_next(&program, NULL, &row)) > 0) {
		ret.usual = !program.plt && usual_rule_of(b->view.arch, &row.rule, &rule) &&
			    usual_rows_add(&rows, (uint32_t)(row.start - TEXT), &rule);
		ret.rows++;
		if (row.end - TEXT >= size)
			break;
	}
	ret.usual = ret.usual && r >= 0;
	take(b, &rows, &ret);
	return ret;
}

/* Whether the program goes straight; if so, as row by row. */
static bool is_usual(const struct cfi_cie *cie, uint64_t size, uint32_t wanted, const uint8_t *insn,
		     uint64_t insn_size)
{
	struct result fast, slow;
	struct bench b;

	start(&b, cie, size, insn, insn_size);
	fast = straight(&b, wanted);
	if (!fast.usual)
		return false;
	slow = row_by_row(&b, wanted);
	assert_true(slow.usual);
	assert_int_equal(fast.rows, slow.rows);
	assert_int_equal(fast.merged, slow.merged);
	assert_int_equal(fast.size, slow.size);
	assert_memory_equal(fast.bytes, slow.bytes, slow.size);
	return true;
}

static const struct cfi_cie plain = {.augmentation = "zR"};

static void programs_of_compilers_are_usual(void **state)
{
	(void)state;
	assert_true(is_usual(&plain, 256, 256, NO_BYTES));
	assert_true(is_usual(&plain, 256, 256,
			     BYTES(ADVANCE(1), DW_CFA_def_cfa_offset, 16, OFFSET(6), 2, ADVANCE(3),
				   DW_CFA_def_cfa_register, 6, ADVANCE(9), OFFSET(3), 3,
				   ADVANCE(20), DW_CFA_remember_state, DW_CFA_def_cfa, 7, 8,
				   ADVANCE(1), DW_CFA_restore_state, DW_CFA_advance_loc1, 100,
				   RESTORE(6), DW_CFA_nop, DW_CFA_nop)));
	assert_true(is_usual(&plain, 70000, 70000,
			     BYTES(DW_CFA_advance_loc2, 0, 1, DW_CFA_def_cfa_offset, 0x90, 0x02,
				   DW_CFA_GNU_args_size, 16, DW_CFA_advance_loc4, 0, 3, 0, 0,
				   DW_CFA_def_cfa_offset, 8)));
}

static void others_are_left_to_whoever_knows_all(void **state)
{
	const struct cfi_cie signal = {.augmentation = "zRS"},
			     factor = {.augmentation = "zR", .data_align = -1000};
	(void)state;

#define assert_unusual(...) assert_false(is_usual(&plain, 256, 256, BYTES(__VA_ARGS__)))
	assert_false(is_usual(&signal, 256, 256, NO_BYTES));
	assert_false(is_usual(&factor, 256, 256, NO_BYTES));
	assert_unusual(OFFSET(16), 3);
	assert_unusual(OFFSET(7), 3);
	assert_unusual(RESTORE(16));
	assert_unusual(DW_CFA_undefined, 16);
	assert_unusual(DW_CFA_same_value, 6);
	assert_unusual(DW_CFA_def_cfa, 10, 0);
	assert_unusual(DW_CFA_def_cfa_register, 3);
	assert_unusual(DW_CFA_def_cfa_offset, 0xff, 0xff, 0x03);
	assert_unusual(DW_CFA_def_cfa_expression, 2, DW_OP_breg7, 8);
	assert_unusual(DW_CFA_restore_state);
	assert_unusual(DW_CFA_remember_state, DW_CFA_remember_state, DW_CFA_remember_state,
		       DW_CFA_remember_state, DW_CFA_remember_state);
#undef assert_unusual
}

/* An offset counts from the last register that was named, not from an expression's. */
static void a_cfa_that_an_expression_began_is_not_usual(void **state)
{
	static const uint8_t insn[] = {
		DW_CFA_def_cfa, 6, 16, OFFSET(16), 1, DW_CFA_def_cfa_expression, 2, DW_OP_breg7, 8};
	const struct cfi_cie cie = {.augmentation = "zR", .insn = insn, .insn_size = sizeof(insn)};
	(void)state;

	assert_false(is_usual(&cie, 256, 256, BYTES(ADVANCE(1), DW_CFA_def_cfa_offset, 24)));
	assert_false(is_usual(&cie, 256, 256, BYTES(ADVANCE(1), DW_CFA_def_cfa_register, 6)));
}

static void programs_that_end_too_early_are_not_usual(void **state)
{
	struct bench b;
	(void)state;

	start(&b, &plain, 256, BYTES(ADVANCE(1), DW_CFA_def_cfa_offset, 16));
	for (b.fde.insn_end = b.fde.insn; b.fde.insn_end < b.fde.insn + 2; b.fde.insn_end++)
		assert_true(straight(&b, 256).usual);
	assert_false(straight(&b, 256).usual);
	b.fde.insn_end++;
	assert_true(straight(&b, 256).usual);
}

static void nothing_behind_the_end_is_looked_at(void **state)
{
	(void)state;
	assert_true(is_usual(&plain, 256, 3, BYTES(ADVANCE(3), DW_CFA_def_cfa_offset, 16, 0x3f)));
	assert_false(is_usual(&plain, 256, 4, BYTES(ADVANCE(3), DW_CFA_def_cfa_offset, 16, 0x3f)));
	assert_true(is_usual(&plain, 8, 8, BYTES(ADVANCE(63), DW_CFA_def_cfa_offset, 16, 0x3f)));
}

static void locations_that_do_not_move_start_no_row(void **state)
{
	struct result fast, slow;
	struct bench b;
	(void)state;

	start(&b, &plain, 256, BYTES(ADVANCE(1), DW_CFA_def_cfa_offset, 16));
	b.fde.code_align = b.program.fde.code_align = 0;
	fast = straight(&b, 256);
	slow = row_by_row(&b, 256);
	assert_true(fast.usual);
	assert_int_equal(fast.rows, 1);
	assert_int_equal(slow.rows, 1);
	assert_memory_equal(fast.bytes, slow.bytes, slow.size);
}

static void locations_behind_all_addresses_are_not_usual(void **state)
{
	struct bench b;
	(void)state;

	start(&b, &plain, 16, BYTES(ADVANCE(20)));
	b.fde.start = UINT64_MAX - 20;
	assert_true(straight(&b, 16).usual);
	b.fde.start++;
	assert_false(straight(&b, 16).usual);
}

static uint8_t random_instruction(uint8_t *operand)
{
	static const uint8_t instructions[] = {
		ADVANCE(0),
		ADVANCE(1),
		ADVANCE(5),
		ADVANCE(1),
		DW_CFA_advance_loc1,
		DW_CFA_def_cfa_offset,
		DW_CFA_def_cfa_offset,
		DW_CFA_def_cfa_offset,
		DW_CFA_def_cfa_register,
		OFFSET(6),
		OFFSET(3),
		RESTORE(6),
		RESTORE(3),
		DW_CFA_remember_state,
		DW_CFA_restore_state,
		DW_CFA_nop,
		DW_CFA_GNU_args_size,
		OFFSET(16),
		DW_CFA_same_value,
	};
	/* the last two end most programs: rarely */
	uint8_t insn = instructions[(size_t)rand() % (sizeof(instructions) - (rand() % 8 ? 2 : 0))];

	*operand = rand() % 8 ? (uint8_t)(8 * (rand() % 16)) : (uint8_t)rand();
	if (insn == DW_CFA_def_cfa_register)
		*operand = 6 + rand() % 2;
	return insn;
}

static bool has_operand(uint8_t insn)
{
	if (insn & 0xc0)
		return (insn & 0xc0) == DW_CFA_offset;
	return insn != DW_CFA_nop && insn != DW_CFA_remember_state && insn != DW_CFA_restore_state;
}

static void what_goes_straight_is_the_same_as_row_by_row(void **state)
{
	unsigned int usual = 0;
	(void)state;

	for (unsigned int n = 0; n < 20000; n++) {
		struct cfi_cie cie = {.augmentation = "zR", .code_align = 1 + n % 3};
		uint64_t size = 1 + (uint64_t)rand() % 600;
		uint8_t insn[40];

		for (unsigned int i = 0; i < sizeof(insn);) {
			uint8_t operand;

			insn[i++] = random_instruction(&operand);
			if (i < sizeof(insn) && has_operand(insn[i - 1]))
				insn[i++] = operand;
		}
		usual += is_usual(&cie, size, (uint32_t)(rand() % 4 ? size : 1 + size / 2), insn,
				  (uint64_t)rand() % sizeof(insn));
	}
	assert_true(usual > 2000 && usual < 18000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_of_compilers_are_usual),
		cmocka_unit_test(others_are_left_to_whoever_knows_all),
		cmocka_unit_test(a_cfa_that_an_expression_began_is_not_usual),
		cmocka_unit_test(programs_that_end_too_early_are_not_usual),
		cmocka_unit_test(nothing_behind_the_end_is_looked_at),
		cmocka_unit_test(locations_that_do_not_move_start_no_row),
		cmocka_unit_test(locations_behind_all_addresses_are_not_usual),
		cmocka_unit_test(what_goes_straight_is_the_same_as_row_by_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
