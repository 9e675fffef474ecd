/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <bobbin/sframe.h>

#include "sframe_bytes.h"

#define ADDR 0x400000

static const struct section_spec two_functions = {
	.version = 3,
	.flags = SORTED | PCREL,
	.abi = AMD64,
	.fixed_ra = -8,
	.addr = ADDR,
	.num_funcs = 2,
	.funcs = {{.start = 0x1000, .size = 16, .num_fres = 1, ROWS(0, 3, 8)},
		  {.start = 0x1010, .size = 16, .num_fres = 1, ROWS(0, 3, 16)}},
};

static void refused(const struct built *s, int status, enum bobbin_reason reason, uint64_t offset)
{
	struct bobbin_sframe_view view = {.size = 4711};
	struct bobbin_error error = {.offset = 99};

	assert_int_equal(bobbin_sframe_view(s->data, s->size, ADDR, &error, &view), status);
	assert_int_equal(error.reason, reason);
	assert_int_equal(error.offset, offset);
	assert_int_equal(view.size, 4711);
	assert_int_equal(bobbin_sframe_view(s->data, s->size, ADDR, NULL, &view), status);
}

/* The section of two_functions with one field overwritten is refused. */
static void refused_with(size_t at, uint32_t value, size_t width, enum bobbin_reason reason,
			 uint64_t offset)
{
	struct built s = build(&two_functions);

	for (size_t i = 0; i < width; i++)
		s.data[at + i] = (uint8_t)(value >> 8 * i);
	refused(&s, -EBADMSG, reason, offset);
	free(s.data);
}

static void view_of_a_sane_section_says_what_the_header_says(void **state)
{
	struct built s = build(&two_functions);
	struct bobbin_sframe_view view;

	assert_int_equal(bobbin_sframe_view(s.data, s.size, ADDR, NULL, &view), 0);
	assert_ptr_equal(view.data, s.data);
	assert_int_equal(view.size, s.size);
	assert_int_equal(view.addr, ADDR);
	assert_ptr_equal(view.arch, bobbin_arch_amd64());
	assert_int_equal(view.num_fdes, 2);
	assert_int_equal(view.num_fres, 2);
	assert_int_equal(view.fde_off, 28);
	assert_int_equal(view.fre_off, 28 + 2 * 16);
	assert_int_equal(view.fre_len, 2 * (5 + 3));
	assert_int_equal(view.fixed_ra, -8);
	assert_int_equal(view.fixed_fp, 0);
	assert_int_equal(view.version, 3);
	assert_int_equal(view.flags, BOBBIN_SFRAME_SORTED | BOBBIN_SFRAME_PCREL);
	assert_int_equal(view.fde_size, 16);
	assert_true(view.sorted);
	free(s.data);
}

static void each_abi_has_its_architecture_and_byte_order(void **state)
{
	const struct {
		uint8_t abi;
		const struct bobbin_arch *arch;
	} abis[] = {{AARCH64_BE, bobbin_arch_aarch64_be()},
		    {AARCH64_LE, bobbin_arch_aarch64()},
		    {AMD64, bobbin_arch_amd64()},
		    {S390X, bobbin_arch_s390x()}};

	for (size_t i = 0; i < 4; i++) {
		struct section_spec spec = two_functions;
		struct bobbin_sframe_view view;
		struct built s;

		spec.abi = abis[i].abi;
		s = build(&spec);
		assert_int_equal(bobbin_sframe_view(s.data, s.size, ADDR, NULL, &view), 0);
		assert_ptr_equal(view.arch, abis[i].arch);
		assert_int_equal(view.num_fdes, 2);
		free(s.data);
	}
}

static void header_bytes_of_gas_are_read(void **state)
{
	/* what gas 2.47 writes for 4 functions with 17 rows */
	uint8_t bytes[28 + 64 + 83] = {0xe2, 0xde, 3,    4, 3, 0, 0xf8, 0, 4, 0, 0,    0, 0x11, 0,
				       0,    0,    0x53, 0, 0, 0, 0,    0, 0, 0, 0x40, 0, 0,    0};
	struct bobbin_sframe_view view;

	assert_int_equal(bobbin_sframe_view(bytes, sizeof(bytes), 0, NULL, &view), 0);
	assert_int_equal(view.num_fdes, 4);
	assert_int_equal(view.num_fres, 17);
	assert_int_equal(view.fre_off, 28 + 64);
	assert_int_equal(view.fre_len, 83);
	assert_int_equal(view.fixed_ra, -8);
	assert_false(view.sorted);
	assert_int_equal(view.size, sizeof(bytes));
}

static void region_of_zeroes_is_empty_not_broken(void **state)
{
	static const uint8_t zeroes[64];

	for (size_t size = 0; size <= sizeof(zeroes); size += 4)
		refused(&(struct built){(uint8_t *)zeroes, size}, -ENODATA,
			BOBBIN_REASON_SFRAME_EMPTY, 0);
	refused(&(struct built){NULL, 0}, -ENODATA, BOBBIN_REASON_SFRAME_EMPTY, 0);
}

