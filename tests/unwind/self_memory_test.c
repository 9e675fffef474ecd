/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "unwind/self_memory.h"

#define PIECE 4096u

static uint8_t *map_pages(size_t count, int protection)
{
	uint8_t *pages = mmap(NULL, count * (size_t)sysconf(_SC_PAGESIZE), protection,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	return pages;
}

static enum bobbin_reason read_new(uint64_t addr, void *dst, size_t len)
{
	struct self_memory memory;

	self_memory_init(&memory);
	return self_memory_read(&memory, addr, dst, len);
}

static void what_is_there_is_read(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *pages = map_pages(4, PROT_READ | PROT_WRITE), bytes[64];
	struct self_memory memory;

	for (size_t i = 0; i < 4 * page; i++)
		pages[i] = (uint8_t)(i * 7 + (i >> 8));
	self_memory_init(&memory);
	for (size_t len = 1; len <= sizeof(bytes); len++)
		for (size_t i = 0; i + len <= 4 * page; i += 61) {
			assert_int_equal(self_memory_read(&memory, (uint64_t)pages + i, bytes, len),
					 0);
			assert_memory_equal(bytes, pages + i, len);
		}
	munmap(pages, 4 * page);
}

static void what_is_not_there_is_refused(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *pages = map_pages(3, PROT_READ | PROT_WRITE);
	uint64_t word = 1, start = (uint64_t)pages + page;
	static const uint64_t nowhere[] = {
		0, 8, 0x7ffffffffff8, 0x800000000000, 0xffffffffff600000, -8ull, -1ull, -4096ull};

	assert_int_equal(mprotect(pages, page, PROT_NONE), 0);
	assert_int_equal(munmap(pages + 2 * page, page), 0);
	for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++)
		assert_int_equal(read_new(nowhere[i], &word, sizeof(word)),
				 BOBBIN_REASON_NO_MEMORY);
	for (size_t back = 1; back < 8; back++) {
		assert_int_equal(read_new(start - back, &word, sizeof(word)),
				 BOBBIN_REASON_NO_MEMORY);
		assert_int_equal(read_new(start + page - back, &word, sizeof(word)),
				 BOBBIN_REASON_NO_MEMORY);
	}
	assert_int_equal(word, 1);
	assert_int_equal(read_new(start, &word, sizeof(word)), BOBBIN_REASON_NONE);
	assert_int_equal(read_new(start + page - 8, &word, sizeof(word)), BOBBIN_REASON_NONE);
	assert_int_equal(word, 0);
	munmap(pages, 2 * page);
}

/* More places than are remembered, in turns. */
static void places_far_apart_are_read_in_turns(void **state)
{
	uint64_t *pages[7], word;
	struct self_memory memory;

	self_memory_init(&memory);
	for (uint64_t i = 0; i < 7; i++) {
		pages[i] = aligned_alloc(PIECE, 8 * PIECE);
		assert_non_null(pages[i]);
		pages[i][3] = i;
	}
	for (uint64_t i = 0; i < 7000; i++) {
		uint64_t at = (uint64_t)&pages[i * i % 7][3];

		assert_int_equal(self_memory_read(&memory, at, &word, sizeof(word)), 0);
		assert_int_equal(word, i * i % 7);
	}
	for (uint64_t i = 0; i < 7; i++)
		free(pages[i]);
}

static void errno_is_left_alone(void **state)
{
	uint64_t word;

	errno = 1234;
	assert_int_equal(read_new(8, &word, sizeof(word)), BOBBIN_REASON_NO_MEMORY);
	assert_int_equal(errno, 1234);
}

static void nothing_to_read_is_always_there(void **state)
{
	assert_int_equal(read_new(0, NULL, 0), BOBBIN_REASON_NONE);
}

/* A fiber's stack may be where the C library put the first thread's data. */
static void the_first_thread_s_data_are_no_stack(void **state)
{
	uint64_t beside = (uint64_t)__builtin_thread_pointer() - 64, here = (uint64_t)&beside;
	struct self_memory memory;

	self_memory_init(&memory);
	self_memory_trust(&memory, beside);
	assert_false(self_memory_near(&memory, beside, 8));
	self_memory_trust(&memory, here);
	assert_true(self_memory_near(&memory, here, 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* first: what is learnt of the stack is kept */
		cmocka_unit_test(the_first_thread_s_data_are_no_stack),
		cmocka_unit_test(what_is_there_is_read),
		cmocka_unit_test(what_is_not_there_is_refused),
		cmocka_unit_test(places_far_apart_are_read_in_turns),
		cmocka_unit_test(errno_is_left_alone),
		cmocka_unit_test(nothing_to_read_is_always_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
