/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/window_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
/* after those */
#include <cmocka.h>

#include "../own_directory.h"

#define DAY (24 * 3600)

static struct window_folder *open_folder(uint64_t keep_seconds, uint64_t max_bytes, bool send)
{
	const struct window_folder_options options = {"kept", keep_seconds, max_bytes, send};
	struct window_folder *folder;

	assert_int_equal(window_folder_open(&options, &folder), 0);
	return folder;
}

static int start_empty(void **state)
{
	return system("rm -rf kept");
}

static void put_file(const char *path, size_t size, time_t age)
{
	const time_t then = time(NULL) - age;
	const struct timespec times[] = {{.tv_sec = then}, {.tv_sec = then}};
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

/* A recording, of so many samples; its path is free()d by the caller. */
static char *add(struct window_folder *folder, size_t size, uint64_t samples)
{
	char *path = window_folder_name(folder);

	assert_non_null(path);
	put_file(path, size, 0);
	assert_int_equal(window_folder_add(folder, path, samples), 0);
	return path;
}

static struct window_folder_stats stats_of(struct window_folder *folder)
{
	struct window_folder_stats stats;

	window_folder_stats(folder, &stats);
	return stats;
}

static bool is_there(const char *path)
{
	return !access(path, F_OK);
}

static void names_differ_within_a_second(void **state)
{
	struct window_folder *folder = open_folder(DAY, 1000, false);
	char *first = add(folder, 1, 1), *second = add(folder, 1, 1);

	assert_string_not_equal(first, second);
	assert_true(is_there(first) && is_there(second));
	assert_int_equal(stats_of(folder).windows, 2);
	free(first);
	free(second);
	window_folder_close(folder);
}

static void one_agent_has_a_folder(void **state)
{
	struct window_folder *folder = open_folder(DAY, 1000, false), *other;
	const struct window_folder_options options = {"kept", DAY, 1000, false};

	assert_int_equal(window_folder_open(&options, &other), -EWOULDBLOCK);
	window_folder_close(folder);
	window_folder_close(open_folder(DAY, 1000, false));
}

static void what_is_no_folder_is_refused(void **state)
{
	const struct window_folder_options file = {"file", DAY, 1000, false},
					   nowhere = {"no/where", DAY, 1000, false};
	struct window_folder *folder;

	put_file("file", 0, 0);
	assert_int_equal(window_folder_open(&file, &folder), -ENOTDIR);
	assert_int_equal(window_folder_open(&nowhere, &folder), -ENOENT);
}

static void the_oldest_make_room(void **state)
{
	struct window_folder *folder = open_folder(DAY, 1000, false);
	char *paths[4];

	for (int i = 0; i < 4; i++)
		paths[i] = add(folder, 400, 1);
	/* the last one has got the name of the first one */
	assert_false(is_there(paths[1]));
	assert_true(is_there(paths[2]) && is_there(paths[3]));
	assert_int_equal(stats_of(folder).windows, 2);
	assert_int_equal(stats_of(folder).bytes, 800);
	/* they need not have been sent */
	assert_int_equal(stats_of(folder).dropped, 0);
	for (int i = 0; i < 4; i++)
		free(paths[i]);
	window_folder_close(folder);
}

static void the_last_one_stays_however_large_it_is(void **state)
{
	struct window_folder *folder = open_folder(DAY, 1000, false);
	char *small = add(folder, 10, 1), *large = add(folder, 5000, 1);

	assert_false(is_there(small));
	assert_true(is_there(large));
	free(small);
	free(large);
	window_folder_close(folder);
}

static void names_of_compiled_code_count_and_go_with_their_recording(void **state)
{
	struct window_folder *folder = open_folder(DAY, 1000, false);
	char *path = window_folder_name(folder), jit[128], dump[160], *next;

	snprintf(jit, sizeof(jit), "%s.jit", path);
	snprintf(dump, sizeof(dump), "%s/jit-1.dump", jit);
	assert_int_equal(mkdir(jit, 0700), 0);
	put_file(dump, 700, 0);
	put_file(path, 100, 0);
	assert_int_equal(window_folder_add(folder, path, 1), 0);
	assert_int_equal(stats_of(folder).bytes, 800);
	next = add(folder, 300, 1);
	assert_false(is_there(path) || is_there(jit));
	assert_true(is_there(next));
	free(path);
	free(next);
	window_folder_close(folder);
}

static void old_ones_go_a_few_at_a_time(void **state)
{
	struct window_folder *folder;
	char name[64], *path;

	assert_int_equal(mkdir("kept", 0700), 0);
	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "kept/bobbin-2026010%dT000000Z.perf.data", i);
		put_file(name, 1, (10 - i) * DAY);
	}
	put_file("kept/others", 1, 10 * DAY);
	put_file("kept/bobbin-x", 1, 10 * DAY);
	folder = open_folder(7 * DAY, 1000, false);
	assert_int_equal(stats_of(folder).windows, 6);
	path = add(folder, 1, 1);
	assert_int_equal(stats_of(folder).windows, 5);
	free(path);
	path = add(folder, 1, 1);
	assert_int_equal(stats_of(folder).windows, 5);
	free(path);
	path = add(folder, 1, 1);
	/* those of the last seven days stay, and what is not the agent's */
	assert_int_equal(stats_of(folder).windows, 6);
	assert_true(is_there("kept/bobbin-20260105T000000Z.perf.data"));
	assert_true(is_there("kept/others") && is_there("kept/bobbin-x"));
	free(path);
	window_folder_close(folder);
}

