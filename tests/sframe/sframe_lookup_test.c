/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The row for a PC.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <bobbin/sframe.h>

#include "sframe_bytes.h"

#define ADDR 0x400000

struct section {
	struct built built;
	struct bobbin_sframe_view view;
};

static struct section open_section(const struct section_spec *spec)
{
	struct section s = {.built = build(spec)};

	assert_int_equal(bobbin_sframe_view(s.built.data, s.built.size, spec->addr, NULL, &s.view),
			 0);
	return s;
}

static void close_section(struct section *s)
{
	free(s->built.data);
}

static void finds(const struct section *s, uint64_t pc, uint64_t start, uint64_t end,
		  int32_t cfa_off)
{
	struct bobbin_row row;

	assert_int_equal(bobbin_sframe_lookup(&s->view, pc, NULL, &row), 0);
	assert_int_equal(row.start, start);
	assert_int_equal(row.end, end);
	assert_int_equal(row.rule.cfa.off, cfa_off);
}

static void fails(const struct section *s, uint64_t pc, int status, enum bobbin_reason reason)
{
	struct bobbin_error error = {0};
	struct bobbin_row row = {.start = 4711};

	assert_int_equal(bobbin_sframe_lookup(&s->view, pc, &error, &row), status);
	assert_int_equal(error.reason, reason);
	assert_int_equal(row.start, 4711);
	assert_int_equal(bobbin_sframe_lookup(&s->view, pc, NULL, &row), status);
}

/* push %rbp; mov %rsp, %rbp; pop %rbp; ret */
#define PUSH_POP_ROWS \
	.num_fres = 4, ROWS(0, 3, 8, 1, 5, 0x10, 0xf0, 4, 4, 0x10, 0xf0, 5, 5, 8, 0xf0)

static struct section_spec three_functions(uint8_t version, uint8_t flags)
{
	return (struct section_spec){
		.version = version,
		.flags = flags,
		.abi = AMD64,
		.fixed_ra = -8,
		.addr = ADDR,
		.num_funcs = 3,
		.funcs = {{.start = 0x3f1000, .size = 6, PUSH_POP_ROWS},
			  {.start = 0x3f1010, .size = 16, .num_fres = 1, ROWS(0, 3, 24)},
			  {.start = 0x401000,
			   .size = 0x200,
			   .info = ADDR2,
			   .num_fres = 2,
			   ROWS(0, 0, 3, 8, 0x34, 0x01, 3, 40)}},
	};
}

static void three_functions_are_found(const struct section_spec *spec)
{
	struct section s = open_section(spec);
	struct bobbin_row row;

	fails(&s, 0, -ENOENT, BOBBIN_REASON_NO_FUNCTION);
	fails(&s, 0x3f0fff, -ENOENT, BOBBIN_REASON_NO_FUNCTION);
	finds(&s, 0x3f1000, 0x3f1000, 0x3f1001, 8);
	finds(&s, 0x3f1001, 0x3f1001, 0x3f1004, 16);
	finds(&s, 0x3f1003, 0x3f1001, 0x3f1004, 16);
	finds(&s, 0x3f1004, 0x3f1004, 0x3f1005, 16);
	finds(&s, 0x3f1005, 0x3f1005, 0x3f1006, 8);
	fails(&s, 0x3f1006, -ENOENT, BOBBIN_REASON_NO_FUNCTION);
	fails(&s, 0x3f100f, -ENOENT, BOBBIN_REASON_NO_FUNCTION);
	finds(&s, 0x3f1010, 0x3f1010, 0x3f1020, 24);
	finds(&s, 0x3f101f, 0x3f1010, 0x3f1020, 24);
	fails(&s, 0x3f1020, -ENOENT, BOBBIN_REASON_NO_FUNCTION);
	finds(&s, 0x401133, 0x401000, 0x401134, 8);
	finds(&s, 0x401134, 0x401134, 0x401200, 40);
	finds(&s, 0x4011ff, 0x401134, 0x401200, 40);
	fails(&s, 0x401200, -ENOENT, BOBBIN_REASON_NO_FUNCTION);
	fails(&s, UINT64_MAX, -ENOENT, BOBBIN_REASON_NO_FUNCTION);
	assert_int_equal(bobbin_sframe_lookup(&s.view, 0x4011ff, NULL, &row), 0);
	assert_int_equal(row.function, 0x401000);
	close_section(&s);
}

