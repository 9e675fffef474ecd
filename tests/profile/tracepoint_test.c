/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/tracepoint.h"

static const char format[] = "name: sched_switch\n"
			     "ID: 372\n"
			     "format:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
			     "\n"
			     "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
			     "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
			     "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
			     "\tfield:__data_loc char[] name;\toffset:40;\tsize:4;\tsigned:1;\n"
			     "\n"
			     "print fmt: \"pid=%d ID: 5\", REC->prev_pid\n";

static int parse_one(const char *text, const char *name, struct tracepoint_field *ret)
{
	uint64_t id;

	*ret = (struct tracepoint_field){.name = name};
	return tracepoint_parse(text, ret, 1, &id);
}

static void fields_are_found_by_their_names(void **state)
{
	struct tracepoint_field fields[] = {{.name = "prev_state"}, {.name = "prev_comm"}};
	struct tracepoint_field name;
	uint64_t id;

	(void)state;
	assert_int_equal(tracepoint_parse(format, fields, 2, &id), 0);
	assert_int_equal(id, 372);
	assert_int_equal(fields[0].offset, 32);
	assert_int_equal(fields[0].size, 8);
	assert_true(fields[0].is_signed);
	assert_int_equal(fields[1].offset, 8);
	assert_int_equal(fields[1].size, 16);
	assert_false(fields[1].is_signed);
	assert_int_equal(parse_one(format, "name", &name), 0);
	assert_int_equal(name.offset, 40);
}

static void a_part_of_a_name_is_no_name(void **state)
{
	struct tracepoint_field field;

	(void)state;
	assert_int_equal(parse_one(format, "pid", &field), -ENODATA);
	assert_int_equal(parse_one(format, "prev", &field), -ENODATA);
	assert_int_equal(parse_one(format, "pid_t", &field), -ENODATA);
}

static void a_damaged_description_is_refused(void **state)
{
	struct tracepoint_field field;

	(void)state;
	assert_int_equal(parse_one("", "a", &field), -EBADMSG);
	assert_int_equal(parse_one("name: a\nID: \n", "a", &field), -EBADMSG);
	assert_int_equal(parse_one("name: a\nID: 99999999999999999999999\n", "a", &field),
			 -EBADMSG);
	assert_int_equal(parse_one("name: a\nID: 1\n\tfield:int a", "a", &field), -EBADMSG);
	assert_int_equal(parse_one("name: a\nID: 1\n\tfield:int a;\n", "a", &field), -EBADMSG);
	assert_int_equal(parse_one("name: a\nID: 1\n\tfield:];\toffset:1;\n", "a", &field),
			 -ENODATA);
	assert_int_equal(parse_one("name: a\nID: 1\n\tfield:int a;\toffset:65537;\tsize:4;\t"
				   "signed:1;\n",
				   "a", &field),
			 -EBADMSG);
	/* every beginning of the text: what is missing is refused, nothing is read beyond */
	for (size_t size = 0; size < sizeof(format); size++) {
		char *cut = strndup(format, size);
		int r;

		assert_non_null(cut);
		r = parse_one(cut, "name", &field);
		assert_true(r == 0 || r == -EBADMSG || r == -ENODATA);
		free(cut);
	}
}

static void numbers_have_signs_and_sizes(void **state)
{
	const int32_t raw[] = {-2, 7};
	struct tracepoint_field field = {.offset = 0, .size = 4, .is_signed = true};
	int64_t value;

	(void)state;
	assert_true(tracepoint_number(&field, raw, sizeof(raw), &value));
	assert_int_equal(value, -2);
	field.is_signed = false;
	assert_true(tracepoint_number(&field, raw, sizeof(raw), &value));
	assert_int_equal(value, 0xfffffffe);
	field.offset = 4;
	assert_true(tracepoint_number(&field, raw, sizeof(raw), &value));
	assert_int_equal(value, 7);
	field.offset = 5;
	assert_false(tracepoint_number(&field, raw, sizeof(raw), &value));
	field.offset = UINT32_MAX;
	assert_false(tracepoint_number(&field, raw, sizeof(raw), &value));
	field = (struct tracepoint_field){.size = 3};
	assert_false(tracepoint_number(&field, raw, sizeof(raw), &value));
}

static void names_stay_inside_tracefs(void **state)
{
	static const char *const names[] = {
		"", "sched_switch", ":a", "a:", "a:b:c", "../a:b", "a:.."};
	uint64_t id;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_int_equal(tracepoint_find(names[i], NULL, 0, &id), -EINVAL);
}

static void the_kernel_s_own_are_found(void **state)
{
	struct tracepoint_field fields[] = {{.name = "prev_state"}, {.name = "prev_pid"}};
	uint64_t id = 0, other = 0;
	char room[128];

	int r = tracepoint_find("sched:sched_switch", fields, 2, &id);

	(void)state;
	/* users, and QEMU's */
	if (r == -EACCES || r == -EPERM || r == -ENODEV)
		skip();
	assert_int_equal(r, 0);
	assert_true(id > 0);
	assert_int_equal(fields[0].size, sizeof(long));
	assert_int_equal(fields[1].size, 4);
	assert_int_equal(tracepoint_find("sched:sched_waking", NULL, 0, &other), 0);
	assert_int_not_equal(id, other);
	assert_int_equal(tracepoint_find("sched:no_such", NULL, 0, &id), -ENOENT);
	assert_non_null(
		strstr(tracepoint_error(-ENOENT, "sched:no_such", room, sizeof(room)), "no_such"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_found_by_their_names),
		cmocka_unit_test(a_part_of_a_name_is_no_name),
		cmocka_unit_test(a_damaged_description_is_refused),
		cmocka_unit_test(numbers_have_signs_and_sizes),
		cmocka_unit_test(names_stay_inside_tracefs),
		cmocka_unit_test(the_kernel_s_own_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
