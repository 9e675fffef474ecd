/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The meaning of one row's bytes, for each architecture and version.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <bobbin/sframe.h>

#include "sframe_bytes.h"

#define FUNCTION 0x1000
#define AMD64_SP 7
#define AMD64_FP 6

/* A section with one function of one row. */
struct row_case {
	uint8_t version, abi, info, info2;
	int8_t fixed_fp, fixed_ra;
	uint8_t rows[16];
	uint8_t rows_size;
};

#define AMD64_V3 .version = 3, .abi = AMD64, .fixed_ra = -8
#define FLEX_V3 AMD64_V3, .info2 = FLEX

/* @num_funcs: 1: the row ends the section; 2: another function's rows follow */
static int rule_of(const struct row_case *c, size_t num_funcs, struct bobbin_error *error,
		   struct bobbin_rule *rule)
{
	struct section_spec spec = {
		.version = c->version,
		.abi = c->abi,
		.flags = SORTED,
		.fixed_fp = c->fixed_fp,
		.fixed_ra = c->fixed_ra,
		.num_funcs = num_funcs,
		.funcs = {{.start = FUNCTION,
			   .size = 32,
			   .num_fres = 1,
			   .info = c->info,
			   .info2 = c->info2,
			   .rows_size = c->rows_size},
			  {.start = FUNCTION + 64, .size = 32, .rows_size = 16}},
	};
	struct bobbin_sframe_view view;
	struct bobbin_row row;
	struct built s;
	int status;

	memcpy(spec.funcs[0].rows, c->rows, c->rows_size);
	s = build(&spec);
	assert_int_equal(bobbin_sframe_view(s.data, s.size, 0, NULL, &view), 0);
	status = bobbin_sframe_lookup(&view, FUNCTION + 31, error, &row);
	if (!status) {
		assert_int_equal(row.start, FUNCTION);
		assert_int_equal(row.end, FUNCTION + 32);
		*rule = row.rule;
	}
	free(s.data);
	return status;
}

static void place_is(struct bobbin_place place, enum bobbin_how how, uint8_t reg, int32_t off)
{
	assert_int_equal(place.how, how);
	assert_int_equal(place.reg, reg);
	assert_int_equal(place.off, off);
}

/* Rows at the end of the section are read in another way than others. */
static struct bobbin_rule good(struct row_case c)
{
	struct bobbin_rule rule = {.flags = 0xff}, last = {.flags = 0xff};

	assert_int_equal(rule_of(&c, 2, NULL, &rule), 0);
	assert_int_equal(rule_of(&c, 1, NULL, &last), 0);
	place_is(last.cfa, rule.cfa.how, rule.cfa.reg, rule.cfa.off);
	place_is(last.ra, rule.ra.how, rule.ra.reg, rule.ra.off);
	place_is(last.fp, rule.fp.how, rule.fp.reg, rule.fp.off);
	assert_int_equal(last.flags, rule.flags);
	return rule;
}

static void refused_where(struct row_case c, size_t num_funcs)
{
	struct bobbin_error error = {0};
	struct bobbin_rule rule;

	assert_int_equal(rule_of(&c, num_funcs, &error, &rule), -EBADMSG);
	assert_int_equal(error.reason, BOBBIN_REASON_SFRAME_FRE);
}

static void refused(struct row_case c)
{
	refused_where(c, 1);
	refused_where(c, 2);
}

static void row_of_amd64_has_a_cfa_and_the_fixed_return_address(void **state)
{
	for (uint8_t version = 1; version <= 3; version++) {
		struct bobbin_rule rule = good((struct row_case){
			.version = version, .abi = AMD64, .fixed_ra = -8, ROWS(0, 3, 8)});

		place_is(rule.cfa, BOBBIN_HOW_AT_REG, AMD64_SP, 8);
		place_is(rule.ra, BOBBIN_HOW_IN_CFA_MEM, 0, -8);
		place_is(rule.fp, BOBBIN_HOW_SAME, 0, 0);
		assert_int_equal(rule.flags, 0);
		assert_int_equal(rule.index, BOBBIN_NO_INDEX);
	}
}

static void second_word_of_amd64_is_the_frame_pointer(void **state)
{
	struct bobbin_rule rule = good((struct row_case){AMD64_V3, ROWS(0, 4, 0x10, 0xf0)});

	place_is(rule.cfa, BOBBIN_HOW_AT_REG, AMD64_FP, 16);
	place_is(rule.ra, BOBBIN_HOW_IN_CFA_MEM, 0, -8);
	place_is(rule.fp, BOBBIN_HOW_IN_CFA_MEM, 0, -16);
}

