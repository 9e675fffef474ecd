/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "crash/code_mappings.h"
#include "crash/raw_file.h"

static struct code_mappings mappings;
static int data;

static const struct code_mapping *find(const void *address)
{
	return code_mappings_find(&mappings, (uint64_t)(uintptr_t)address);
}

static void code_is_found_and_data_is_not(void **state)
{
	char path[4096] = {0};
	void *anonymous = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct code_mapping *m;

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	code_mappings_read(&mappings);
	m = find((const void *)(uintptr_t)code_is_found_and_data_is_not);
	assert_non_null(m);
	assert_string_equal(m->path, path);
	m = find((const void *)(uintptr_t)strtol);
	assert_non_null(m);
	assert_true(m->path[0] == '/' && m->ino);
	assert_null(find(&data));
	assert_null(find(&path));
	assert_null(find(anonymous));
	assert_null(find(NULL));
	assert_null(find((const void *)UINTPTR_MAX));
	munmap(anonymous, 4096);
}

static void the_kernels_library_is_code(void **state)
{
	const struct code_mapping *m;

	if (!getauxval(AT_SYSINFO_EHDR))
		skip();
	code_mappings_read(&mappings);
	m = find((const void *)getauxval(AT_SYSINFO_EHDR));
	assert_non_null(m);
	assert_string_equal(m->path, "[vdso]");
}

/* More lines than the buffer holds, and more than there is room for. */
static void many_mappings_are_read_in_order(void **state)
{
	const long page = sysconf(_SC_PAGESIZE);
	const size_t count = CODE_MAPPINGS_MAX + 100;
	char *room = mmap(NULL, 2 * count * (size_t)page, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int fd = open("/proc/self/exe", O_RDONLY);

	assert_ptr_not_equal(room, MAP_FAILED);
	for (size_t i = 0; i < count; i++)
		assert_ptr_not_equal(mmap(room + 2 * i * (size_t)page, (size_t)page, PROT_EXEC,
					  MAP_PRIVATE | MAP_FIXED, fd, 0),
				     MAP_FAILED);
	code_mappings_read(&mappings);
	munmap(room, 2 * count * (size_t)page);
	close(fd);
	assert_int_equal(mappings.count, CODE_MAPPINGS_MAX);
	for (uint32_t i = 1; i < mappings.count; i++)
		assert_true(mappings.mappings[i].start >= mappings.mappings[i - 1].end);
	/* paths are shared */
	assert_true(mappings.used < sizeof(mappings.paths) / 2);
}

static void paths_of_numbers_are_cut(void **state)
{
	char path[RAW_FILE_PATH];

	assert_string_equal(raw_file_path(path, "/proc/", 4294967295u, "/comm"),
			    "/proc/4294967295/comm");
	assert_string_equal(raw_file_path(path, "", 0, ""), "0");
	raw_file_path(path,
		      "0123456789012345678901234567890123456789012345678901234567890123456789", 1,
		      "x");
	assert_int_equal(strlen(path), RAW_FILE_PATH - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_is_found_and_data_is_not),
		cmocka_unit_test(the_kernels_library_is_code),
		cmocka_unit_test(many_mappings_are_read_in_order),
		cmocka_unit_test(paths_of_numbers_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
