/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules of functions of AArch64.  Each instruction is a number, beside what the library writes of it, so
 * that both are seen to be the same, and the rule before it: CFA, return address, frame pointer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "a64_texts.h"
#include "infer/a64_decode.h"
#include "infer/infer.h"

#define CODE 0x10000

int main(void);

/**
 * struct line - an instruction
 * @word: it
 * @text: of it; NULL: it is younger than some versions of the library, or none
 * @rule: before it; "-": there is none
 */
struct line {
	uint32_t word;
	const char *text;
	const char *rule;
};

struct made {
	struct program program;
	struct infer_rows rows;
};

static void make(struct made *m, const struct line *lines, size_t count)
{
	const struct infer_options options = {0};
	struct program_span *span = calloc(1, sizeof(*span));
	uint8_t *code = malloc(count * A64_INSN);

	assert_true(span && code);
	for (size_t i = 0; i < count * A64_INSN; i++)
		code[i] = (uint8_t)(lines[i / A64_INSN].word >> i % A64_INSN * 8);
	*span = (struct program_span){CODE, count * A64_INSN, code, true};
	*m = (struct made){.program = {.machine = &machine_aarch64,
				       .spans = span,
				       .span_count = 1,
				       .span_capacity = 1}};
	assert_int_equal(coverage_add(&m->program.code, CODE, CODE + span->size), 0);
	coverage_settle(&m->program.code);
	assert_int_equal(program_add_start(&m->program, CODE, START_SYMBOL), 0);
	assert_int_equal(infer_rows(&m->program, &options, &m->rows), 0);
}

static const struct infer_row *row_at(const struct made *m, uint64_t pc)
{
	for (size_t i = 0; i < m->rows.count; i++)
		if (m->rows.rows[i].start <= pc && pc < m->rows.rows[i].end)
			return &m->rows.rows[i];
	return NULL;
}

/* "sp+16 c-8 c-16" */
static void spell(const struct infer_row *row, char ret[BOBBIN_RULE_STR_MAX])
{
	char whole[BOBBIN_RULE_STR_MAX];
	struct bobbin_rule rule;
	size_t n = 0;

	strcpy(ret, "-");
	if (!row)
		return;
	bobbin_rule_unpack(row->word, &rule);
	bobbin_rule_str(bobbin_arch_aarch64(), &rule, whole);
	for (char *word = strtok(whole, " "); word; word = strtok(NULL, " ")) {
		const char *value = strchr(word, '=');

		n += (size_t)snprintf(ret + n, BOBBIN_RULE_STR_MAX - n, "%s%s", n ? " " : "",
				      value ? value + 1 : word);
	}
}

static void texts_are(const struct line *lines, size_t count)
{
	struct insn_decoder *decoder = a64_decoder_open();
	char found[INSN_TEXT_MAX];
	uint8_t code[A64_INSN];

	assert_non_null(decoder);
	for (size_t i = 0; i < count; i++) {
		for (unsigned int k = 0; k < A64_INSN; k++)
			code[k] = (uint8_t)(lines[i].word >> 8 * k);
		a64_text(decoder, code, A64_INSN, CODE + i * A64_INSN, found);
		assert_text(found, lines[i].text);
	}
	a64_decoder_close(decoder);
}

static void rules_are(bool verified, const struct line *lines, size_t count)
{
	char found[BOBBIN_RULE_STR_MAX];
	struct made m;

	texts_are(lines, count);
	make(&m, lines, count);
	for (size_t i = 0; i < count; i++) {
		const struct infer_row *row = row_at(&m, CODE + i * A64_INSN);

		spell(row, found);
		if (strcmp(found, lines[i].rule))
			fail_msg("instruction %zu: %s, not %s", i, found, lines[i].rule);
		if (row)
			assert_int_equal(row->verified, verified);
	}
	program_fini(&m.program);
	infer_rows_fini(&m.rows);
}

#define RULES(verified, ...) \
	do { \
		static const struct line lines[] = {__VA_ARGS__}; \
		rules_are(verified, lines, sizeof(lines) / sizeof(*lines)); \
	} while (0)

/* What compilers make of a function that calls others. */
static void a_frame_record_is_found_until_it_is_undone(void **state)
{
	RULES(true, {0xa9bd7bfd, "stp x29, x30, [sp, #-0x30]!", "sp+0 u u"},
	      {0x910003fd, "mov x29, sp", "sp+48 c-40 c-48"},
	      {0xa90153f3, "stp x19, x20, [sp, #0x10]", "sp+48 c-40 c-48"},
	      {0x94000400, "bl #0x1100c", "sp+48 c-40 c-48"},
	      {0xa94153f3, "ldp x19, x20, [sp, #0x10]", "sp+48 c-40 c-48"},
	      {0xa8c37bfd, "ldp x29, x30, [sp], #0x30", "sp+48 c-40 c-48"},
	      {0xd65f03c0, "ret", "sp+0 u u"});
}

