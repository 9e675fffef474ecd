/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/private_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void fill(const char *folder, const char *outside)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), file;

	assert_true(fd >= 0);
	assert_int_equal(mkdirat(fd, "inner", 0700), 0);
	file = openat(fd, "inner/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(file >= 0);
	close(file);
	assert_int_equal(symlinkat(outside, fd, "inner/link"), 0);
	close(fd);
}

static void it_is_removed_with_all_that_is_in_it(void **state)
{
	char *outside, *folder;
	struct stat st;

	assert_int_equal(private_folder_create(P_tmpdir, &outside), 0);
	assert_int_equal(private_folder_create(P_tmpdir, &folder), 0);
	assert_string_not_equal(outside, folder);
	assert_int_equal(stat(folder, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	fill(folder, outside);
	assert_int_equal(private_folder_remove(folder), 0);
	assert_int_equal(access(folder, F_OK), -1);
	/* a link leads out of it */
	assert_int_equal(access(outside, F_OK), 0);
	assert_int_equal(private_folder_remove(outside), 0);
	free(folder);
	free(outside);
}

static void what_fails_is_said(void **state)
{
	char *folder;

	assert_int_equal(private_folder_create("/none", &folder), -ENOENT);
	assert_int_equal(private_folder_remove("/none"), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_removed_with_all_that_is_in_it),
		cmocka_unit_test(what_fails_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