static void row_is_found_up_to_its_last_byte_in_each_version(void **state)
{
	for (uint8_t version = 1; version <= 3; version++) {
		struct section_spec spec = three_functions(version, SORTED);

		three_functions_are_found(&spec);
	}
}

static void starts_may_be_relative_to_their_field(void **state)
{
	for (uint8_t version = 2; version <= 3; version++) {
		struct section_spec spec = three_functions(version, SORTED | PCREL);

		three_functions_are_found(&spec);
	}
}

static void unsorted_functions_are_found(void **state)
{
	for (uint8_t version = 1; version <= 3; version++) {
		struct section_spec spec = three_functions(version, 0);
		struct func_spec first = spec.funcs[0];

		spec.funcs[0] = spec.funcs[2];
		spec.funcs[2] = first;
		three_functions_are_found(&spec);
	}
}

static void of_overlapping_unsorted_functions_the_last_start_counts(void **state)
{
	struct section_spec spec = three_functions(3, PCREL);
	struct section s;

	spec.funcs[0] =
		(struct func_spec){.start = 0x1010, .size = 16, .num_fres = 1, ROWS(0, 3, 16)};
	spec.funcs[1] =
		(struct func_spec){.start = 0x1000, .size = 64, .num_fres = 1, ROWS(0, 3, 8)};
	spec.funcs[2] =
		(struct func_spec){.start = 0x1010, .size = 32, .num_fres = 1, ROWS(0, 3, 24)};
	s = open_section(&spec);
	finds(&s, 0x100f, 0x1000, 0x1040, 8);
	finds(&s, 0x1010, 0x1010, 0x1030, 24);
	finds(&s, 0x1030, 0x1000, 0x1040, 8);
	close_section(&s);
}

static void each_number_of_functions_is_searched(void **state)
{
	for (size_t num = 1; num <= 8; num++) {
		struct section_spec spec = three_functions(3, SORTED | PCREL);
		struct section s;

		spec.num_funcs = num;
		for (size_t i = 0; i < num; i++)
			spec.funcs[i] = (struct func_spec){
				.start = 0x1000 + 16 * i, .size = 12, .num_fres = 1, ROWS(0, 3, 8)};
		s = open_section(&spec);
		for (size_t i = 0; i < num; i++) {
			uint64_t start = 0x1000 + 16 * i;

			finds(&s, start, start, start + 12, 8);
			finds(&s, start + 11, start, start + 12, 8);
			fails(&s, start + 12, -ENOENT, BOBBIN_REASON_NO_FUNCTION);
		}
		fails(&s, 0xfff, -ENOENT, BOBBIN_REASON_NO_FUNCTION);
		close_section(&s);
	}
}

static void functions_beyond_two_gibibytes_are_found_in_version_three(void **state)
{
	struct section_spec spec = three_functions(3, SORTED | PCREL);
	struct section s;

	spec.num_funcs = 2;
	spec.funcs[0].start = 0x1000;
	spec.funcs[1].start = 0x7fff00000000;
	spec.addr = 0x700000000000;
	s = open_section(&spec);
	finds(&s, 0x1000, 0x1000, 0x1001, 8);
	finds(&s, 0x7fff0000000f, 0x7fff00000000, 0x7fff00000010, 24);
	close_section(&s);
}

static void empty_functions_do_not_hide_others(void **state)
{
	struct section_spec spec = three_functions(3, SORTED | PCREL);
	struct section s;

	spec.num_funcs = 5;
	for (size_t i = 0; i < 5; i++)
		spec.funcs[i] = (struct func_spec){
			.start = 0x1000, .size = 0, .num_fres = 1, ROWS(0, 3, 8)};
	spec.funcs[1].size = 16;
	spec.funcs[4].start = 0x1008;
	s = open_section(&spec);
	finds(&s, 0x1000, 0x1000, 0x1010, 8);
	finds(&s, 0x1007, 0x1000, 0x1010, 8);
	finds(&s, 0x100f, 0x1000, 0x1010, 8);
	fails(&s, 0x1010, -ENOENT, BOBBIN_REASON_NO_FUNCTION);
	close_section(&s);
}

