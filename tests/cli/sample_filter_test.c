/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/sample_filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/cgroup_table.h"

#define SECOND UINT64_C(1000000000)

static bool takes(struct sample_filter filter)
{
	const struct stack_sample sample = {
		.comm = "cc1", .pid = 12, .tid = 345, .time = 2 * SECOND};

	return sample_filter_takes(&filter, &sample);
}

static bool takes_stack(struct sample_filter filter)
{
	struct call_frame frames[] = {
		{.name = "main", .dso = "/usr/bin/cc1"},
		{.name = "map<int, char>::find(int, char)", .dso = "/usr/lib/libc.so.6"},
		{.name = NULL, .dso = "[anon]"},
		{.name = "operator[]", .dso = "plain"},
	};
	const struct named_stack stack = {.frames = frames, .count = 4};

	return sample_filter_takes_stack(&filter, &stack);
}

static void without_a_filter_all_are_wanted(void **state)
{
	assert_true(takes((struct sample_filter){0}));
	assert_true(takes_stack((struct sample_filter){0}));
	assert_false(sample_filter_names(&(struct sample_filter){.comms = "cc1"}));
	assert_true(sample_filter_names(&(struct sample_filter){.dsos = "cc1"}));
}

static void lists_have_what_they_name(void **state)
{
	assert_true(takes((struct sample_filter){.comms = "cc1"}));
	assert_true(takes((struct sample_filter){.comms = "as,cc1,ld"}));
	assert_false(takes((struct sample_filter){.comms = "cc"}));
	assert_false(takes((struct sample_filter){.comms = "cc1plus"}));
	assert_false(takes((struct sample_filter){.comms = ""}));
	assert_true(takes((struct sample_filter){.pids = "1,12"}));
	assert_false(takes((struct sample_filter){.pids = "1,123"}));
	assert_true(takes((struct sample_filter){.tids = "345"}));
	assert_false(takes((struct sample_filter){.tids = "12"}));
}

static void all_options_count(void **state)
{
	assert_true(takes((struct sample_filter){.comms = "cc1", .pids = "12", .tids = "345"}));
	assert_false(takes((struct sample_filter){.comms = "cc1", .pids = "12", .tids = "346"}));
	assert_false(takes_stack((struct sample_filter){.dsos = "cc1", .symbols = "no"}));
	/* on the same stack, not in the same frame */
	assert_true(takes_stack((struct sample_filter){.dsos = "libc.so.6", .symbols = "main"}));
}

static void files_are_known_by_path_or_name(void **state)
{
	assert_true(takes_stack((struct sample_filter){.dsos = "cc1"}));
	assert_true(takes_stack((struct sample_filter){.dsos = "x,/usr/bin/cc1"}));
	assert_true(takes_stack((struct sample_filter){.dsos = "[anon]"}));
	assert_true(takes_stack((struct sample_filter){.dsos = "plain"}));
	assert_false(takes_stack((struct sample_filter){.dsos = "bin/cc1"}));
}

static void functions_are_known_by_name_or_pattern(void **state)
{
	assert_true(takes_stack((struct sample_filter){.symbols = "main"}));
	assert_false(takes_stack((struct sample_filter){.symbols = "mai"}));
	assert_true(takes_stack((struct sample_filter){.symbols = "mai*"}));
	assert_true(takes_stack((struct sample_filter){.symbols = "x,m?in"}));
	assert_true(takes_stack((struct sample_filter){.symbols = "operator[]"}));
	assert_true(takes_stack((struct sample_filter){.symbols = "[unknown]"}));
	/* commas in brackets belong to the name */
	assert_true(takes_stack(
		(struct sample_filter){.symbols = "a,map<int, char>::find(int, char),b"}));
	assert_true(takes_stack((struct sample_filter){.symbols = "map<int, char>::*"}));
	assert_false(takes_stack((struct sample_filter){.symbols = "map<int"}));
}

static bool takes_cgroup(const char *list, const char *path)
{
	struct sample_filter filter = {.cgroups = strdup(list)};
	struct cgroup *cgroup = malloc(sizeof(*cgroup) + strlen(path) + 1);
	const struct stack_sample sample = {.comm = "cc1", .cgroup = cgroup};
	bool taken;

	strcpy(cgroup->path, path);
	taken = sample_filter_takes(&filter, &sample);
	free(cgroup);
	sample_filter_fini(&filter);
	return taken;
}