static void what_is_to_be_sent_waits_and_goes_in_order(void **state)
{
	struct window_folder *folder = open_folder(DAY, 1000, true);
	char *first = add(folder, 1, 11), *second = add(folder, 1, 22), *next;
	uint64_t samples;

	assert_int_equal(stats_of(folder).unsent, 2);
	assert_int_equal(stats_of(folder).unsent_samples, 33);
	next = window_folder_unsent(folder, &samples);
	assert_string_equal(next, first);
	assert_int_equal(samples, 11);
	window_folder_sent(folder, next);
	free(next);
	next = window_folder_unsent(folder, &samples);
	assert_string_equal(next, second);
	window_folder_sent(folder, next);
	free(next);
	assert_null(window_folder_unsent(folder, &samples));
	assert_true(is_there(first) && is_there(second));
	free(first);
	free(second);
	window_folder_close(folder);
}

static void the_next_agent_knows_what_was_not_sent(void **state)
{
	struct window_folder *folder = open_folder(DAY, 1000, true);
	char *first = add(folder, 1, 11), *second = add(folder, 1, 22), *next;
	uint64_t samples;

	window_folder_sent(folder, first);
	window_folder_close(folder);
	folder = open_folder(DAY, 1000, true);
	assert_int_equal(stats_of(folder).windows, 2);
	next = window_folder_unsent(folder, &samples);
	assert_string_equal(next, second);
	assert_int_equal(samples, 22);
	free(next);
	free(first);
	free(second);
	window_folder_close(folder);
}

static void where_nothing_is_kept_it_goes_when_it_is_sent(void **state)
{
	struct window_folder *folder = open_folder(0, 1000, true);
	char *path = add(folder, 1, 11), *later = add(folder, 1, 1);

	assert_true(is_there(path));
	window_folder_sent(folder, path);
	assert_false(is_there(path));
	assert_true(is_there(later));
	free(path);
	free(later);
	window_folder_close(folder);
}

static void what_makes_room_before_it_is_sent_is_counted(void **state)
{
	struct window_folder *folder = open_folder(0, 1000, true);
	char *paths[3];

	for (int i = 0; i < 3; i++)
		paths[i] = add(folder, 400, 100);
	assert_int_equal(stats_of(folder).dropped, 1);
	assert_int_equal(stats_of(folder).dropped_samples, 100);
	assert_int_equal(stats_of(folder).unsent_samples, 200);
	assert_false(is_there(paths[0]));
	for (int i = 0; i < 3; i++)
		free(paths[i]);
	window_folder_close(folder);
}

static void a_recording_that_is_not_there_is_not_added(void **state)
{
	struct window_folder *folder = open_folder(DAY, 1000, true);
	char *path = window_folder_name(folder);

	assert_int_equal(window_folder_add(folder, path, 1), -ENOENT);
	assert_int_equal(stats_of(folder).windows, 0);
	free(path);
	window_folder_close(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(names_differ_within_a_second, start_empty),
		cmocka_unit_test_setup(one_agent_has_a_folder, start_empty),
		cmocka_unit_test_setup(what_is_no_folder_is_refused, start_empty),
		cmocka_unit_test_setup(the_oldest_make_room, start_empty),
		cmocka_unit_test_setup(the_last_one_stays_however_large_it_is, start_empty),
		cmocka_unit_test_setup(names_of_compiled_code_count_and_go_with_their_recording,
				       start_empty),
		cmocka_unit_test_setup(old_ones_go_a_few_at_a_time, start_empty),
		cmocka_unit_test_setup(what_is_to_be_sent_waits_and_goes_in_order, start_empty),
		cmocka_unit_test_setup(the_next_agent_knows_what_was_not_sent, start_empty),
		cmocka_unit_test_setup(where_nothing_is_kept_it_goes_when_it_is_sent, start_empty),
		cmocka_unit_test_setup(what_makes_room_before_it_is_sent_is_counted, start_empty),
		cmocka_unit_test_setup(a_recording_that_is_not_there_is_not_added, start_empty),
	};

	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
