/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows of reports in JSON documents. */
#include "export/report_json.h"
#include "export/task_names.h"
#include "reports.h"

static void assert_document(const struct report *report, const struct report_options *options,
			    const char *expected)
{
	struct text text;
	struct json_output json = json_output(text_stream(&text));

	json_object(&json, NULL);
	report_json_keys(&json, options);
	assert_int_equal(report_json_write(report, options, &json), 0);
	json_object_end(&json);
	assert_string_equal(text_finish(&text), expected);
	free(text.data);
}

static void rows_have_all_columns(void **state)
{
	const struct report_options options = {
		.event = "cycles", .samples = 3, .percent_limit = 20};
	struct report *report = report_of();

	add(report, "app", "main;k:write", 60);
	add(report, "app", "main", 30);
	add(report, "other", "x", 10);
	assert_document(
		report, &options,
		"{\"keys\": [\"comm\",\"dso\",\"sym\"], \"event\": \"cycles\", \"samples\": 3, "
		"\"weight\": 100, \"rows\": [\n"
		"  {\"comm\": \"app\", \"dso\": \"/bin/app\", \"sym\": \"main\", \"kernel\": false, "
		"\"children\": 90, \"self\": 30, \"children_percent\": 90, \"self_percent\": 30},\n"
		"  {\"comm\": \"app\", \"dso\": \"[kernel]\", \"sym\": \"write\", \"kernel\": true, "
		"\"children\": 60, \"self\": 60, \"children_percent\": 60, \"self_percent\": 60}], "
		"\"left_out\": {\"rows\": 1, \"self\": 10}}\n");
	report_close(report);
}

static void rows_have_the_keys_that_are_asked_for(void **state)
{
	const struct call_frame frame = {
		.name = "f", .dso = "a\"\\\n</script>\xff", .place = "f.c:7"};
	const struct report_origin origin = {.texts = {[REPORT_COMM] = "app", [REPORT_TID] = "8"}};
	struct report_options options = {.no_children = true};
	struct report *report = report_of();
	struct task_names tasks = {0};

	assert_int_equal(task_names_note(&tasks, 8, 8, "name"), 0);
	assert_int_equal(report_add_of(report, &origin, &frame, 1, 3), 0);
	assert_int_equal(report_parse_keys("tid,cpu,srcline,srcfile,dso", &options), 0);
	options.tasks = &tasks;
	assert_document(
		report, &options,
		"{\"keys\": [\"tid\",\"cpu\",\"srcline\",\"srcfile\",\"dso\"], "
		"\"event\": \"samples\", \"samples\": 0, \"weight\": 3, \"rows\": [\n"
		"  {\"tid\": 8, \"tid_comm\": \"name\", \"cpu\": null, \"srcline\": \"f.c:7\", "
		"\"srcfile\": \"f.c\", \"dso\": \"a\\\"\\\\\\u000a</script>\\ufffd\", "
		"\"children\": 3, \"self\": 3, \"children_percent\": 100, "
		"\"self_percent\": 100}], \"left_out\": {\"rows\": 0, \"self\": 0}}\n");
	task_names_fini(&tasks);
	report_close(report);
}

static void what_is_empty_has_no_rows(void **state)
{
	const struct report_options options = {.n_keys = 1, .keys = {REPORT_SYM}};
	struct report *report = report_of();
	static const char expected[] =
		"{\"keys\": [\"sym\"], \"event\": \"samples\", \"samples\": 0, \"weight\": 0, "
		"\"rows\": [], \"left_out\": {\"rows\": 0, \"self\": 0}}\n";

	assert_document(report, &options, expected);
	assert_document(NULL, &options, expected);
	report_close(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_have_all_columns),
		cmocka_unit_test(rows_have_the_keys_that_are_asked_for),
		cmocka_unit_test(what_is_empty_has_no_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