static void third_word_of_amd64_has_no_meaning(void **state)
{
	refused((struct row_case){AMD64_V3, ROWS(0, 7, 0x10, 0xf0, 0xe8)});
}

static void words_of_two_and_four_bytes_are_signed(void **state)
{
	place_is(good((struct row_case){AMD64_V3, ROWS(0, 0x25, 0, 0x10, 0x00, 0xf0)}).fp,
		 BOBBIN_HOW_IN_CFA_MEM, 0, -4096);
	place_is(good((struct row_case){AMD64_V3, ROWS(0, 0x43, 0x80, 0x11, 0x01, 0)}).cfa,
		 BOBBIN_HOW_AT_REG, AMD64_SP, 70016);
	place_is(good((struct row_case){AMD64_V3, ROWS(0, 3, 0xf8)}).cfa, BOBBIN_HOW_AT_REG,
		 AMD64_SP, -8);
}

static void starts_of_two_and_four_bytes_are_read(void **state)
{
	place_is(good((struct row_case){AMD64_V3, .info = ADDR2, ROWS(0, 0, 3, 24)}).cfa,
		 BOBBIN_HOW_AT_REG, AMD64_SP, 24);
	place_is(good((struct row_case){AMD64_V3, .info = ADDR4, ROWS(0, 0, 0, 0, 3, 32)}).cfa,
		 BOBBIN_HOW_AT_REG, AMD64_SP, 32);
}

static void unknown_word_size_is_refused(void **state)
{
	refused((struct row_case){AMD64_V3, ROWS(0, 0x63, 8)});
}

static void more_than_six_words_are_refused(void **state)
{
	refused((struct row_case){AMD64_V3, ROWS(0, 0x0f, 8, 1, 2, 3, 4, 5, 6, 7)});
}

static void row_that_leaves_the_section_is_refused(void **state)
{
	refused_where((struct row_case){AMD64_V3, ROWS(0)}, 1);
	refused_where((struct row_case){AMD64_V3, ROWS(0, 3)}, 1);
	refused_where((struct row_case){AMD64_V3, ROWS(0, 0x43, 1, 2, 3)}, 1);
}

static void row_without_words_is_the_outermost_frame(void **state)
{
	for (uint8_t version = 1; version <= 3; version++) {
		struct bobbin_rule rule = good((struct row_case){
			.version = version, .abi = AMD64, .fixed_ra = -8, ROWS(0, 0)});

		place_is(rule.cfa, BOBBIN_HOW_AT_REG, AMD64_SP, 0);
		place_is(rule.ra, BOBBIN_HOW_UNDEFINED, 0, 0);
		place_is(rule.fp, BOBBIN_HOW_SAME, 0, 0);
	}
}

static void fixed_offsets_of_the_header_hold_where_rows_are_silent(void **state)
{
	struct bobbin_rule rule = good((struct row_case){
		.version = 3, .abi = AARCH64_LE, .fixed_ra = -8, .fixed_fp = -16, ROWS(0, 3, 32)});

	place_is(rule.ra, BOBBIN_HOW_IN_CFA_MEM, 0, -8);
	place_is(rule.fp, BOBBIN_HOW_IN_CFA_MEM, 0, -16);
	refused((struct row_case){.version = 3,
				  .abi = AARCH64_LE,
				  .fixed_ra = -8,
				  .fixed_fp = -16,
				  ROWS(0, 5, 32, 0xf8)});
	rule = good((struct row_case){
		.version = 3, .abi = AARCH64_LE, .fixed_fp = -16, ROWS(0, 5, 32, 0xe8)});
	place_is(rule.ra, BOBBIN_HOW_IN_CFA_MEM, 0, -24);
	place_is(rule.fp, BOBBIN_HOW_IN_CFA_MEM, 0, -16);
}

static void leaf_row_of_aarch64_keeps_the_return_address_in_its_register(void **state)
{
	struct bobbin_rule rule =
		good((struct row_case){.version = 3, .abi = AARCH64_LE, ROWS(0, 3, 0)});

	place_is(rule.cfa, BOBBIN_HOW_AT_REG, 31, 0);
	place_is(rule.ra, BOBBIN_HOW_SAME, 0, 0);
	place_is(rule.fp, BOBBIN_HOW_SAME, 0, 0);
}