static void cgroups_are_known_by_paths_and_by_parts(void **state)
{
	static const char path[] = "/system.slice/web@1.service/worker";

	assert_true(takes_cgroup("/system.slice/web@1.service/worker", path));
	assert_true(takes_cgroup("system.slice/web@1.service/worker", path));
	assert_true(takes_cgroup("/x,worker", path));
	assert_true(takes_cgroup("*service", path));
	assert_true(takes_cgroup("web@?.service", path));
	assert_true(takes_cgroup("*/worker", path));
	assert_true(takes_cgroup("/*/web*", path));
	assert_false(takes_cgroup("web@1", path));
	assert_false(takes_cgroup("/worker", path));
	assert_false(takes_cgroup("web@1.service/worker", path));
	assert_true(takes_cgroup("/", "/"));
	assert_false(takes_cgroup("/", path));
}

static void what_is_below_a_cgroup_is_in_it(void **state)
{
	assert_true(takes_cgroup("/a", "/a/b/c"));
	assert_true(takes_cgroup("a/b", "/a/b/c"));
	assert_true(takes_cgroup("b", "/a/b/c"));
	assert_false(takes_cgroup("/a/b", "/a/bc"));
	assert_false(takes_cgroup("/a/b/c", "/a/b"));
}

static void a_sample_without_a_cgroup_is_in_none(void **state)
{
	assert_false(takes((struct sample_filter){.cgroups = "*"}));
}

static void assert_times(const char *text, uint64_t first, uint64_t last)
{
	struct sample_times times;

	assert_true(sample_times_parse(text, &times));
	sample_times_settle(&times, 10 * SECOND, 20 * SECOND);
	assert_int_equal(times.first, first);
	assert_int_equal(times.last, last);
}

static void times_are_in_seconds_or_per_cent(void **state)
{
	assert_times("1.5,2", SECOND + SECOND / 2, 2 * SECOND);
	assert_times("1,", SECOND, UINT64_MAX);
	assert_times(",7821.475062", 0, 7821475062000);
	assert_times("0%-100%", 10 * SECOND, 20 * SECOND);
	assert_times("10%-12.5%", 11 * SECOND, 11 * SECOND + SECOND / 4);
}

static void bad_times_are_refused(void **state)
{
	static const char *const bad[] = {"",        "1",     "1,0",      "x,1",  "1,x", "-1,2",
					  "1,2,3",   "nan,1", "1e99,",    "10%",  "%",   "20%-10%",
					  "0%-101%", "1%-2",  "0%-10%,5", "1,2 ", "inf,"};
	struct sample_times times;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (sample_times_parse(bad[i], &times))
			fail_msg("'%s' is a time", bad[i]);
}

static void times_bound_samples(void **state)
{
	struct sample_filter filter = {0};

	assert_true(sample_times_parse("2,2", &filter.times));
	assert_true(takes(filter));
	assert_true(sample_times_parse("2.1,", &filter.times));
	assert_false(takes(filter));
	assert_true(sample_times_parse(",1.9", &filter.times));
	assert_false(takes(filter));
}

static void numbers_are_digits(void **state)
{
	assert_true(sample_filter_is_numbers("1"));
	assert_true(sample_filter_is_numbers("1,22"));
	assert_false(sample_filter_is_numbers(""));
	assert_false(sample_filter_is_numbers(","));
	assert_false(sample_filter_is_numbers("1,"));
	assert_false(sample_filter_is_numbers("1,,2"));
	assert_false(sample_filter_is_numbers("-1"));
	assert_false(sample_filter_is_numbers("cc1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_filter_all_are_wanted),
		cmocka_unit_test(lists_have_what_they_name),
		cmocka_unit_test(all_options_count),
		cmocka_unit_test(files_are_known_by_path_or_name),
		cmocka_unit_test(functions_are_known_by_name_or_pattern),
		cmocka_unit_test(cgroups_are_known_by_paths_and_by_parts),
		cmocka_unit_test(what_is_below_a_cgroup_is_in_it),
		cmocka_unit_test(a_sample_without_a_cgroup_is_in_none),
		cmocka_unit_test(times_are_in_seconds_or_per_cent),
		cmocka_unit_test(bad_times_are_refused),
		cmocka_unit_test(times_bound_samples),
		cmocka_unit_test(numbers_are_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
