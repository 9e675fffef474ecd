/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a symbolizer knows of one recording, and not of the next. */
#include "program.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void build(const char *path, const char *function)
{
	run("printf 'void %s(void) {}\\nint main(void) { return 0; }' | gcc -x c -O1 -Wl,--build-id=none "
	    "- -o %s",
	    function, path);
}

/* The number of @path, opened at descriptor @fd. */
static unsigned int number_of_held(struct symbolizer *s, const char *path, int fd)
{
	char open_path[64];
	struct symbol_file file = {.path = "held", .open_path = open_path};
	int opened = open(path, O_RDONLY | O_CLOEXEC);
	unsigned int number;

	assert_true(opened >= 0);
	assert_int_equal(dup2(opened, fd), fd);
	close(opened);
	snprintf(open_path, sizeof(open_path), OWN_FILES "%d", fd);
	assert_int_equal(symbolizer_file(s, &file, &number), 0);
	return number;
}

/* Another recording may have another file at the same path and by the same descriptor. */
static void descriptors_are_forgotten_with_a_recording(void **state)
{
	static const struct symbolizer_options names_only = {.demangle = true};
	struct symbolizer *s = open_symbolizer(&names_only);
	const int fd = fcntl(0, F_DUPFD_CLOEXEC, 100);
	const struct symbol_file other = {.path = "other"};
	unsigned int first, second, named, again;
	struct symbol f[8];

	build("one", "first");
	build("two", "second");
	build("other", "third");
	first = number_of_held(s, "one", fd);
	assert_int_equal(symbolizer_resolve(s, first, offset_of("one", "first", 0), f, 8), 1);
	assert_string_equal(f[0].name, "first");
	assert_int_equal(symbolizer_file(s, &other, &named), 0);

	symbolizer_refresh(s);
	second = number_of_held(s, "two", fd);
	assert_int_not_equal(first, second);
	assert_int_equal(symbolizer_resolve(s, second, offset_of("two", "second", 0), f, 8), 1);
	assert_string_equal(f[0].name, "second");
	assert_int_equal(symbolizer_file(s, &other, &again), 0);
	assert_int_equal(named, again);
	close(fd);
	symbolizer_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(descriptors_are_forgotten_with_a_recording),
	};

	return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