static void folded_functions_of_different_sizes_are_both_found(void **state)
{
	struct section_spec spec = three_functions(3, SORTED | PCREL);
	struct section s;

	spec.num_funcs = 2;
	spec.funcs[0] =
		(struct func_spec){.start = 0x1000, .size = 32, .num_fres = 1, ROWS(0, 3, 8)};
	spec.funcs[1] =
		(struct func_spec){.start = 0x1000, .size = 16, .num_fres = 1, ROWS(0, 3, 16)};
	s = open_section(&spec);
	finds(&s, 0x100f, 0x1000, 0x1010, 16);
	finds(&s, 0x1010, 0x1000, 0x1020, 8);
	close_section(&s);
}

/* lazy PLT entries: push at 6..10, 16 bytes each */
static struct section_spec plt(uint8_t version, uint8_t rep_size)
{
	return (struct section_spec){
		.version = version,
		.flags = SORTED,
		.abi = AMD64,
		.fixed_ra = -8,
		.addr = ADDR,
		.num_funcs = 1,
		.funcs = {{.start = 0x1008,
			   .size = 40,
			   .info = PCMASK,
			   .rep_size = rep_size,
			   .num_fres = 2,
			   ROWS(0, 3, 8, 11, 3, 16)}},
	};
}

static void rows_of_a_plt_repeat_in_each_block(void **state)
{
	for (uint8_t version = 1; version <= 3; version++) {
		struct section_spec spec = plt(version, version == 1 ? 0 : 16);
		struct section s = open_section(&spec);

		finds(&s, 0x1008, 0x1008, 0x1013, 8);
		finds(&s, 0x1012, 0x1008, 0x1013, 8);
		finds(&s, 0x1013, 0x1013, 0x1018, 16);
		finds(&s, 0x1017, 0x1013, 0x1018, 16);
		finds(&s, 0x1018, 0x1018, 0x1023, 8);
		finds(&s, 0x1027, 0x1023, 0x1028, 16);
		/* the last block is cut off by the end of the function */
		finds(&s, 0x102f, 0x1028, 0x1030, 8);
		fails(&s, 0x1030, -ENOENT, BOBBIN_REASON_NO_FUNCTION);
		close_section(&s);
	}
}

static void blocks_of_no_bytes_are_refused(void **state)
{
	for (uint8_t version = 2; version <= 3; version++) {
		struct section_spec spec = plt(version, 0);
		struct section s = open_section(&spec);

		fails(&s, 0x1008, -EBADMSG, BOBBIN_REASON_SFRAME_FDE);
		close_section(&s);
	}
}

static void row_after_the_block_is_refused(void **state)
{
	struct section_spec spec = plt(3, 10);
	struct section s = open_section(&spec);

	fails(&s, 0x1008, -EBADMSG, BOBBIN_REASON_SFRAME_RANGE);
	close_section(&s);
}

static struct section_spec one_function(struct func_spec f)
{
	return (struct section_spec){.version = 3,
				     .flags = SORTED | PCREL,
				     .abi = AMD64,
				     .fixed_ra = -8,
				     .addr = ADDR,
				     .num_funcs = 1,
				     .funcs = {f}};
}

static void row_at_the_end_of_its_function_is_tolerated(void **state)
{
	struct section_spec spec = one_function((struct func_spec){
		.start = 0x1000, .size = 16, .num_fres = 2, ROWS(0, 3, 8, 16, 3, 24)});
	struct section s = open_section(&spec);

	finds(&s, 0x100f, 0x1000, 0x1010, 8);
	close_section(&s);
}

static void row_after_the_end_of_its_function_is_refused(void **state)
{
	struct section_spec spec = one_function((struct func_spec){
		.start = 0x1000, .size = 16, .num_fres = 2, ROWS(0, 3, 8, 17, 3, 24)});
	struct section s = open_section(&spec);

	fails(&s, 0x100f, -EBADMSG, BOBBIN_REASON_SFRAME_RANGE);
	close_section(&s);
}

