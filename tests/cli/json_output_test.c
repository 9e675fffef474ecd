/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "export/json_output.h"

struct document {
	char *text;
	size_t size;
	FILE *stream;
};

static struct json_output begin(struct document *d)
{
	d->stream = open_memstream(&d->text, &d->size);
	assert_non_null(d->stream);
	return json_output(d->stream);
}

static void assert_document(struct document *d, const char *expected)
{
	assert_int_equal(fclose(d->stream), 0);
	assert_string_equal(d->text, expected);
	free(d->text);
}

static void assert_text(const char *text, const char *expected)
{
	struct document d;
	struct json_output json = begin(&d);

	json_string(&json, NULL, text);
	assert_document(&d, expected);
}

static void values_of_an_object_are_separated(void **state)
{
	struct document d;
	struct json_output json = begin(&d);

	json_object(&json, NULL);
	json_number(&json, "a", -1);
	json_unsigned(&json, "b", UINT64_MAX);
	json_address(&json, "c", UINT64_MAX - 15);
	json_bool(&json, "d", true);
	json_null(&json, "e");
	json_object_end(&json);
	assert_document(&d, "{\"a\": -1, \"b\": 18446744073709551615, "
			    "\"c\": \"0xfffffffffffffff0\", \"d\": true, \"e\": null}\n");
}

static void objects_of_an_array_start_a_line_each(void **state)
{
	struct document d;
	struct json_output json = begin(&d);

	json_object(&json, NULL);
	json_array(&json, "a");
	json_object(&json, NULL);
	json_object_end(&json);
	json_object(&json, NULL);
	json_array(&json, "b");
	json_number(&json, NULL, 1);
	json_number(&json, NULL, 2);
	json_array_end(&json);
	json_object_end(&json);
	json_array_end(&json);
	json_object(&json, "c");
	json_object_end(&json);
	json_object_end(&json);
	assert_document(&d, "{\"a\": [\n  {},\n  {\"b\": [1,2]}], \"c\": {}}\n");
}

static void text_that_commands_is_escaped(void **state)
{
	assert_text("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
	assert_text("\n\x1b\x7f", "\"\\u000a\\u001b\\u007f\"");
	assert_text("\xe2\x80\xae", "\"\\u202e\"");
	assert_text("\xc3\xbc", "\"\xc3\xbc\"");
}

static void bytes_that_are_not_utf8_are_replaced(void **state)
{
	assert_text("a\xff z", "\"a\\ufffd z\"");
	assert_text("\xc3", "\"\\ufffd\"");
	assert_text("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");
}

static void what_is_shown_has_no_controls(void **state)
{
	struct document d;
	struct json_output json = begin(&d);

	json_shown(&json, NULL, "a\033[7m\n\"b\"\xff");
	assert_document(&d, "\"a[7m\\\"b\\\"\\ufffd\"");
}

static void decimals_have_as_many_places_as_they_need(void **state)
{
	struct document d;
	struct json_output json = begin(&d);

	json_decimal(&json, NULL, UINT64_MAX, 3);
	json_decimal(&json, NULL, 7, 3);
	json_decimal(&json, NULL, 1500000, 6);
	json_decimal(&json, NULL, 2000000, 6);
	json_decimal(&json, NULL, 0, 6);
	json_decimal(&json, NULL, 12, 0);
	assert_document(&d, "18446744073709551.615,0.007,1.5,2,0,12");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_an_object_are_separated),
		cmocka_unit_test(objects_of_an_array_start_a_line_each),
		cmocka_unit_test(text_that_commands_is_escaped),
		cmocka_unit_test(bytes_that_are_not_utf8_are_replaced),
		cmocka_unit_test(what_is_shown_has_no_controls),
		cmocka_unit_test(decimals_have_as_many_places_as_they_need),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
