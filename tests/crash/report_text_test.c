/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "crash/report_text.h"

static struct report_text text;
static int ends[2];
static char got[3 * REPORT_TEXT_SIZE];

static void begin(void)
{
	assert_int_equal(pipe(ends), 0);
	report_text_begin(&text, ends[1]);
}

static const char *end(void)
{
	ssize_t n;
	size_t size = 0;

	report_text_flush(&text);
	close(ends[1]);
	while ((n = read(ends[0], got + size, sizeof(got) - 1 - size)) > 0)
		size += (size_t)n;
	close(ends[0]);
	got[size] = 0;
	return got;
}

static void numbers_have_the_digits_that_are_asked_for(void **state)
{
	begin();
	report_text_hex(&text, 0x1f, 4);
	report_text_put(&text, " ");
	report_text_hex(&text, UINT64_MAX, 1);
	report_text_put(&text, " ");
	report_text_hex(&text, 0, 1);
	report_text_put(&text, "|");
	report_text_number(&text, 0, 3);
	report_text_put(&text, "|");
	report_text_number(&text, UINT64_MAX, 3);
	report_text_put(&text, "|");
	assert_string_equal(end(), "001f ffffffffffffffff 0|0  |18446744073709551615|");
}

static void names_of_others_cannot_control_a_terminal(void **state)
{
	begin();
	report_text_foreign(&text, "a b\x1b[2J\n\x7f\xc3\xa9");
	assert_string_equal(end(), "a b\\x1b[2J\\x0a\\x7f\\xc3\\xa9");
}

static void long_texts_come_whole(void **state)
{
	begin();
	for (int i = 0; i < 2000; i++)
		report_text_number(&text, 1000 + (uint64_t)i, 0);
	assert_int_equal(strlen(end()), 8000);
	for (int i = 0; i < 2000; i++)
		assert_memory_equal(got + 4 * i,
				    ((char[]){(char)('1' + i / 1000), (char)('0' + i / 100 % 10),
					      (char)('0' + i / 10 % 10), (char)('0' + i % 10)}),
				    4);
}

/* Nobody reads, or nobody is there: SIGPIPE would end the test. */
static void a_descriptor_that_takes_nothing_is_given_up(void **state)
{
	begin();
	close(ends[0]);
	report_text_put(&text, "lost");
	report_text_flush(&text);
	assert_true(text.lost);
	close(ends[1]);
	report_text_begin(&text, ends[1]);
	report_text_put(&text, "lost");
	report_text_flush(&text);
	assert_true(text.lost);
	report_text_put(&text, "more");
	report_text_flush(&text);
	assert_int_equal(text.used, 0);
}

static void a_full_pipe_is_not_waited_for_without_end(void **state)
{
	begin();
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, REPORT_TEXT_SIZE) > 0);
	for (int i = 0; i < 3 * REPORT_TEXT_SIZE; i++)
		report_text_put(&text, "x");
	assert_true(text.lost);
	close(ends[1]);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_the_digits_that_are_asked_for),
		cmocka_unit_test(names_of_others_cannot_control_a_terminal),
		cmocka_unit_test(long_texts_come_whole),
		cmocka_unit_test(a_descriptor_that_takes_nothing_is_given_up),
		cmocka_unit_test(a_full_pipe_is_not_waited_for_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