static void last_of_rows_with_equal_starts_counts(void **state)
{
	/* gas writes them around an alignment that needs no bytes */
	struct section_spec spec = one_function((struct func_spec){
		.start = 0x1000, .size = 16, .num_fres = 3, ROWS(0, 3, 8, 4, 3, 16, 4, 3, 24)});
	struct section s = open_section(&spec);

	finds(&s, 0x1003, 0x1000, 0x1004, 8);
	finds(&s, 0x1004, 0x1004, 0x1010, 24);
	close_section(&s);
}

static void descending_rows_are_refused(void **state)
{
	struct section_spec spec = one_function((struct func_spec){
		.start = 0x1000, .size = 16, .num_fres = 3, ROWS(0, 3, 8, 4, 3, 16, 2, 3, 24)});
	struct section s = open_section(&spec);

	finds(&s, 0x1003, 0x1000, 0x1004, 8);
	fails(&s, 0x1004, -EBADMSG, BOBBIN_REASON_SFRAME_ORDER);
	close_section(&s);
}

static void pc_before_the_first_row_has_none(void **state)
{
	struct section_spec spec = one_function(
		(struct func_spec){.start = 0x1000, .size = 16, .num_fres = 1, ROWS(4, 3, 8)});
	struct section s = open_section(&spec);

	fails(&s, 0x1003, -ENOENT, BOBBIN_REASON_NO_ROW);
	finds(&s, 0x1004, 0x1004, 0x1010, 8);
	close_section(&s);
}

static void more_rows_than_bytes_are_refused(void **state)
{
	struct section_spec spec = one_function(
		(struct func_spec){.start = 0x1000, .size = 16, .num_fres = 65535, ROWS(0, 3, 8)});
	struct section s = open_section(&spec);

	fails(&s, 0x1000, -EBADMSG, BOBBIN_REASON_SFRAME_FRE);
	close_section(&s);
}

static void function_without_rows_is_the_outermost_frame(void **state)
{
	struct section_spec spec = one_function((struct func_spec){.start = 0x1000, .size = 16});
	struct section s = open_section(&spec);
	struct bobbin_row row;

	finds(&s, 0x1008, 0x1000, 0x1010, 0);
	assert_int_equal(bobbin_sframe_lookup(&s.view, 0x1008, NULL, &row), 0);
	assert_int_equal(row.function, 0x1000);
	assert_int_equal(row.rule.cfa.how, BOBBIN_HOW_AT_REG);
	assert_int_equal(row.rule.ra.how, BOBBIN_HOW_UNDEFINED);
	close_section(&s);
}

static void before_version_3_a_function_without_rows_says_nothing(void **state)
{
	for (uint8_t version = 1; version <= 2; version++) {
		struct section_spec spec =
			one_function((struct func_spec){.start = 0x1000, .size = 16});
		struct section s;

		spec.version = version;
		spec.flags = SORTED;
		s = open_section(&spec);
		fails(&s, 0x1008, -ENOENT, BOBBIN_REASON_NO_ROW);
		close_section(&s);
	}
}

static void signal_trampoline_without_rows_has_no_row(void **state)
{
	struct section_spec spec =
		one_function((struct func_spec){.start = 0x1000, .size = 16, .info = SIGNAL});
	struct section s = open_section(&spec);

	fails(&s, 0x1008, -ENOENT, BOBBIN_REASON_NO_ROW);
	close_section(&s);
}

static void unknown_kinds_of_functions_are_refused(void **state)
{
	struct section_spec spec = one_function((struct func_spec){
		.start = 0x1000, .size = 16, .info = 3, .num_fres = 1, ROWS(0, 3, 8)});
	struct section s = open_section(&spec);

	fails(&s, 0x1000, -EBADMSG, BOBBIN_REASON_SFRAME_FDE);
	close_section(&s);
	spec.funcs[0].info = 0;
	spec.funcs[0].info2 = 2;
	s = open_section(&spec);
	fails(&s, 0x1000, -EBADMSG, BOBBIN_REASON_SFRAME_FDE);
	close_section(&s);
}

static void rows_outside_of_the_section_are_refused(void **state)
{
	struct section_spec spec = three_functions(3, SORTED);
	struct section s = open_section(&spec);

	memset(s.built.data + 28 + 12, 0xff, 4);
	fails(&s, 0x3f1000, -EBADMSG, BOBBIN_REASON_SFRAME_FDE);
	finds(&s, 0x3f1010, 0x3f1010, 0x3f1020, 24);
	close_section(&s);
	spec.version = 2;
	s = open_section(&spec);
	memset(s.built.data + 28 + 8, 0xff, 4);
	fails(&s, 0x3f1000, -EBADMSG, BOBBIN_REASON_SFRAME_FDE);
	close_section(&s);
}

