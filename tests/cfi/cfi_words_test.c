/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows as packed words, compared with the same rows as rules.
 */
#include <bobbin/cfi.h>

#include <dwarf.h>
#include <errno.h>
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
#define MAX_FILL 9

/**
 * struct tally - results of a program
 * @rows: rows
 * @words: rows whose rule is in a word
 * @kept: calls that returned more than one row
 * @r: of the last call
 */
struct tally {
	unsigned int rows, words, kept;
	int r;
};

static void assert_same(const struct bobbin_row *row, const struct bobbin_cfi_word *word,
			const struct bobbin_cfi_rows *several)
{
	struct bobbin_rule rule;
	uint64_t packed = 0;

	assert_true(row->start == word->start);
	assert_int_equal(bobbin_rule_pack(&row->rule, &packed), word->word ? 0 : -ERANGE);
	assert_true(packed == word->word);
	if (word->word)
		return;
	bobbin_cfi_rows_rule(several, &rule);
	assert_true(bobbin_rule_equal(&row->rule, &rule));
}

/* Run a program by @max words at a time and row by row. */
static struct tally run_both(const struct bobbin_cfi_view *view, const struct bobbin_cfi_fde *fde,
			     unsigned int max)
{
	struct bobbin_cfi_rows rows, several;
	struct bobbin_cfi_word words[MAX_FILL];
	struct bobbin_error error = {0}, other = {0};
	struct tally t = {.r = bobbin_cfi_rows_init(view, fde, NULL, &rows)};
	struct bobbin_row row;

	several = rows;
	while (!t.r && (t.r = bobbin_cfi_rows_fill(&several, &error, words, max)) > 0) {
		assert_true((unsigned int)t.r <= max);
		for (int i = 0; i < t.r; i++) {
			assert_int_equal(bobbin_cfi_rows_next(&rows, NULL, &row), 1);
			assert_same(&row, &words[i], &several);
			assert_true(i + 1 == t.r || (words[i].word && !rows.plt));
			t.words += words[i].word != 0;
			t.rows++;
		}
		assert_true(row.end == several.end && rows.plt == several.plt);
		t.kept += t.r > 1;
		t.r = 0;
	}
	assert_int_equal(bobbin_cfi_rows_next(&rows, &other, &row), t.r);
	assert_true(error.offset == other.offset && error.reason == other.reason);
	return t;
}

static struct tally run_program(const struct cfi_cie *cie, uint64_t size, const uint8_t *insn,
				uint64_t insn_size)
{
	struct bobbin_cfi_view view;
	struct bobbin_cfi_fde fde;
	struct cfi_section s;
	struct tally t, one;
	uint64_t at;

	cfi_section_init(&s, bobbin_arch_amd64());
	at = put_fde_of(&s, cie, put_cie(&s, cie), TEXT, size, insn, insn_size);
	view = cfi_section_view(&s);
	assert_int_equal(bobbin_cfi_fde(&view, at, NULL, &fde), 0);
	t = run_both(&view, &fde, MAX_FILL);
	one = run_both(&view, &fde, 1);
	assert_true(one.rows == t.rows && one.words == t.words && one.r == t.r);
	return t;
}

static const struct cfi_cie plain = {.augmentation = "zR"};

static void assert_words(struct tally t, unsigned int rows, unsigned int words)
{
	assert_int_equal(t.r, 0);
	assert_int_equal(t.rows, rows);
	assert_int_equal(t.words, words);
}