static void zeroes_before_other_bytes_are_a_bad_magic(void **state)
{
	uint8_t bytes[64] = {[63] = 1};

	refused(&(struct built){bytes, sizeof(bytes)}, -EBADMSG, BOBBIN_REASON_SFRAME_MAGIC, 0);
}

static void short_header_is_truncated(void **state)
{
	struct built s = build(&two_functions);

	for (size_t size = 1; size < 28; size++) {
		struct bobbin_error error;
		struct bobbin_sframe_view view;

		assert_int_equal(bobbin_sframe_view(s.data, size, ADDR, &error, &view), -EBADMSG);
		assert_int_equal(error.reason, BOBBIN_REASON_TRUNCATED);
	}
	free(s.data);
}

static void section_without_functions_is_fine(void **state)
{
	const struct section_spec spec = {.version = 3, .abi = AMD64, .flags = PCREL};
	struct built s = build(&spec);
	struct bobbin_sframe_view view;
	struct bobbin_error error;
	struct bobbin_row row;

	assert_int_equal(bobbin_sframe_view(s.data, s.size, ADDR, NULL, &view), 0);
	assert_int_equal(view.size, 28);
	assert_int_equal(bobbin_sframe_lookup(&view, ADDR, &error, &row), -ENOENT);
	assert_int_equal(error.reason, BOBBIN_REASON_NO_FUNCTION);
	free(s.data);
}

static void preamble_that_is_not_sframe_is_refused(void **state)
{
	refused_with(0, 0x464c, 2, BOBBIN_REASON_SFRAME_MAGIC, 0);
	refused_with(2, 0, 1, BOBBIN_REASON_SFRAME_VERSION, 2);
	refused_with(2, 4, 1, BOBBIN_REASON_SFRAME_VERSION, 2);
}

static void reserved_flags_are_refused_by_version(void **state)
{
	static const uint8_t allowed[] = {0, 3, 7, 5};

	for (uint8_t version = 1; version <= 3; version++) {
		for (unsigned int flags = 0; flags < 256; flags++) {
			struct section_spec spec = two_functions;
			struct bobbin_sframe_view view;
			struct built s;

			spec.version = version;
			spec.flags = (uint8_t)flags;
			s = build(&spec);
			if (flags & ~allowed[version])
				refused(&s, -EBADMSG, BOBBIN_REASON_SFRAME_FLAGS, 3);
			else
				assert_int_equal(bobbin_sframe_view(s.data, s.size, 0, NULL, &view),
						 0);
			free(s.data);
		}
	}
}

static void unknown_abi_is_refused(void **state)
{
	struct section_spec spec = two_functions;
	struct built s;

	refused_with(4, 0, 1, BOBBIN_REASON_SFRAME_ABI, 4);
	refused_with(4, 5, 1, BOBBIN_REASON_SFRAME_ABI, 4);
	/* s390x came with version 2 */
	spec.version = 1;
	spec.flags = SORTED;
	spec.abi = S390X;
	s = build(&spec);
	refused(&s, -EBADMSG, BOBBIN_REASON_SFRAME_ABI, 4);
	free(s.data);
}

static void byte_order_of_magic_and_abi_must_agree(void **state)
{
	refused_with(0, 0xe2de, 2, BOBBIN_REASON_SFRAME_ENDIAN, 4);
	refused_with(4, AARCH64_BE, 1, BOBBIN_REASON_SFRAME_ENDIAN, 4);
	refused_with(4, S390X, 1, BOBBIN_REASON_SFRAME_ENDIAN, 4);
}

static void sub_sections_must_lie_in_the_section_one_after_the_other(void **state)
{
	refused_with(7, 255, 1, BOBBIN_REASON_SFRAME_HEADER, 7);
	refused_with(8, 3, 4, BOBBIN_REASON_SFRAME_HEADER, 8);
	/* 0x10000001 * 16 is 16 modulo 2^32 */
	refused_with(8, 0x10000001, 4, BOBBIN_REASON_SFRAME_HEADER, 8);
	refused_with(16, 17, 4, BOBBIN_REASON_SFRAME_HEADER, 16);
	refused_with(16, UINT32_MAX, 4, BOBBIN_REASON_SFRAME_HEADER, 16);
	refused_with(20, 33, 4, BOBBIN_REASON_SFRAME_HEADER, 24);
	refused_with(20, UINT32_MAX, 4, BOBBIN_REASON_SFRAME_HEADER, 20);
	refused_with(24, 31, 4, BOBBIN_REASON_SFRAME_HEADER, 8);
	refused_with(24, 33, 4, BOBBIN_REASON_SFRAME_HEADER, 16);
	refused_with(24, UINT32_MAX, 4, BOBBIN_REASON_SFRAME_HEADER, 24);
}

static void auxiliary_header_is_stepped_over(void **state)
{
	struct section_spec spec = two_functions;
	struct bobbin_sframe_view view;
	struct bobbin_row row;
	struct built s;

	spec.aux_len = 7;
	s = build(&spec);
	assert_int_equal(bobbin_sframe_view(s.data, s.size, ADDR, NULL, &view), 0);
	assert_int_equal(view.fde_off, 35);
	assert_int_equal(bobbin_sframe_lookup(&view, 0x101f, NULL, &row), 0);
	assert_int_equal(row.rule.cfa.off, 16);
	free(s.data);
}