static void function_at_the_end_of_the_address_space_is_refused(void **state)
{
	struct section_spec spec = one_function((struct func_spec){
		.start = UINT64_MAX - 15, .size = 16, .num_fres = 1, ROWS(0, 3, 8)});
	struct section s = open_section(&spec);

	fails(&s, UINT64_MAX - 8, -EBADMSG, BOBBIN_REASON_SFRAME_FDE);
	close_section(&s);
	spec.funcs[0].size = 15;
	s = open_section(&spec);
	finds(&s, UINT64_MAX - 1, UINT64_MAX - 15, UINT64_MAX, 8);
	close_section(&s);
}

static void big_endian_sections_are_searched(void **state)
{
	for (uint8_t version = 2; version <= 3; version++) {
		struct section_spec spec = three_functions(version, SORTED | PCREL);
		struct section s;

		spec.abi = S390X;
		spec.fixed_ra = 0;
		spec.funcs[0] = (struct func_spec){
			.start = 0x3f1000, .size = 8, .num_fres = 2, ROWS(0, 3, 0, 4, 3, 1)};
		spec.funcs[2] = (struct func_spec){
			.start = 0x401000,
			.size = 0x200,
			.info = ADDR2,
			.num_fres = 2,
			ROWS(0, 0, 3, 0, 0x01, 0x34, 0x27, 0, 2, 0xff, 0xd0, 0xff, 0xb8)};
		s = open_section(&spec);
		finds(&s, 0x3f1003, 0x3f1000, 0x3f1004, 160);
		finds(&s, 0x3f1004, 0x3f1004, 0x3f1008, 168);
		finds(&s, 0x401133, 0x401000, 0x401134, 160);
		finds(&s, 0x401134, 0x401134, 0x401200, 176);
		close_section(&s);
	}
}

static void entries_are_decoded_one_by_one(void **state)
{
	struct section_spec spec = three_functions(3, SORTED | PCREL);
	struct bobbin_sframe_fde fde;
	struct bobbin_sframe_fre fre;
	struct bobbin_error error;
	struct section s;

	spec.funcs[1].info = SIGNAL | ADDR1;
	spec.funcs[1].info2 = FLEX;
	s = open_section(&spec);
	assert_int_equal(bobbin_sframe_fde(&s.view, 0, NULL, &fde), 0);
	assert_int_equal(fde.start, 0x3f1000);
	assert_int_equal(fde.size, 6);
	assert_int_equal(fde.num_fres, 4);
	assert_int_equal(fde.fre_off, 28 + 3 * 16 + 5);
	assert_int_equal(fde.fre_type, 1);
	assert_false(fde.signal || fde.flex || fde.pcmask || fde.key_b);
	assert_int_equal(bobbin_sframe_fre(&s.view, &fde, fde.fre_off, NULL, &fre), 0);
	assert_int_equal(bobbin_sframe_fre(&s.view, &fde, fre.next, NULL, &fre), 0);
	assert_int_equal(fre.start, 1);
	assert_int_equal(fre.info, 5);
	assert_int_equal(fre.num_words, 2);
	assert_int_equal(fre.word_size, 1);
	assert_int_equal(fre.words[0], 16);
	assert_int_equal(fre.words[1], -16);
	assert_int_equal(fre.next, fre.offset + 4);
	assert_int_equal(bobbin_sframe_fde(&s.view, 1, NULL, &fde), 0);
	assert_true(fde.signal && fde.flex);
	assert_int_equal(bobbin_sframe_fde(&s.view, 3, &error, &fde), -ENOENT);
	assert_int_equal(error.reason, BOBBIN_REASON_NO_FUNCTION);
	assert_int_equal(bobbin_sframe_fre(&s.view, &fde, UINT64_MAX, &error, &fre), -EBADMSG);
	assert_int_equal(bobbin_sframe_fre(&s.view, &fde, 0, &error, &fre), -EBADMSG);
	close_section(&s);
}

