/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/source_text.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "../own_directory.h"

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* A path of a file in the test's directory. */
static const char *path_of(const char *name)
{
	static char path[PATH_MAX];
	char directory[64];

	assert_non_null(getcwd(directory, sizeof(directory)));
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void lines_are_found_by_their_numbers(void **state)
{
	struct source_text sources = {0};

	write_file("a.c", "one\n\nthree");
	assert_string_equal(source_text_line(&sources, path_of("a.c"), 1), "one");
	assert_string_equal(source_text_line(&sources, path_of("a.c"), 2), "");
	assert_string_equal(source_text_line(&sources, path_of("a.c"), 3), "three");
	assert_null(source_text_line(&sources, path_of("a.c"), 4));
	assert_null(source_text_line(&sources, path_of("a.c"), 0));
	source_text_fini(&sources);
}

static void what_is_no_source_is_not_read(void **state)
{
	struct source_text sources = {0};

	write_file("a.c", "one\n");
	write_file("large.c", "one\n");
	assert_int_equal(truncate("large.c", (off_t)SOURCE_TEXT_MOST + 1), 0);
	assert_int_equal(mkfifo("fifo.c", 0600), 0);
	assert_null(source_text_line(&sources, "a.c", 1)); /* relative */
	assert_null(source_text_line(&sources, "", 1));
	assert_null(source_text_line(&sources, path_of("none.c"), 1));
	assert_null(source_text_line(&sources, path_of("large.c"), 1));
	assert_null(source_text_line(&sources, path_of("fifo.c"), 1));
	assert_null(source_text_line(&sources, "/dev/zero", 1));
	source_text_fini(&sources);
}

static void files_are_looked_for_below_a_folder(void **state)
{
	char root[64];
	struct source_text sources = {.root = getcwd(root, sizeof(root))};

	assert_int_equal(mkdir("src", 0700), 0);
	write_file("src/b.c", "here\n");
	assert_string_equal(source_text_line(&sources, "/src/b.c", 1), "here");
	source_text_fini(&sources);
}

static void more_files_than_are_held_can_be_read(void **state)
{
	struct source_text sources = {0};
	char name[32], text[32];

	for (int i = 0; i < 2 * SOURCE_TEXT_FILES; i++) {
		snprintf(name, sizeof(name), "%d.c", i);
		snprintf(text, sizeof(text), "line %d\n", i);
		write_file(name, text);
	}
	for (int i = 0; i < 4 * SOURCE_TEXT_FILES; i++) {
		snprintf(name, sizeof(name), "%d.c", i % (2 * SOURCE_TEXT_FILES));
		snprintf(text, sizeof(text), "line %d", i % (2 * SOURCE_TEXT_FILES));
		assert_string_equal(source_text_line(&sources, path_of(name), 1), text);
	}
	source_text_fini(&sources);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lines_are_found_by_their_numbers, enter_directory,
						leave_directory),
		cmocka_unit_test_setup_teardown(what_is_no_source_is_not_read, enter_directory,
						leave_directory),
		cmocka_unit_test_setup_teardown(files_are_looked_for_below_a_folder,
						enter_directory, leave_directory),
		cmocka_unit_test_setup_teardown(more_files_than_are_held_can_be_read,
						enter_directory, leave_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
