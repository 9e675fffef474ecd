/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keys, by what terminals send for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/top.h"

/* The first key of what was typed, which takes so many bytes. */
static void assert_key(const char *typed, bool more, int key, size_t used)
{
	size_t got;

	assert_int_equal(terminal_bytes_key(typed, strlen(typed), more, &got), key);
	assert_int_equal(got, used);
}

static void bytes_are_keys(void **state)
{
	assert_key("q", true, 'q', 1);
	assert_key("qx", true, 'q', 1);
	assert_key("\r", true, TOP_KEY_ENTER, 1);
	assert_key("\x7f", true, TOP_KEY_BACKSPACE, 1);
	assert_key("\xc3\xa4", true, 0xc3, 1);
}

static void sequences_are_keys(void **state)
{
	assert_key("\033[Ax", true, TOP_KEY_UP, 3);
	assert_key("\033OB", true, TOP_KEY_DOWN, 3);
	assert_key("\033[5~", true, TOP_KEY_PAGE_UP, 4);
	assert_key("\033[6~", true, TOP_KEY_PAGE_DOWN, 4);
	assert_key("\033[H", true, TOP_KEY_HOME, 3);
	assert_key("\033[4~", true, TOP_KEY_END, 4);
}

static void unknown_sequences_are_passed_over_as_a_whole(void **state)
{
	assert_key("\033[3~q", true, 0, 4);
	assert_key("\033[200~", true, 0, 6);
	assert_key("\033[1;5Cq", true, 0, 6);
	assert_key("\033[99999999999999999999999A", true, 0, 16);
}

static void a_sequence_may_come_in_parts(void **state)
{
	assert_key("\033", true, 0, 0);
	assert_key("\033[", true, 0, 0);
	assert_key("\033[5", true, 0, 0);
	assert_key("\033", false, TOP_KEY_ESCAPE, 1);
	assert_key("\033[5", false, 0, 3);
	assert_key("\033q", true, TOP_KEY_ESCAPE, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_keys),
		cmocka_unit_test(sequences_are_keys),
		cmocka_unit_test(unknown_sequences_are_passed_over_as_a_whole),
		cmocka_unit_test(a_sequence_may_come_in_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
