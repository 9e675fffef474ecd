/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cursor: its values, and that it never reads beyond its bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/bytes.h"

static const uint8_t eight[] = {0x81, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x88};

static void integers_read_in_both_byte_orders(void **state)
{
	struct bytes b = bytes_of(eight, sizeof(eight), false);

	assert_int_equal(bytes_u8(&b), 0x81);
	assert_int_equal(bytes_u16(&b), 0x0302);
	assert_int_equal(bytes_u32(&b), 0x07060504);
	b = bytes_of(eight, sizeof(eight), true);
	assert_int_equal(bytes_u8(&b), 0x81);
	assert_int_equal(bytes_u16(&b), 0x0203);
	assert_int_equal(bytes_u32(&b), 0x04050607);
	b = bytes_of(eight, sizeof(eight), false);
	assert_true(bytes_u64(&b) == 0x8807060504030281);
	b = bytes_of(eight, sizeof(eight), true);
	assert_true(bytes_u64(&b) == 0x8102030405060788);
}

static int64_t signed_of(const uint8_t *data, unsigned int n, bool big_endian)
{
	struct bytes b = bytes_of(data, n, big_endian);

	return bytes_signed(&b, n);
}

static void signed_integers_extend_their_sign(void **state)
{
	assert_true(signed_of(eight, 1, false) == -127);
	assert_true(signed_of(eight + 1, 1, false) == 2);
	assert_true(signed_of(eight, 2, true) == (int16_t)0x8102);
	assert_true(signed_of(eight, 4, true) == (int32_t)0x81020304);
	assert_true(signed_of(eight, 8, true) == (int64_t)0x8102030405060788);
	assert_true(signed_of(eight, 2, false) == 0x0281);
}

static void reading_past_the_end_is_sticky_and_yields_zero(void **state)
{
	struct bytes b = bytes_of(eight, 3, false);

	assert_int_equal(bytes_u32(&b), 0);
	assert_true(b.bad);
	assert_int_equal(b.pos, 0);
	assert_int_equal(bytes_u8(&b), 0);
	assert_int_equal(bytes_left(&b), 0);
	bytes_seek(&b, 0);
	assert_true(b.bad);
	assert_int_equal(bytes_uleb(&b), 0);
	assert_int_equal(bytes_sleb(&b), 0);
}

static void the_end_itself_is_a_position(void **state)
{
	struct bytes b = bytes_of(eight, 8, false);

	bytes_seek(&b, 8);
	assert_false(b.bad);
	assert_int_equal(bytes_left(&b), 0);
	bytes_skip(&b, 0);
	assert_false(b.bad);
	bytes_seek(&b, 9);
	assert_true(b.bad);
	assert_int_equal(b.pos, 8);
}

static void skips_and_seeks_cannot_wrap(void **state)
{
	struct bytes b = bytes_of(eight, 8, false);

	bytes_skip(&b, 4);
	bytes_skip(&b, UINT64_MAX);
	assert_true(b.bad);
	assert_int_equal(b.pos, 4);
	b = bytes_of(eight, 8, false);
	bytes_seek(&b, UINT64_MAX);
	assert_true(b.bad);
}

static void no_bytes_are_no_data(void **state)
{
	struct bytes b = bytes_of(NULL, 0, false);

	assert_int_equal(bytes_left(&b), 0);
	assert_false(b.bad);
	assert_int_equal(bytes_u8(&b), 0);
	assert_true(b.bad);
}

struct leb {
	const char *bytes;
	size_t size;
	uint64_t is_unsigned;
	int64_t is_signed;
};

/* DWARF 5, tables 7.7 and 7.8, and the limits of 64 bits. */
static const struct leb lebs[] = {
	{"\x00", 1, 0, 0},
	{"\x02", 1, 2, 2},
	{"\x3f", 1, 63, 63},
	{"\x40", 1, 64, -64},
	{"\x7f", 1, 127, -1},
	{"\x7e", 1, 126, -2},
	{"\x80\x01", 2, 128, 128},
	{"\xff\x00", 2, 127, 127},
	{"\x81\x7f", 2, 16257, -127},
	{"\x80\x7f", 2, 16256, -128},
	{"\xe5\x8e\x26", 3, 624485, 624485},
	{"\x80\x80\x00", 3, 0, 0},
	{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", 10, INT64_MAX, INT64_MAX},
	{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, UINT64_MAX, -1},
	{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10, UINT64_MAX, -1},
	{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 10, 1ull << 63, INT64_MIN},
	{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 10, 1ull << 63, INT64_MIN},
	{"\x80\x80\x80\x80\x80\x80\x80\x80\x40", 9, 1ull << 62, -(1ll << 62)},
};

static void leb128_numbers_have_their_values(void **state)
{
	for (size_t i = 0; i < sizeof(lebs) / sizeof(lebs[0]); i++) {
		struct bytes b = bytes_of(lebs[i].bytes, lebs[i].size, false);

		assert_true(bytes_uleb(&b) == lebs[i].is_unsigned);
		assert_false(b.bad);
		assert_int_equal(b.pos, lebs[i].size);
		b = bytes_of(lebs[i].bytes, lebs[i].size, true);
		assert_true(bytes_sleb(&b) == lebs[i].is_signed);
		assert_false(b.bad);
		assert_int_equal(b.pos, lebs[i].size);
	}
}

static void a_cut_leb128_is_bad(void **state)
{
	for (size_t i = 0; i < sizeof(lebs) / sizeof(lebs[0]); i++) {
		for (size_t n = 0; n < lebs[i].size; n++) {
			struct bytes b = bytes_of(lebs[i].bytes, n, false);

			bytes_uleb(&b);
			assert_true(b.bad);
			b = bytes_of(lebs[i].bytes, n, false);
			bytes_sleb(&b);
			assert_true(b.bad);
		}
	}
}

static void a_leb128_of_eleven_bytes_is_bad(void **state)
{
	uint8_t data[11];
	struct bytes b;

	memset(data, 0x80, sizeof(data));
	data[10] = 0;
	b = bytes_of(data, sizeof(data), false);
	assert_true(bytes_uleb(&b) == 0);
	assert_true(b.bad);
	b = bytes_of(data, sizeof(data), false);
	assert_true(bytes_sleb(&b) == 0);
	assert_true(b.bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_read_in_both_byte_orders),
		cmocka_unit_test(signed_integers_extend_their_sign),
		cmocka_unit_test(reading_past_the_end_is_sticky_and_yields_zero),
		cmocka_unit_test(the_end_itself_is_a_position),
		cmocka_unit_test(skips_and_seeks_cannot_wrap),
		cmocka_unit_test(no_bytes_are_no_data),
		cmocka_unit_test(leb128_numbers_have_their_values),
		cmocka_unit_test(a_cut_leb128_is_bad),
		cmocka_unit_test(a_leb128_of_eleven_bytes_is_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