static void frame_record_of_aarch64_gives_return_address_then_frame_pointer(void **state)
{
	struct bobbin_rule rule = good(
		(struct row_case){.version = 3, .abi = AARCH64_LE, ROWS(0, 7, 0x20, 0xe8, 0xe0)});

	place_is(rule.cfa, BOBBIN_HOW_AT_REG, 31, 32);
	place_is(rule.ra, BOBBIN_HOW_IN_CFA_MEM, 0, -24);
	place_is(rule.fp, BOBBIN_HOW_IN_CFA_MEM, 0, -32);
	rule = good((struct row_case){.version = 2, .abi = AARCH64_LE, ROWS(0, 4, 0x20, 0xe8)});
	place_is(rule.cfa, BOBBIN_HOW_AT_REG, 29, 32);
	place_is(rule.ra, BOBBIN_HOW_IN_CFA_MEM, 0, -24);
	place_is(rule.fp, BOBBIN_HOW_SAME, 0, 0);
}

static void zero_is_an_offset_on_aarch64_not_padding(void **state)
{
	place_is(good((struct row_case){.version = 3, .abi = AARCH64_LE, ROWS(0, 5, 16, 0)}).ra,
		 BOBBIN_HOW_IN_CFA_MEM, 0, 0);
}

static void big_endian_words_are_read(void **state)
{
	struct bobbin_rule rule =
		good((struct row_case){.version = 3,
				       .abi = AARCH64_BE,
				       .info = ADDR2,
				       ROWS(0, 0, 0x27, 0x01, 0x90, 0xfe, 0x78, 0xfe, 0x70)});

	place_is(rule.cfa, BOBBIN_HOW_AT_REG, 31, 400);
	place_is(rule.ra, BOBBIN_HOW_IN_CFA_MEM, 0, -392);
	place_is(rule.fp, BOBBIN_HOW_IN_CFA_MEM, 0, -400);
}

static void signed_return_address_names_its_key(void **state)
{
	struct row_case c = {.version = 3, .abi = AARCH64_LE, ROWS(0, 0x83, 0)};

	assert_int_equal(good(c).flags, BOBBIN_RULE_MANGLED);
	c.info = KEY_B;
	assert_int_equal(good(c).flags, BOBBIN_RULE_MANGLED | BOBBIN_RULE_KEY_B);
	c.rows[1] = 3;
	assert_int_equal(good(c).flags, 0);
	/* other architectures sign nothing */
	c.abi = AMD64;
	c.rows[1] = 0x83;
	assert_int_equal(good(c).flags, 0);
}

static void signal_frames_are_marked_since_version_three(void **state)
{
	struct row_case c = {AMD64_V3, .info = SIGNAL, ROWS(0, 3, 8)};

	assert_int_equal(good(c).flags, BOBBIN_RULE_SIGNAL);
	c.version = 2;
	assert_int_equal(good(c).flags, 0);
}

static void cfa_offsets_of_s390x_are_scaled(void **state)
{
	struct bobbin_rule rule =
		good((struct row_case){.version = 3, .abi = S390X, ROWS(0, 7, 0x15, 0xd0, 0xb8)});

	place_is(rule.cfa, BOBBIN_HOW_AT_REG, 15, 328);
	place_is(rule.ra, BOBBIN_HOW_IN_CFA_MEM, 0, -48);
	place_is(rule.fp, BOBBIN_HOW_IN_CFA_MEM, 0, -72);
	place_is(good((struct row_case){.version = 2, .abi = S390X, ROWS(0, 2, 0xff)}).cfa,
		 BOBBIN_HOW_AT_REG, 11, 152);
}

static void cfa_offset_of_s390x_that_overflows_is_refused(void **state)
{
	refused((struct row_case){.version = 3, .abi = S390X, ROWS(0, 0x43, 0x10, 0, 0, 0)});
	refused((struct row_case){
		.version = 3, .abi = S390X, ROWS(0, 0x43, 0x0f, 0xff, 0xff, 0xff)});
}

static void return_address_of_s390x_may_be_padding(void **state)
{
	struct bobbin_rule rule =
		good((struct row_case){.version = 3, .abi = S390X, ROWS(0, 7, 0, 0, 0xb8)});

	place_is(rule.cfa, BOBBIN_HOW_AT_REG, 15, 160);
	place_is(rule.ra, BOBBIN_HOW_SAME, 0, 0);
	place_is(rule.fp, BOBBIN_HOW_IN_CFA_MEM, 0, -72);
}

