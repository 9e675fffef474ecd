/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Executable memory, from a new kernel and from one that only lists mappings. */
#include "code_samples.h"

#include <errno.h>

#include "codemap/own_mappings.h"
#include "codemap/struct_copy.h"

#define PAGES 8

/* Executable pages 0, 1 (another mapping), 2; 3 data; 4 executable; 5 nothing; 6, 7 text. */
static uint8_t *map_mixture(size_t page)
{
	uint8_t *at = map_pages((PAGES + 1) * page, PROT_READ | PROT_EXEC);

	assert_int_equal(mprotect(at + page, page, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	assert_int_equal(mprotect(at + 3 * page, page, PROT_READ), 0);
	assert_int_equal(mprotect(at + 5 * page, page, PROT_NONE), 0);
	assert_int_equal(mprotect(at + PAGES * page, page, PROT_NONE), 0);
	return at;
}

static bool is_text(size_t page)
{
	return page != 3 && page != 5 && page != PAGES;
}

static void check_all_ranges(struct own_mappings *m, uint64_t at, size_t page)
{
	for (size_t from = 0; from <= PAGES; from++) {
		bool expected = true;

		for (size_t to = from; to <= PAGES; to++) {
			expected = expected && is_text(to);
			/* whole pages, and one byte of the first and of the last */
			assert_int_equal(
				own_mappings_executable(m, at + from * page, at + (to + 1) * page),
				expected ? 0 : -EFAULT);
			if (to > from)
				assert_int_equal(
					own_mappings_executable(m, at + from * page + page - 1,
								at + to * page + 1),
					expected ? 0 : -EFAULT);
		}
	}
	assert_int_equal(own_mappings_executable(m, at, at), -EFAULT);
	assert_int_equal(own_mappings_executable(m, at + 1, at), -EFAULT);
	assert_int_equal(own_mappings_executable(m, 0, 1), -EFAULT);
	assert_int_equal(own_mappings_executable(m, 0xffffffffff600000, 0xffffffffff600001),
			 -EFAULT);
	assert_int_equal(own_mappings_executable(m, at, UINT64_MAX), -EFAULT);
}

static void both_kinds_of_kernel_give_the_same_answers(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *at = map_mixture(page);

	(void)state;
	for (unsigned int old = 0; old < 2; old++) {
		struct own_mappings m;

		own_mappings_init(&m);
		m.no_query = old;
		check_all_ranges(&m, (uintptr_t)at, page);
		own_mappings_fini(&m);
	}
	munmap(at, (PAGES + 1) * page);
}

static void memory_after_the_end_of_a_file_is_not_readable(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("short", MFD_CLOEXEC);
	uint8_t *at;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)(3 * page)), 0);
	at = mmap(NULL, 3 * page, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	assert_true(memory_is_readable((uintptr_t)at, 3 * page));
	assert_int_equal(ftruncate(fd, 10), 0);
	errno = 5;
	assert_true(memory_is_readable((uintptr_t)at, page));
	assert_false(memory_is_readable((uintptr_t)at, page + 1));
	assert_false(memory_is_readable((uintptr_t)at + page, 1));
	assert_int_equal(errno, 5);
	assert_false(memory_is_readable(0, 1));
	assert_true(memory_is_readable(0, 0));
	assert_false(memory_is_readable(UINT64_MAX, 2));
	munmap(at, 3 * page);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_kinds_of_kernel_give_the_same_answers),
		cmocka_unit_test(memory_after_the_end_of_a_file_is_not_readable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