static void bytes_after_the_section_are_not_part_of_it(void **state)
{
	struct built s = build(&two_functions);
	uint8_t *segment = calloc(1, s.size + 60);
	struct bobbin_sframe_view view;

	memcpy(segment, s.data, s.size);
	assert_int_equal(bobbin_sframe_view(segment, s.size + 60, ADDR, NULL, &view), 0);
	assert_int_equal(view.size, s.size);
	free(segment);
	free(s.data);
}

static void concatenated_sections_are_found_one_after_the_other(void **state)
{
	struct section_spec spec = two_functions;
	struct built first = build(&spec), second;
	struct bobbin_sframe_view view;
	struct bobbin_row row;
	uint8_t *both;

	spec.addr = ADDR + first.size;
	spec.funcs[0].start = 0x2000;
	spec.funcs[1].start = 0x2010;
	second = build(&spec);
	both = malloc(first.size + second.size);
	memcpy(both, first.data, first.size);
	memcpy(both + first.size, second.data, second.size);
	assert_int_equal(bobbin_sframe_view(both, first.size + second.size, ADDR, NULL, &view), 0);
	assert_int_equal(bobbin_sframe_lookup(&view, 0x2010, NULL, &row), -ENOENT);
	assert_int_equal(
		bobbin_sframe_view(both + view.size, second.size, ADDR + view.size, NULL, &view),
		0);
	assert_int_equal(bobbin_sframe_lookup(&view, 0x2010, NULL, &row), 0);
	assert_int_equal(row.function, 0x2010);
	free(both);
	free(second.data);
	free(first.data);
}

static void sections_back_to_back_are_found_one_by_one_past_padding(void **state)
{
	struct built s = build(&two_functions);
	size_t size = 2 * s.size + 32;
	uint8_t *both = calloc(1, size);
	struct bobbin_sframe_view view;
	uint64_t pos = 0;

	memcpy(both + 8, s.data, s.size);
	memcpy(both + 16 + s.size, s.data, s.size);
	assert_int_equal(bobbin_sframe_next(both, size, ADDR, &pos, NULL, &view), 1);
	assert_int_equal(view.addr, ADDR + 8);
	assert_int_equal(bobbin_sframe_next(both, size, ADDR, &pos, NULL, &view), 1);
	assert_int_equal(view.addr, ADDR + 16 + s.size);
	assert_ptr_equal(view.data, both + 16 + s.size);
	assert_int_equal(bobbin_sframe_next(both, size, ADDR, &pos, NULL, &view), 0);
	assert_int_equal(pos, size);
	free(both);
	free(s.data);
}

static void a_second_section_that_is_damaged_is_refused_where_it_begins(void **state)
{
	struct built s = build(&two_functions);
	size_t size = 2 * s.size;
	uint8_t *both = malloc(size);
	struct bobbin_sframe_view view;
	struct bobbin_error error;
	uint64_t pos = 0;

	memcpy(both, s.data, s.size);
	memcpy(both + s.size, s.data, s.size);
	both[s.size + 2] = 9;
	assert_int_equal(bobbin_sframe_next(both, size, ADDR, &pos, &error, &view), 1);
	assert_int_equal(bobbin_sframe_next(both, size, ADDR, &pos, &error, &view), -EBADMSG);
	assert_int_equal(error.reason, BOBBIN_REASON_SFRAME_VERSION);
	assert_int_equal(error.offset, s.size + 2);
	assert_int_equal(pos, s.size);
	free(both);
	free(s.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(view_of_a_sane_section_says_what_the_header_says),
		cmocka_unit_test(each_abi_has_its_architecture_and_byte_order),
		cmocka_unit_test(header_bytes_of_gas_are_read),
		cmocka_unit_test(region_of_zeroes_is_empty_not_broken),
		cmocka_unit_test(zeroes_before_other_bytes_are_a_bad_magic),
		cmocka_unit_test(short_header_is_truncated),
		cmocka_unit_test(section_without_functions_is_fine),
		cmocka_unit_test(preamble_that_is_not_sframe_is_refused),
		cmocka_unit_test(reserved_flags_are_refused_by_version),
		cmocka_unit_test(unknown_abi_is_refused),
		cmocka_unit_test(byte_order_of_magic_and_abi_must_agree),
		cmocka_unit_test(sub_sections_must_lie_in_the_section_one_after_the_other),
		cmocka_unit_test(auxiliary_header_is_stepped_over),
		cmocka_unit_test(bytes_after_the_section_are_not_part_of_it),
		cmocka_unit_test(concatenated_sections_are_found_one_after_the_other),
		cmocka_unit_test(sections_back_to_back_are_found_one_by_one_past_padding),
		cmocka_unit_test(a_second_section_that_is_damaged_is_refused_where_it_begins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