static void odd_words_of_s390x_name_registers_before_version_three(void **state)
{
	/* r14 in f0 (DWARF 16), r11 in f2 (DWARF 17) */
	struct row_case c = {.version = 2, .abi = S390X, ROWS(0, 7, 0, 33, 35)};
	struct bobbin_rule rule = good(c);

	place_is(rule.ra, BOBBIN_HOW_AT_REG, 16, 0);
	place_is(rule.fp, BOBBIN_HOW_AT_REG, 17, 0);
	c.version = 3;
	rule = good(c);
	place_is(rule.ra, BOBBIN_HOW_IN_CFA_MEM, 0, 33);
	place_is(rule.fp, BOBBIN_HOW_IN_CFA_MEM, 0, 35);
}

static void odd_words_of_s390x_with_unknown_registers_are_refused(void **state)
{
	refused((struct row_case){.version = 2, .abi = S390X, ROWS(0, 5, 0, 65)});
	refused((struct row_case){.version = 2, .abi = S390X, ROWS(0, 5, 0, 0xd1)});
	refused((struct row_case){.version = 2, .abi = S390X, ROWS(0, 7, 0, 0xd0, 65)});
}

static void flexible_row_names_the_base_of_the_cfa(void **state)
{
	struct bobbin_rule rule = good((struct row_case){FLEX_V3, ROWS(0, 4, 0x51, 0)});

	place_is(rule.cfa, BOBBIN_HOW_AT_REG, 10, 0);
	place_is(rule.ra, BOBBIN_HOW_IN_CFA_MEM, 0, -8);
	place_is(rule.fp, BOBBIN_HOW_SAME, 0, 0);
}

static void flexible_row_of_a_realigned_stack_is_read(void **state)
{
	struct bobbin_rule rule =
		good((struct row_case){FLEX_V3, ROWS(0, 0x0a, 0x33, 0xf8, 0, 0x33, 0)});

	place_is(rule.cfa, BOBBIN_HOW_IN_REG_MEM, AMD64_FP, -8);
	place_is(rule.ra, BOBBIN_HOW_IN_CFA_MEM, 0, -8);
	place_is(rule.fp, BOBBIN_HOW_IN_REG_MEM, AMD64_FP, 0);
	assert_int_equal(rule.plus, 0);
	assert_int_equal(rule.index, BOBBIN_NO_INDEX);
}

static void flexible_row_finds_the_return_address_anywhere(void **state)
{
	place_is(good((struct row_case){FLEX_V3, ROWS(0, 8, 0x39, 8, 0x11, 0)}).ra,
		 BOBBIN_HOW_AT_REG, 2, 0);
	place_is(good((struct row_case){FLEX_V3, ROWS(0, 8, 0x39, 8, 2, 0xe8)}).ra,
		 BOBBIN_HOW_IN_CFA_MEM, 0, -24);
	place_is(good((struct row_case){FLEX_V3, ROWS(0, 8, 0x39, 8, 0x13, 0x10)}).ra,
		 BOBBIN_HOW_IN_REG_MEM, 2, 16);
}

static void return_address_may_be_relative_to_the_pc(void **state)
{
	place_is(good((struct row_case){FLEX_V3, ROWS(0, 0x28, 0x39, 0, 8, 0, 0x81, 0, 0xe5, 0xff)})
			 .ra,
		 BOBBIN_HOW_AT_PC, 0, -27);
	place_is(good((struct row_case){.version = 3,
					.abi = AARCH64_LE,
					.info2 = FLEX,
					ROWS(0, 0x28, 0xf9, 0, 8, 0, 1, 1, 0xe5, 0xff)})
			 .ra,
		 BOBBIN_HOW_AT_PC, 0, -27);
}

static void flexible_row_finds_the_frame_pointer_anywhere(void **state)
{
	struct bobbin_rule rule =
		good((struct row_case){FLEX_V3, ROWS(0, 0x0c, 0x39, 8, 0x11, 0, 0x19, 4)});

	place_is(rule.ra, BOBBIN_HOW_AT_REG, 2, 0);
	place_is(rule.fp, BOBBIN_HOW_AT_REG, 3, 4);
}

static void flexible_row_without_register_counts_from_the_cfa(void **state)
{
	place_is(good((struct row_case){FLEX_V3, ROWS(0, 0x0a, 0x39, 8, 0, 2, 0xf0)}).fp,
		 BOBBIN_HOW_IN_CFA_MEM, 0, -16);
	place_is(good((struct row_case){FLEX_V3,
					ROWS(0, 0x2a, 0x39, 0, 8, 0, 0, 0, 2, 0, 0xf0, 0xff)})
			 .fp,
		 BOBBIN_HOW_IN_CFA_MEM, 0, -16);
	place_is(good((struct row_case){FLEX_V3, ROWS(0, 0x0a, 0x39, 8, 0, 8, 0xf0)}).fp,
		 BOBBIN_HOW_AT_CFA, 0, -16);
}

