/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names and sentences of the reasons, and the numbers that recordings keep.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <bobbin/reason.h>

static void every_reason_has_an_upper_case_name(void **state)
{
	for (int i = 0; i < BOBBIN_REASON_COUNT; i++) {
		const char *name = bobbin_reason_name((enum bobbin_reason)i);

		assert_string_not_equal(name, "UNKNOWN");
		assert_true(*name);
		for (; *name; name++)
			assert_true(isupper(*name) || isdigit(*name) || *name == '_');
	}
}

static void every_reason_has_a_sentence_without_a_stop(void **state)
{
	for (int i = 0; i < BOBBIN_REASON_COUNT; i++) {
		const char *text = bobbin_reason_str((enum bobbin_reason)i);

		assert_string_not_equal(text, "unknown reason");
		assert_true(strlen(text) > 8);
		assert_int_not_equal(text[strlen(text) - 1], '.');
	}
}

static void no_two_reasons_read_the_same(void **state)
{
	for (int i = 0; i < BOBBIN_REASON_COUNT; i++) {
		for (int k = 0; k < i; k++) {
			enum bobbin_reason a = (enum bobbin_reason)i, b = (enum bobbin_reason)k;

			assert_string_not_equal(bobbin_reason_name(a), bobbin_reason_name(b));
			assert_string_not_equal(bobbin_reason_str(a), bobbin_reason_str(b));
		}
	}
}

static void values_outside_the_list_are_unknown(void **state)
{
	const int outside[] = {BOBBIN_REASON_COUNT, BOBBIN_REASON_COUNT + 1, 255, -1, INT32_MIN};

	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		enum bobbin_reason reason = (enum bobbin_reason)outside[i];

		assert_string_equal(bobbin_reason_name(reason), "UNKNOWN");
		assert_string_equal(bobbin_reason_str(reason), "unknown reason");
	}
}

/* Packed rules and struct bobbin_rule keep a reason in one byte. */
static void a_reason_fits_a_byte(void **state)
{
	assert_true(BOBBIN_REASON_COUNT <= 255);
}

/* The list is append-only: a number once given stays. */
static void numbers_do_not_move(void **state)
{
	assert_int_equal(BOBBIN_REASON_NONE, 0);
	assert_int_equal(BOBBIN_REASON_OUTERMOST, 1);
	assert_int_equal(BOBBIN_REASON_NO_MEMORY, 7);
	assert_int_equal(BOBBIN_REASON_NO_USER, 13);
	assert_int_equal(BOBBIN_REASON_TRUNCATED, 14);
	assert_int_equal(BOBBIN_REASON_SFRAME_MAGIC, 19);
	assert_int_equal(BOBBIN_REASON_CFI_LENGTH, 30);
	assert_int_equal(BOBBIN_REASON_CFI_NO_CFA, 43);
	assert_int_equal(BOBBIN_REASON_PERF_FEATURE, 50);
	assert_string_equal(bobbin_reason_name(BOBBIN_REASON_STUCK), "STUCK");
	assert_string_equal(bobbin_reason_str(BOBBIN_REASON_NO_MEMORY),
			    "the stack is not readable");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reason_has_an_upper_case_name),
		cmocka_unit_test(every_reason_has_a_sentence_without_a_stop),
		cmocka_unit_test(no_two_reasons_read_the_same),
		cmocka_unit_test(values_outside_the_list_are_unknown),
		cmocka_unit_test(a_reason_fits_a_byte),
		cmocka_unit_test(numbers_do_not_move),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
