/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pages of code are those of their file or process, whoever was asked for before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "unwind/code_pages.h"
#include "unwind/module.h"

/* More than are kept, and a page of which the file has only a part. */
#define FILE_SIZE ((CODE_PAGES * 3 + 1) * CODE_PAGE - 100)

static struct code_pages pages;

static uint8_t byte_at(uint64_t offset, unsigned int file)
{
	return (uint8_t)(offset / CODE_PAGE * 7 + offset % 251 + file * 101);
}

static int make_file(unsigned int number)
{
	static uint8_t bytes[FILE_SIZE];
	int fd = memfd_create("code", MFD_CLOEXEC);

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = byte_at(i, number);
	assert_int_equal(pwrite(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
	return fd;
}

static void files_keep_apart(void **state)
{
	const struct module files[2] = {{.fd = make_file(0)}, {.fd = make_file(1)}};
	uint8_t bytes[16];

	(void)state;
	srandom(1);
	for (unsigned int i = 0; i < 20000; i++) {
		const unsigned int file = (unsigned int)random() % 2;
		const uint64_t at = (uint64_t)random() % (FILE_SIZE - sizeof(bytes));

		assert_true(code_pages_file(&pages, &files[file], at, bytes, sizeof(bytes)));
		for (size_t k = 0; k < sizeof(bytes); k++)
			assert_int_equal(bytes[k], byte_at(at + k, file));
	}
	close(files[0].fd);
	close(files[1].fd);
}

static void a_file_ends_where_it_ends(void **state)
{
	const struct module file = {.fd = make_file(0)}, none = {.fd = -1};
	uint8_t bytes[16];

	(void)state;
	assert_true(code_pages_file(&pages, &file, FILE_SIZE - 16, bytes, 16));
	assert_false(code_pages_file(&pages, &file, FILE_SIZE - 15, bytes, 16));
	assert_false(code_pages_file(&pages, &file, FILE_SIZE + 100 * CODE_PAGE, bytes, 1));
	assert_false(code_pages_file(&pages, &none, 0, bytes, 1));
	close(file.fd);
}

static void memory_is_that_of_the_process(void **state)
{
	uint8_t *made = mmap(NULL, 3 * CODE_PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t bytes[16];

	(void)state;
	for (size_t i = 0; i < 3 * CODE_PAGE; i++)
		made[i] = byte_at(i, 2);
	munmap(made + 2 * CODE_PAGE, CODE_PAGE);
	assert_true(code_pages_live(&pages, NULL, getpid(), (uintptr_t)made + CODE_PAGE - 8, bytes,
				    sizeof(bytes)));
	for (size_t k = 0; k < sizeof(bytes); k++)
		assert_int_equal(bytes[k], byte_at(CODE_PAGE - 8 + k, 2));
	assert_false(code_pages_live(&pages, NULL, getpid(), (uintptr_t)made + 2 * CODE_PAGE - 8,
				     bytes, sizeof(bytes)));
	munmap(made, 2 * CODE_PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_keep_apart),
		cmocka_unit_test(a_file_ends_where_it_ends),
		cmocka_unit_test(memory_is_that_of_the_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
