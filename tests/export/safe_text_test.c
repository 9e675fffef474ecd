/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "stacks.h"

#include "export/safe_text.h"

static void assert_plain(const char *text, const char *expected)
{
	struct text got;

	safe_text_plain(text_stream(&got), text);
	assert_string_equal(text_finish(&got), expected);
	free(got.data);
}

static void assert_xml(const char *text, size_t columns, const char *expected)
{
	struct text got;

	safe_text_xml(text_stream(&got), text, columns);
	assert_string_equal(text_finish(&got), expected);
	free(got.data);
}

static void assert_script(const char *text, const char *expected)
{
	struct text got;

	safe_text_script(text_stream(&got), text, SIZE_MAX);
	assert_string_equal(text_finish(&got), expected);
	free(got.data);
}

static void valid_text_stays(void **state)
{
	assert_plain("std::map<int>", "std::map<int>");
	assert_plain("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\xa7\xb5",
		     "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\xa7\xb5");
}

static void bytes_that_are_not_utf8_are_replaced(void **state)
{
	assert_plain("a\xff z", "a\xef\xbf\xbd z");
	assert_plain("\xc3", "\xef\xbf\xbd");
	assert_plain("\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd");
	assert_plain("\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"); /* overlong */
	assert_plain("\xe0\x80\xaf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	assert_plain("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* surrogate */
	assert_plain("\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	assert_plain("\xef\xbf\xbf", "\xef\xbf\xbd"); /* U+FFFF is not a character */
}

static void characters_that_command_are_dropped(void **state)
{
	assert_plain("a\x1b[31m\n\r\tb\x7f", "a[31mb");
	assert_plain("a\xc2\x9bz", "az");                   /* C1: CSI */
	assert_plain("a\xe2\x80\xae z\xe2\x81\xa9", "a z"); /* text direction */
	assert_plain("a\xe2\x80\xa8z", "az");               /* line separator */
}

static void markup_is_escaped(void **state)
{
	assert_xml("<a b='&\">", SIZE_MAX, "&#60;a b=&#39;&#38;&#34;&#62;");
	assert_script("</script>]]>\"\\", "\"\\x3c/script\\x3e\\x5d\\x5d\\x3e\\x22\\x5c\"");
}

static void long_text_ends_in_an_ellipsis(void **state)
{
	assert_xml("abcdef", 6, "abcdef");
	assert_xml("abcdef", 5, "abcd\xe2\x80\xa6");
	assert_xml("\xe7\xb9\x94\xe7\xb9\x94\xe7\xb9\x94", 5,
		   "\xe7\xb9\x94\xe7\xb9\x94\xe2\x80\xa6");
}

static void text_is_cut_to_columns(void **state)
{
	static const char *const cuts[] = {"", "\xe2\x80\xa6", "a\xe2\x80\xa6", "a\xe2\x80\xa6",
					   "a\xe7\xb9\x94\x62"};
	static const size_t columns[] = {0, 1, 2, 2, 4};
	struct text got;

	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(safe_text_cut(text_stream(&got), "a\033\xe7\xb9\x94\x62", i),
				 columns[i]);
		assert_string_equal(text_finish(&got), cuts[i]);
		free(got.data);
	}
}

static void wide_characters_count_twice(void **state)
{
	assert_int_equal(safe_text_columns("abc"), 3);
	assert_int_equal(safe_text_columns("\xe7\xb9\x94"), 2);
	assert_int_equal(safe_text_columns("\xc3\xbc\x01"), 1);
}

static void what_is_printed_may_be_kept(void **state)
{
	static const char plain[] = "plain";
	char room[16];

	assert_ptr_equal(safe_text_printed(plain, room, sizeof(room)), plain);
	assert_string_equal(safe_text_printed("a\033\xe7\xb9\x94\xff", room, sizeof(room)),
			    "a\xe7\xb9\x94\xef\xbf\xbd");
	/* room for whole characters only */
	assert_string_equal(safe_text_printed("\xff\xff\xff\xff\xff\xff", room, sizeof(room)),
			    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(valid_text_stays),
		cmocka_unit_test(bytes_that_are_not_utf8_are_replaced),
		cmocka_unit_test(characters_that_command_are_dropped),
		cmocka_unit_test(markup_is_escaped),
		cmocka_unit_test(long_text_ends_in_an_ellipsis),
		cmocka_unit_test(text_is_cut_to_columns),
		cmocka_unit_test(wide_characters_count_twice),
		cmocka_unit_test(what_is_printed_may_be_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