static void flexible_row_of_s390x_scales_the_cfa_alone(void **state)
{
	struct bobbin_rule rule = good((struct row_case){.version = 3,
							 .abi = S390X,
							 .info2 = FLEX,
							 ROWS(0, 0x0c, 0x79, 1, 0x91, 0, 0x8b, 8)});

	place_is(rule.cfa, BOBBIN_HOW_AT_REG, 15, 168);
	place_is(rule.ra, BOBBIN_HOW_AT_REG, 18, 0);
	place_is(rule.fp, BOBBIN_HOW_IN_REG_MEM, 17, 8);
}

static void silent_flexible_row_of_s390x_keeps_the_registers(void **state)
{
	struct bobbin_rule rule = good(
		(struct row_case){.version = 3, .abi = S390X, .info2 = FLEX, ROWS(0, 4, 9, 0)});

	place_is(rule.cfa, BOBBIN_HOW_AT_REG, 1, 160);
	place_is(rule.ra, BOBBIN_HOW_SAME, 0, 0);
	place_is(rule.fp, BOBBIN_HOW_SAME, 0, 0);
}

static void flexible_row_without_words_is_the_outermost_frame(void **state)
{
	assert_int_equal(good((struct row_case){FLEX_V3, ROWS(0, 0)}).ra.how, BOBBIN_HOW_UNDEFINED);
}

static void flexible_rows_of_other_lengths_are_refused(void **state)
{
	refused((struct row_case){FLEX_V3, ROWS(0, 2, 0x39)});
	refused((struct row_case){FLEX_V3, ROWS(0, 6, 0x39, 8, 0x11)});
	refused((struct row_case){FLEX_V3, ROWS(0, 8, 0x39, 8, 0, 0x11)});
	refused((struct row_case){FLEX_V3, ROWS(0, 0x0a, 0x39, 8, 0x11, 0, 0x11)});
	refused((struct row_case){FLEX_V3, ROWS(0, 0x0c, 0x39, 8, 0, 0x11, 0, 0x11)});
}

static void flexible_row_may_pad_for_any_value_but_the_cfa(void **state)
{
	struct bobbin_rule rule = good((struct row_case){FLEX_V3, ROWS(0, 6, 0x39, 8, 0)});

	place_is(rule.ra, BOBBIN_HOW_IN_CFA_MEM, 0, -8);
	place_is(rule.fp, BOBBIN_HOW_SAME, 0, 0);
	rule = good((struct row_case){FLEX_V3, ROWS(0, 8, 0x39, 8, 0, 0)});
	place_is(rule.ra, BOBBIN_HOW_IN_CFA_MEM, 0, -8);
	place_is(rule.fp, BOBBIN_HOW_SAME, 0, 0);
	rule = good((struct row_case){FLEX_V3, ROWS(0, 0x2a, 0x39, 0, 8, 0, 0x11, 0, 0, 0, 0, 0)});
	place_is(rule.ra, BOBBIN_HOW_AT_REG, 2, 0);
	place_is(rule.fp, BOBBIN_HOW_SAME, 0, 0);
	/* after all values, too */
	rule = good((struct row_case){FLEX_V3, ROWS(0, 0x0c, 0x39, 8, 0, 2, 0xf0, 0)});
	place_is(rule.fp, BOBBIN_HOW_IN_CFA_MEM, 0, -16);
	rule = good((struct row_case){
		.version = 3, .abi = AARCH64_LE, .info2 = FLEX, ROWS(0, 8, 0xf9, 16, 0, 0)});
	place_is(rule.ra, BOBBIN_HOW_SAME, 0, 0);
	place_is(rule.fp, BOBBIN_HOW_SAME, 0, 0);
}

static void what_follows_padding_is_a_value_or_padding(void **state)
{
	refused((struct row_case){FLEX_V3, ROWS(0, 0x0a, 0x39, 8, 0, 0, 8)});
	refused((struct row_case){FLEX_V3, ROWS(0, 0x0c, 0x39, 8, 0, 2, 0xf0, 1)});
	refused((struct row_case){FLEX_V3, ROWS(0, 6, 0x39, 8, 2)});
}

