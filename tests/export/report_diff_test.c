/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "reports.h"

#include <stdbool.h>

#include "export/report_diff.h"

static void add_in(struct report *report, const char *dso, const char *name, uint64_t weight)
{
	const struct call_frame frame = {.name = name, .dso = dso, .kind = FRAME_USER};

	assert_int_equal(report_add(report, "app", &frame, 1, weight), 0);
}

/* The reports are closed. */
static char *written(struct report *before, struct report *after, const char *keys, double limit)
{
	const struct report_diff_side sides[] = {{before, "old.data", 10}, {after, "new.data", 20}};
	struct report_options options = {.event = "cycles", .percent_limit = limit};
	struct text text;

	assert_int_equal(report_parse_keys(keys, &options), 0);
	assert_int_equal(report_diff_write(&sides[0], &sides[1], &options, text_stream(&text)), 0);
	text_finish(&text);
	report_close(before);
	report_close(after);
	return text.data;
}

static void changes_are_of_shares(void **state)
{
	struct report *before = report_of(), *after = report_of();
	char *text;

	add(before, "app", "main;parse", 60);
	add(before, "app", "main;emit", 40);
	add(after, "app", "main;parse", 1600);
	add(after, "app", "main;lex", 150);
	add(after, "app", "main;emit;k:write", 250);
	text = written(before, after, "sym", 0);
	assert_string_equal(text, "# Event 'cycles'\n"
				  "# Baseline: 10 samples, old.data\n"
				  "# Compared: 20 samples, new.data\n"
				  "#\n"
				  "# Baseline     Delta  Symbol\n"
				  "# ........  ........  .........\n"
				  "#\n"
				  "    40.00%   -40.00%  [.] emit\n"
				  "    60.00%   +20.00%  [.] parse\n"
				  "             +12.50%  [k] write\n"
				  "              +7.50%  [.] lex\n"
				  "\n#\n#\n");
	free(text);
}

static void builds_in_other_folders_are_compared(void **state)
{
	struct report *before = report_of(), *after = report_of();
	char *text;

	add_in(before, "/old/app", "main", 1);
	add_in(before, "/old/other", "main", 1);
	add_in(after, "/new/app", "main", 3);
	add_in(after, "/new/other", "main", 1);
	text = written(before, after, "dso,sym", 0);
	assert_non_null(strstr(text, "    50.00%   +25.00%  app            [.] main\n"));
	assert_non_null(strstr(text, "    50.00%   -25.00%  other          [.] main\n"));
	free(text);
}

static void small_changes_are_counted(void **state)
{
	struct report *before = report_of(), *after = report_of();
	char *text;

	add(before, "app", "main;parse", 6000);
	add(before, "app", "main;emit", 4000);
	add(after, "app", "main;parse", 6010);
	add(after, "app", "main;emit", 3990);
	text = written(before, after, "sym", 0.5);
	assert_null(strstr(text, "parse"));
	assert_non_null(strstr(text, "# Changes below 0.50% that are left out: 2\n"));
	free(text);
}

static void a_side_may_be_empty(void **state)
{
	struct report *after = report_of();
	char *text;

	add(after, "app", "main", 1);
	text = written(report_of(), after, "sym", 0);
	assert_non_null(strstr(text, "            +100.00%  [.] main\n"));
	free(text);
	free(written(report_of(), report_of(), "sym", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_are_of_shares),
		cmocka_unit_test(builds_in_other_folders_are_compared),
		cmocka_unit_test(small_changes_are_counted),
		cmocka_unit_test(a_side_may_be_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