static void words_without_a_meaning_are_decoded(void **state)
{
	static const int32_t words[] = {1, 2, 3, 4, 5, -1};
	struct section_spec spec = one_function(
		(struct func_spec){.start = 0x1000,
				   .size = 16,
				   .num_fres = 2,
				   ROWS(0, 9, 1, 2, 3, 4, 1, 0x0d, 1, 2, 3, 4, 5, 0xff)});
	struct section s = open_section(&spec);
	struct bobbin_sframe_fde fde;
	struct bobbin_sframe_fre fre;

	assert_int_equal(bobbin_sframe_fde(&s.view, 0, NULL, &fde), 0);
	assert_int_equal(bobbin_sframe_fre(&s.view, &fde, fde.fre_off, NULL, &fre), 0);
	assert_int_equal(fre.num_words, 4);
	assert_memory_equal(fre.words, words, 4 * sizeof(*words));
	assert_int_equal(bobbin_sframe_fre(&s.view, &fde, fre.next, NULL, &fre), 0);
	assert_int_equal(fre.num_words, 6);
	assert_memory_equal(fre.words, words, sizeof(words));
	assert_int_equal(fre.next, s.view.size);
	close_section(&s);
}

static void row_that_is_no_row_is_refused(void **state)
{
	struct section_spec spec = one_function((struct func_spec){
		.start = 0x1000, .size = 3, .num_fres = 2, ROWS(0, 3, 8, 4, 3, 8)});
	struct section s = open_section(&spec);
	struct bobbin_sframe_fde fde;
	struct bobbin_sframe_fre fre;
	struct bobbin_error error;

	assert_int_equal(bobbin_sframe_fde(&s.view, 0, NULL, &fde), 0);
	/* the size in the FDE table would do as a row: 3, 0 */
	assert_int_equal(bobbin_sframe_fre(&s.view, &fde, 28 + 8, &error, &fre), -EBADMSG);
	assert_int_equal(error.reason, BOBBIN_REASON_SFRAME_FRE);
	assert_int_equal(bobbin_sframe_fre(&s.view, &fde, fde.fre_off + 3, &error, &fre), -EBADMSG);
	assert_int_equal(error.reason, BOBBIN_REASON_SFRAME_RANGE);
	assert_int_equal(error.offset, fde.fre_off + 3);
	close_section(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_is_found_up_to_its_last_byte_in_each_version),
		cmocka_unit_test(starts_may_be_relative_to_their_field),
		cmocka_unit_test(unsorted_functions_are_found),
		cmocka_unit_test(of_overlapping_unsorted_functions_the_last_start_counts),
		cmocka_unit_test(each_number_of_functions_is_searched),
		cmocka_unit_test(functions_beyond_two_gibibytes_are_found_in_version_three),
		cmocka_unit_test(empty_functions_do_not_hide_others),
		cmocka_unit_test(folded_functions_of_different_sizes_are_both_found),
		cmocka_unit_test(rows_of_a_plt_repeat_in_each_block),
		cmocka_unit_test(blocks_of_no_bytes_are_refused),
		cmocka_unit_test(row_after_the_block_is_refused),
		cmocka_unit_test(row_at_the_end_of_its_function_is_tolerated),
		cmocka_unit_test(row_after_the_end_of_its_function_is_refused),
		cmocka_unit_test(last_of_rows_with_equal_starts_counts),
		cmocka_unit_test(descending_rows_are_refused),
		cmocka_unit_test(pc_before_the_first_row_has_none),
		cmocka_unit_test(more_rows_than_bytes_are_refused),
		cmocka_unit_test(function_without_rows_is_the_outermost_frame),
		cmocka_unit_test(before_version_3_a_function_without_rows_says_nothing),
		cmocka_unit_test(signal_trampoline_without_rows_has_no_row),
		cmocka_unit_test(unknown_kinds_of_functions_are_refused),
		cmocka_unit_test(rows_outside_of_the_section_are_refused),
		cmocka_unit_test(function_at_the_end_of_the_address_space_is_refused),
		cmocka_unit_test(big_endian_sections_are_searched),
		cmocka_unit_test(entries_are_decoded_one_by_one),
		cmocka_unit_test(words_without_a_meaning_are_decoded),
		cmocka_unit_test(row_that_is_no_row_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