/* The register is the caller's again where ways meet. */
static void a_way_without_a_frame_meets_one_with_it(void **state)
{
	RULES(true, {0xb4000080, "cbz x0, #0x10010", "sp+0 u u"},
	      {0xf81f0ffe, "str x30, [sp, #-0x10]!", "sp+0 u u"},
	      {0x94000400, "bl #0x11008", "sp+16 c-16 u"},
	      {0xf84107fe, "ldr x30, [sp], #0x10", "sp+16 c-16 u"},
	      {0xd65f03c0, "ret", "sp+0 u u"});
}

static void a_signed_address_is_marked_until_it_is_authenticated(void **state)
{
	RULES(true, {0xd503233f, "hint #0x19|paciasp", "sp+0 u u"},
	      {0xa9bf7bfd, "stp x29, x30, [sp, #-0x10]!", "sp+0 u u key A"},
	      {0x910003fd, "mov x29, sp", "sp+16 c-8 c-16 key A"},
	      {0x94000400, "bl #0x1100c", "sp+16 c-8 c-16 key A"},
	      {0xa8c17bfd, "ldp x29, x30, [sp], #0x10", "sp+16 c-8 c-16 key A"},
	      {0xd50323bf, "hint #0x1d|autiasp", "sp+0 u u key A"},
	      {0xd65f03c0, "ret", "sp+0 u u"});
}

static void the_other_key_is_told(void **state)
{
	RULES(true, {0xd503237f, "hint #0x1b|pacibsp", "sp+0 u u"},
	      {0xf81f0ffe, "str x30, [sp, #-0x10]!", "sp+0 u u key B"},
	      {0x94000400, "bl #0x11008", "sp+16 c-16 u key B"},
	      {0xf84107fe, "ldr x30, [sp], #0x10", "sp+16 c-16 u key B"},
	      {0xd65f0fff, NULL, "sp+0 u u key B"});
}

static void the_frame_pointer_has_what_the_stack_pointer_has_lost(void **state)
{
	RULES(true, {0xa9bf7bfd, "stp x29, x30, [sp, #-0x10]!", "sp+0 u u"},
	      {0x910003fd, "mov x29, sp", "sp+16 c-8 c-16"},
	      {0xcb2063ff, "sub sp, sp, x0", "fp+16 c-8 c-16"},
	      {0x94000400, "bl #0x1100c", "fp+16 c-8 c-16"},
	      {0x910003bf, "mov sp, x29", "fp+16 c-8 c-16"},
	      {0xa8c17bfd, "ldp x29, x30, [sp], #0x10", "fp+16 c-8 c-16"},
	      {0xd65f03c0, "ret", "sp+0 u u"});
}

/* A large frame, whose size takes two instructions. */
static void a_loop_that_probes_pages_ends_at_a_known_place(void **state)
{
	RULES(true, {0xd14043ec, "sub x12, sp, #0x10, lsl #12", "sp+0 u u"},
	      {0xd14007ff, "sub sp, sp, #1, lsl #12", "r12+65536 u u"},
	      {0xf90003ff, "str xzr, [sp]", "r12+65536 u u"},
	      {0xeb2c63ff, "cmp sp, x12", "r12+65536 u u"},
	      {0x54ffffa1, "b.ne #0x10004", "r12+65536 u u"},
	      {0xd2800210, "movz x16, #0x10|mov x16, #0x10", "sp+65536 u u"},
	      {0xf2a00030, "movk x16, #0x1, lsl #16", "sp+65536 u u"},
	      {0xd10043ff, "sub sp, sp, #0x10", "sp+65536 u u"},
	      {0x8b3063ff, "add sp, sp, x16", "sp+65552 u u"}, {0xd65f03c0, "ret", "sp+0 u u"});
}

static void a_return_address_may_be_kept_in_a_register(void **state)
{
	RULES(true, {0xaa1e03f3, "mov x19, x30", "sp+0 u u"},
	      {0x94000400, "bl #0x11004", "sp+0 u u"}, {0xd65f0260, "ret x19", "sp+0 r19+0 u"});
}