static void programs_of_compilers_become_words(void **state)
{
	(void)state;
	assert_words(run_program(&plain, 256, NO_BYTES), 1, 1);
	assert_words(run_program(&plain, 256,
				 BYTES(ADVANCE(1), DW_CFA_def_cfa_offset, 16, OFFSET(6), 2,
				       ADVANCE(3), DW_CFA_def_cfa_register, 6, ADVANCE(9),
				       OFFSET(3), 3, ADVANCE(20), DW_CFA_remember_state,
				       DW_CFA_def_cfa, 7, 8, ADVANCE(1), DW_CFA_restore_state,
				       DW_CFA_advance_loc1, 100, RESTORE(6), DW_CFA_nop)),
		     7, 7);
	assert_words(run_program(&plain, 70000,
				 BYTES(DW_CFA_advance_loc2, 0, 1, DW_CFA_def_cfa_offset, 0x90, 0x02,
				       DW_CFA_GNU_args_size, 16, DW_CFA_advance_loc4, 0, 3, 0, 0,
				       DW_CFA_def_cfa_offset, 8)),
		     3, 3);
}

static void rules_that_no_word_holds_end_a_call(void **state)
{
	const struct tally t = run_program(&plain, 64,
					   BYTES(ADVANCE(1), DW_CFA_def_cfa_offset, 12, ADVANCE(1),
						 DW_CFA_def_cfa_offset, 16, ADVANCE(1),
						 DW_CFA_def_cfa_offset, 0x80, 0x80, 0x80, 0x02));
	(void)state;

	assert_words(t, 4, 2);
	assert_int_equal(t.kept, 2);
}

static void a_rule_comes_back_after_one_that_no_word_holds(void **state)
{
	(void)state;
	assert_words(
		run_program(&plain, 64,
			    BYTES(DW_CFA_remember_state, ADVANCE(1), DW_CFA_def_cfa_offset, 12,
				  OFFSET(6), 3, ADVANCE(1), DW_CFA_restore_state, ADVANCE(1),
				  DW_CFA_same_value, 16, ADVANCE(1), RESTORE(16), ADVANCE(1),
				  DW_CFA_undefined, 16, ADVANCE(1), DW_CFA_def_cfa_offset, 32)),
		7, 6);
}

/* Neither a signal frame's flag nor a reason gets lost when the CFA changes. */
static void a_change_of_the_cfa_leaves_all_else(void **state)
{
	const struct cfi_cie signal = {.augmentation = "zRS"};
	(void)state;

	assert_words(
		run_program(&signal, 64,
			    BYTES(OFFSET(6), 9, ADVANCE(1), DW_CFA_def_cfa_offset, 24, ADVANCE(1),
				  DW_CFA_def_cfa, 40, 8, ADVANCE(1), DW_CFA_def_cfa, 7, 32,
				  ADVANCE(1), DW_CFA_same_value, 7, ADVANCE(1),
				  DW_CFA_def_cfa_offset, 40, ADVANCE(1), DW_CFA_offset | 7, 2,
				  ADVANCE(1), DW_CFA_def_cfa_offset, 48)),
		8, 8);
}

/* An offset counts from the last register that was named, not from an expression's. */
static void an_offset_after_an_expression_is_that_of_the_last_register(void **state)
{
	static const uint8_t insn[] = {
		DW_CFA_def_cfa, 6, 16, OFFSET(16), 1, DW_CFA_def_cfa_expression, 2, DW_OP_breg7, 8};
	const struct cfi_cie cie = {.augmentation = "zR", .insn = insn, .insn_size = sizeof(insn)};
	(void)state;

	assert_words(run_program(&cie, 256, BYTES(ADVANCE(1), DW_CFA_def_cfa_offset, 24)), 2, 2);
	assert_words(run_program(&cie, 256, BYTES(ADVANCE(1), DW_CFA_def_cfa_register, 6)), 2, 2);
}

static void a_lazy_binding_stubs_row_ends_a_call(void **state)
{
	const struct tally t = run_program(
		&plain, 64,
		BYTES(DW_CFA_def_cfa_offset, 16, ADVANCE(6), DW_CFA_def_cfa_expression, 11,
		      DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11,
		      DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus, ADVANCE(26), OFFSET(6), 2,
		      ADVANCE(16), DW_CFA_def_cfa_offset, 8));
	(void)state;

	assert_words(t, 4, 4);
	assert_int_equal(t.kept, 1);
}

