/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the mappings of stacks end: this process's. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/stack_top.h"
#include "unwind/stack_tops.h"

#define PAGE 4096
#define STACK (4 * PAGE)

static struct stack_tops tops;
static char *stack;
static uint64_t top;

/* A stack, and a page after it that nothing can be read of. */
static int map_stack(void **state)
{
	(void)state;
	memset(&tops, 0, sizeof(tops));
	stack = mmap(NULL, STACK + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	top = (uint64_t)(uintptr_t)stack + STACK;
	return stack == MAP_FAILED || mprotect(stack, STACK, PROT_READ | PROT_WRITE);
}

static int unmap_stack(void **state)
{
	(void)state;
	return munmap(stack, STACK + PAGE);
}

static uint64_t end_of(uint64_t zero)
{
	const struct remote_process self = {.pid = getpid()};

	return stack_top_end(&tops, &self, zero);
}

static void a_mapping_ends_within_a_few_words(void **state)
{
	(void)state;
	assert_int_equal(end_of(top - 8), top);
	assert_int_equal(end_of(top - TOP_SIZE), top);
	assert_int_equal(end_of(top - TOP_SIZE - 8), 0);
	assert_int_equal(end_of(top), 0);
}

static void what_can_be_read_goes_on(void **state)
{
	(void)state;
	assert_int_equal(mprotect((void *)(uintptr_t)top, PAGE, PROT_READ), 0);
	assert_int_equal(end_of(top - 8), 0);
}

static void a_file_is_no_stack(void **state)
{
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_ptr_not_equal(mmap(stack, STACK, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0),
			     MAP_FAILED);
	close(fd);
	assert_int_equal(end_of(top - 8), 0);
}

static void answers_are_kept(void **state)
{
	(void)state;
	assert_int_equal(end_of(top - 8), top);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(end_of(top - 8), top);
	assert_true(tops.read <= 2);
}

/* Unless the next second begins meanwhile, in which it is read. */
static void in_a_second_few_files_are_read(void **state)
{
	(void)state;
	assert_int_equal(end_of(top - 8), top);
	tops.read = STACK_TOPS_RATE;
	assert_true(!end_of(top - 16) || tops.read == 1);
	/* what is known is known */
	assert_int_equal(end_of(top - 8), top);
}

static void a_process_that_is_gone_has_none(void **state)
{
	const struct remote_process gone = {.pid = 0x3fffffff};

	(void)state;
	assert_int_equal(stack_top_end(&tops, &gone, top - 8), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, map_stack, unmap_stack)
	const struct CMUnitTest tests[] = {
		TEST(a_mapping_ends_within_a_few_words),
		TEST(what_can_be_read_goes_on),
		TEST(a_file_is_no_stack),
		TEST(answers_are_kept),
		TEST(in_a_second_few_files_are_read),
		TEST(a_process_that_is_gone_has_none),
	};

	return cmocka_run_group_tests_name("stack tops", tests, NULL, NULL);
}