/* The last byte is none of it: it would lead to the start, with a frame. */
static void a_table_of_bytes_has_so_many_entries_as_its_index_may_choose(void **state)
{
	RULES(true, {0xa9bf7bfd, "stp x29, x30, [sp, #-0x10]!", "sp+0 u u"},
	      {0x7100081f, "cmp w0, #2", "sp+16 c-8 c-16"},
	      {0x54000168, "b.hi #0x10034", "sp+16 c-8 c-16"},
	      {0x10000181, "adr x1, #0x1003c", "sp+16 c-8 c-16"},
	      {0x38604821, "ldrb w1, [x1, w0, uxtw]", "sp+16 c-8 c-16"},
	      {0x10000060, "adr x0, #0x10020", "sp+16 c-8 c-16"},
	      {0x8b218801, "add x1, x0, w1, sxtb #2", "sp+16 c-8 c-16"},
	      {0xd61f0020, "br x1", "sp+16 c-8 c-16"},
	      {0x52800020, "movz w0, #1|mov w0, #1", "sp+16 c-8 c-16"},
	      {0x14000004, "b #0x10034", "sp+16 c-8 c-16"},
	      {0x52800040, "movz w0, #2|mov w0, #2", "sp+16 c-8 c-16"},
	      {0x14000002, "b #0x10034", "sp+16 c-8 c-16"},
	      {0x94000400, "bl #0x11030", "sp+16 c-8 c-16"},
	      {0xa8c17bfd, "ldp x29, x30, [sp], #0x10", "sp+16 c-8 c-16"},
	      {0xd65f03c0, "ret", "sp+0 u u"}, {0xf8040200, NULL, "-"});
}

static void a_register_that_calls_change_keeps_no_return_address(void **state)
{
	RULES(false, {0xaa1e03e9, "mov x9, x30", "sp+0 u u"},
	      {0x94000400, "bl #0x11004", "sp+0 u u"}, {0xd65f0120, "ret x9", "-"});
}

static void a_stack_pointer_that_is_not_put_back_contradicts(void **state)
{
	RULES(false, {0xd10043ff, "sub sp, sp, #0x10", "sp+0 u u"},
	      {0xd65f03c0, "ret", "sp+16 u u"});
}

static void a_return_address_that_a_call_has_changed_contradicts(void **state)
{
	RULES(false, {0xf81f0ffe, "str x30, [sp, #-0x10]!", "sp+0 u u"},
	      {0x94000400, "bl #0x11004", "sp+16 c-16 u"}, {0xd65f03c0, "ret", "sp+16 c-16 u"});
}

/* One of two ways has taken an unknown size. */
static void an_unknown_stack_pointer_leaves_the_frame_pointer(void **state)
{
	RULES(true, {0xa9bf7bfd, "stp x29, x30, [sp, #-0x10]!", "sp+0 u u"},
	      {0x910003fd, "mov x29, sp", "sp+16 c-8 c-16"},
	      {0xb4000041, "cbz x1, #0x10010", "fp+16 c-8 c-16"},
	      {0xcb2063ff, "sub sp, sp, x0", "fp+16 c-8 c-16"},
	      {0x94000400, "bl #0x11010", "fp+16 c-8 c-16"},
	      {0x910003bf, "mov sp, x29", "fp+16 c-8 c-16"},
	      {0xa8c17bfd, "ldp x29, x30, [sp], #0x10", "fp+16 c-8 c-16"},
	      {0xd65f03c0, "ret", "sp+0 u u"});
}

static void a_signed_address_is_none_to_return_to(void **state)
{
	RULES(false, {0xd503233f, "hint #0x19|paciasp", "sp+0 u u"},
	      {0xd65f03c0, "ret", "sp+0 u u key A"});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_record_is_found_until_it_is_undone),
		cmocka_unit_test(a_way_without_a_frame_meets_one_with_it),
		cmocka_unit_test(a_signed_address_is_marked_until_it_is_authenticated),
		cmocka_unit_test(the_other_key_is_told),
		cmocka_unit_test(the_frame_pointer_has_what_the_stack_pointer_has_lost),
		cmocka_unit_test(a_loop_that_probes_pages_ends_at_a_known_place),
		cmocka_unit_test(a_return_address_may_be_kept_in_a_register),
		cmocka_unit_test(a_table_of_bytes_has_so_many_entries_as_its_index_may_choose),
		cmocka_unit_test(an_unknown_stack_pointer_leaves_the_frame_pointer),
		cmocka_unit_test(a_signed_address_is_none_to_return_to),
		cmocka_unit_test(a_register_that_calls_change_keeps_no_return_address),
		cmocka_unit_test(a_stack_pointer_that_is_not_put_back_contradicts),
		cmocka_unit_test(a_return_address_that_a_call_has_changed_contradicts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