static void flexible_cfa_needs_a_register(void **state)
{
	refused((struct row_case){FLEX_V3, ROWS(0, 4, 0, 8)});
	refused((struct row_case){FLEX_V3, ROWS(0, 4, 2, 8)});
}

static void unused_bit_of_a_control_word_is_refused(void **state)
{
	refused((struct row_case){FLEX_V3, ROWS(0, 4, 0x3d, 8)});
	refused((struct row_case){FLEX_V3, ROWS(0, 8, 0x39, 8, 0x15, 0)});
	refused((struct row_case){FLEX_V3, ROWS(0, 0x0a, 0x39, 8, 0, 0x35, 0)});
}

static void register_that_no_rule_can_name_is_refused(void **state)
{
	/* 31 is the last */
	place_is(good((struct row_case){FLEX_V3, ROWS(0, 4, 0xf9, 8)}).cfa, BOBBIN_HOW_AT_REG, 31,
		 8);
	refused((struct row_case){FLEX_V3, ROWS(0, 0x24, 0x01, 0x01, 8, 0)});
	/* gas writes this for an expression that it misunderstands */
	refused((struct row_case){FLEX_V3, ROWS(0, 0x44, 0xf9, 0xff, 0xff, 0xff, 8, 0, 0, 0)});
}

static void return_address_that_is_no_code_address_is_refused(void **state)
{
	refused((struct row_case){FLEX_V3, ROWS(0, 8, 0x39, 8, 0x80, 8)});
	refused((struct row_case){FLEX_V3, ROWS(0, 8, 0x39, 8, 8, 8)});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_of_amd64_has_a_cfa_and_the_fixed_return_address),
		cmocka_unit_test(second_word_of_amd64_is_the_frame_pointer),
		cmocka_unit_test(third_word_of_amd64_has_no_meaning),
		cmocka_unit_test(words_of_two_and_four_bytes_are_signed),
		cmocka_unit_test(starts_of_two_and_four_bytes_are_read),
		cmocka_unit_test(unknown_word_size_is_refused),
		cmocka_unit_test(more_than_six_words_are_refused),
		cmocka_unit_test(row_that_leaves_the_section_is_refused),
		cmocka_unit_test(row_without_words_is_the_outermost_frame),
		cmocka_unit_test(fixed_offsets_of_the_header_hold_where_rows_are_silent),
		cmocka_unit_test(leaf_row_of_aarch64_keeps_the_return_address_in_its_register),
		cmocka_unit_test(frame_record_of_aarch64_gives_return_address_then_frame_pointer),
		cmocka_unit_test(zero_is_an_offset_on_aarch64_not_padding),
		cmocka_unit_test(big_endian_words_are_read),
		cmocka_unit_test(signed_return_address_names_its_key),
		cmocka_unit_test(signal_frames_are_marked_since_version_three),
		cmocka_unit_test(cfa_offsets_of_s390x_are_scaled),
		cmocka_unit_test(cfa_offset_of_s390x_that_overflows_is_refused),
		cmocka_unit_test(return_address_of_s390x_may_be_padding),
		cmocka_unit_test(odd_words_of_s390x_name_registers_before_version_three),
		cmocka_unit_test(odd_words_of_s390x_with_unknown_registers_are_refused),
		cmocka_unit_test(flexible_row_names_the_base_of_the_cfa),
		cmocka_unit_test(flexible_row_of_a_realigned_stack_is_read),
		cmocka_unit_test(flexible_row_finds_the_return_address_anywhere),
		cmocka_unit_test(return_address_may_be_relative_to_the_pc),
		cmocka_unit_test(flexible_row_finds_the_frame_pointer_anywhere),
		cmocka_unit_test(flexible_row_without_register_counts_from_the_cfa),
		cmocka_unit_test(flexible_row_of_s390x_scales_the_cfa_alone),
		cmocka_unit_test(silent_flexible_row_of_s390x_keeps_the_registers),
		cmocka_unit_test(flexible_row_without_words_is_the_outermost_frame),
		cmocka_unit_test(flexible_rows_of_other_lengths_are_refused),
		cmocka_unit_test(flexible_row_may_pad_for_any_value_but_the_cfa),
		cmocka_unit_test(what_follows_padding_is_a_value_or_padding),
		cmocka_unit_test(flexible_cfa_needs_a_register),
		cmocka_unit_test(unused_bit_of_a_control_word_is_refused),
		cmocka_unit_test(register_that_no_rule_can_name_is_refused),
		cmocka_unit_test(return_address_that_is_no_code_address_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