static void rows_before_a_malformed_instruction_are_returned(void **state)
{
	struct tally t;
	(void)state;

	t = run_program(&plain, 64,
			BYTES(ADVANCE(1), DW_CFA_def_cfa_offset, 16, ADVANCE(1), 0x3f, 0x3f));
	assert_int_equal(t.rows, 2);
	assert_int_equal(t.r, -EBADMSG);
	t = run_program(&plain, 64, BYTES(ADVANCE(1), DW_CFA_restore_state));
	assert_int_equal(t.rows, 1);
	assert_int_equal(t.r, -EBADMSG);
	t = run_program(&plain, 64, BYTES(ADVANCE(1), DW_CFA_def_cfa_offset));
	assert_int_equal(t.rows, 1);
	assert_int_equal(t.r, -EBADMSG);
}

static void nothing_after_the_functions_end_is_looked_at(void **state)
{
	(void)state;
	assert_words(run_program(&plain, 3, BYTES(ADVANCE(3), DW_CFA_def_cfa_offset, 16, 0x3f)), 1,
		     1);
	assert_words(run_program(&plain, 8, BYTES(ADVANCE(63), DW_CFA_def_cfa_offset, 16, 0x3f)), 1,
		     1);
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
		OFFSET(7),
		DW_CFA_undefined,
		DW_CFA_same_value,
	};
	/* those that no compiler uses: rarely */
	uint8_t insn = instructions[(size_t)rand() % (sizeof(instructions) - (rand() % 8 ? 4 : 0))];

	*operand = rand() % 8 ? (uint8_t)(8 * (rand() % 16)) : (uint8_t)rand();
	if (insn == DW_CFA_def_cfa_register)
		*operand = 6 + rand() % 2;
	if (insn == DW_CFA_undefined || insn == DW_CFA_same_value)
		*operand = rand() % 2 ? 16 : 6 + rand() % 2;
	return insn;
}

static bool has_operand(uint8_t insn)
{
	if (insn & 0xc0)
		return (insn & 0xc0) == DW_CFA_offset;
	return insn != DW_CFA_nop && insn != DW_CFA_remember_state && insn != DW_CFA_restore_state;
}

static void words_are_the_rules_of_random_programs(void **state)
{
	unsigned int rows = 0, words = 0, failed = 0;
	(void)state;

	for (unsigned int n = 0; n < 20000; n++) {
		struct cfi_cie cie = {.augmentation = n % 5 ? "zR" : "zRS",
				      .code_align = 1 + n % 3,
				      .data_align = n % 7 ? -8 : -1000};
		uint8_t insn[40];
		struct tally t;

		for (unsigned int i = 0; i < sizeof(insn);) {
			uint8_t operand;

			insn[i++] = random_instruction(&operand);
			if (i < sizeof(insn) && has_operand(insn[i - 1]))
				insn[i++] = operand;
		}
		t = run_program(&cie, 1 + (uint64_t)rand() % 600, insn,
				(uint64_t)rand() % sizeof(insn));
		rows += t.rows;
		words += t.words;
		failed += t.r < 0;
	}
	assert_true(words > rows / 2 && words < rows);
	assert_true(failed > 1000 && failed < 15000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_of_compilers_become_words),
		cmocka_unit_test(rules_that_no_word_holds_end_a_call),
		cmocka_unit_test(a_rule_comes_back_after_one_that_no_word_holds),
		cmocka_unit_test(a_change_of_the_cfa_leaves_all_else),
		cmocka_unit_test(an_offset_after_an_expression_is_that_of_the_last_register),
		cmocka_unit_test(a_lazy_binding_stubs_row_ends_a_call),
		cmocka_unit_test(rows_before_a_malformed_instruction_are_returned),
		cmocka_unit_test(nothing_after_the_functions_end_is_looked_at),
		cmocka_unit_test(words_are_the_rules_of_random_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
