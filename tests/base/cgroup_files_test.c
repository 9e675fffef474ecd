/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cgroup_files.h"

#define ROOT "/dev/root / ext4 rw 0 0\n"
#define MEMORY "cgroup /c/memory cgroup rw,nosuid,memory 0 0\n"
#define EVENTS "cgroup /c/net_cls,perf_event cgroup rw,net_cls,perf_event 0 0\n"
#define UNIFIED "cgroup2 /c/unified cgroup2 rw,nsdelegate 0 0\n"

static char mounts[] = "/tmp/bobbin-mounts.XXXXXX";

static void write_mounts(const char *text)
{
	FILE *out = fopen(mounts, "w");

	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

static void assert_events(const char *text, const char *expected)
{
	char found[PATH_MAX] = "unchanged";

	write_mounts(text);
	assert_int_equal(cgroup_events_mount(mounts, found), expected != NULL);
	assert_string_equal(found, expected ? expected : "unchanged");
}

static void events_know_the_first_version_where_it_has_their_controller(void **state)
{
	assert_events(ROOT MEMORY EVENTS, "/c/net_cls,perf_event");
	assert_events(ROOT UNIFIED MEMORY EVENTS, "/c/net_cls,perf_event");
}

static void events_know_the_second_version_otherwise(void **state)
{
	assert_events(ROOT UNIFIED, "/c/unified");
	assert_events(ROOT MEMORY UNIFIED, "/c/unified");
	assert_events(ROOT MEMORY, NULL);
	assert_events(ROOT, NULL);
}

static void a_folder_of_any_controller_has_the_name_of_a_cgroup(void **state)
{
	write_mounts(ROOT MEMORY EVENTS UNIFIED);
	assert_string_equal(cgroup_name(mounts, "/c/memory/docker/1"), "/docker/1");
	assert_string_equal(cgroup_name(mounts, "/c/net_cls,perf_event/docker/1"), "/docker/1");
	assert_string_equal(cgroup_name(mounts, "/c/unified/a.slice"), "/a.slice");
	assert_string_equal(cgroup_name(mounts, "/c/memory"), "");
}

static void other_paths_are_names(void **state)
{
	write_mounts(ROOT MEMORY EVENTS UNIFIED);
	assert_string_equal(cgroup_name(mounts, "/docker/1"), "/docker/1");
	assert_string_equal(cgroup_name(mounts, "a.slice/b"), "a.slice/b");
	assert_string_equal(cgroup_name(mounts, "/c/memory2/x"), "/c/memory2/x");
	assert_string_equal(cgroup_name("/nonexistent", "/c/memory/x"), "/c/memory/x");
}

static void assert_path(const char *text, const char *expected)
{
	char copy[1024];
	const char *found;

	assert_true(strlen(text) < sizeof(copy));
	strcpy(copy, text);
	found = cgroup_of_text(copy);
	if (!expected)
		assert_null(found);
	else
		assert_string_equal(found, expected);
}

static void a_process_is_where_version_2_says_it_is(void **state)
{
	assert_path("0::/system.slice/ssh.service\n", "/system.slice/ssh.service");
	assert_path("0::/\n", "/");
	/* a process in another namespace of cgroups */
	assert_path("0::/../a:b c\n", "/../a:b c");
	assert_path("0::/a/b (deleted)\n", "/a/b");
	assert_path("0::/ (deleted)\n", "/");
}

static void other_hierarchies_say_more_than_the_root_of_one(void **state)
{
	assert_path("9:name=systemd:/a.service\n4:memory:/other\n0::/\n", "/a.service");
	assert_path("9:name=systemd:/a.service\n4:memory:/other\n0::/b.service\n", "/b.service");
	/* of a container, which systemd has not been told of */
	assert_path("9:cpu,perf_event:/docker/1\n1:name=systemd:/docker/1\n"
		    "0::/system.slice/docker.service\n",
		    "/docker/1");
	assert_path("5:perf_event:/\n1:name=systemd:/a.service\n0::/\n", "/a.service");
	assert_path("5:perf_event:/\n1:name=systemd:/\n", "/");
}

static void other_texts_name_no_cgroup(void **state)
{
	assert_path("", NULL);
	assert_path("4:memory:/other\n", NULL);
	assert_path("0::", NULL);
	assert_path("0::/cut", NULL);
	assert_path("0::none\n\n:\n::\nperf_event\n7:perf_events:/x\n", NULL);
}

static void a_process_that_is_gone_is_in_no_cgroup(void **state)
{
	char path[PATH_MAX] = "unchanged";

	assert_false(cgroup_of_process(0, path));
	assert_string_equal(path, "unchanged");
	if (cgroup_of_process(getpid(), path))
		assert_int_equal(*path, '/');
}

static int make_file(void **state)
{
	int fd = mkstemp(mounts);

	return fd < 0 || close(fd);
}

static int remove_file(void **state)
{
	return unlink(mounts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_know_the_first_version_where_it_has_their_controller),
		cmocka_unit_test(events_know_the_second_version_otherwise),
		cmocka_unit_test(a_folder_of_any_controller_has_the_name_of_a_cgroup),
		cmocka_unit_test(other_paths_are_names),
		cmocka_unit_test(a_process_is_where_version_2_says_it_is),
		cmocka_unit_test(other_hierarchies_say_more_than_the_root_of_one),
		cmocka_unit_test(other_texts_name_no_cgroup),
		cmocka_unit_test(a_process_that_is_gone_is_in_no_cgroup),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
