/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The page as its writer leaves it, in the own process. */
#include "codemap/page_writer.h"
#include "core/deps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>

static int open_page(void **state)
{
	struct page_writer *p;

	if (page_writer_open(&p))
		return -1;
	*state = p;
	return 0;
}

static int close_page(void **state)
{
	page_writer_close(*state);
	return 0;
}

static struct bobbin_code_entry entry_of(uint64_t n)
{
	return (struct bobbin_code_entry){
		.sequence = 77,
		.id = n,
		.kind = BOBBIN_CODE_SFRAME,
		.flags = 0,
		.text_start = n << 12,
		.text_end = (n << 12) + 100,
		.table = n << 20,
		.table_size = n + 1,
		.table_addr = n << 21,
		.identity = n << 4,
		.dropped = 78,
	};
}

static const struct bobbin_code_entry *entry_at(struct page_writer *p, uint32_t number)
{
	const struct bobbin_code_page *page = page_writer_page(p);

	return (const struct bobbin_code_entry *)(uintptr_t)page->entries + number;
}

static void assert_told(struct page_writer *p, uint32_t number, uint64_t n)
{
	struct bobbin_code_entry expected = entry_of(n);

	expected.sequence = entry_at(p, number)->sequence;
	expected.dropped = 0;
	assert_int_equal(expected.sequence % 2, 0);
	assert_memory_equal(entry_at(p, number), &expected, sizeof(expected));
}

static void new_page_says_what_it_is(void **state)
{
	const struct bobbin_code_page *page = page_writer_page(*state);

	assert_true(page->magic == BOBBIN_CODE_PAGE_MAGIC);
	if (!BOBBIN_HOST_BIG_ENDIAN)
		assert_memory_equal(&page->magic, "bobncode", 8);
	assert_int_equal(page->version, 1);
	assert_int_equal(page->header_size, sizeof(*page));
	assert_int_equal(page->entry_size, sizeof(struct bobbin_code_entry));
	assert_int_equal(page->pid, getpid());
	assert_int_equal(page->sequence % 2, 0);
	assert_int_equal(page->entry_count, 0);
	assert_true(page->entry_max > 0);
	assert_true(page->probe == (uintptr_t)bobbin_code_changed);
}

static void page_is_a_mapping_of_the_known_name(void **state)
{
	const struct bobbin_code_page *page = page_writer_page(*state);
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned int named = 0;
	char line[512];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		if (!strstr(line, BOBBIN_CODE_PAGE_NAME))
			continue;
		assert_true(strtoull(line, NULL, 16) == (uintptr_t)page);
		assert_non_null(strstr(line, "rw-p"));
		named++;
	}
	fclose(maps);
	assert_int_equal(named, 1);
}

static void added_entry_has_all_that_was_said(void **state)
{
	struct page_writer *p = *state;
	const struct bobbin_code_page *page = page_writer_page(p);
	struct bobbin_code_entry entry = entry_of(5);
	uint64_t changes = page->changes;
	uint32_t number;

	assert_int_equal(page_writer_add(p, &entry, &number), 0);
	assert_int_equal(number, 0);
	assert_int_equal(page->entry_count, 1);
	assert_true(page->changes > changes);
	assert_told(p, number, 5);
}

static void removed_entry_is_free_and_its_number_used_again(void **state)
{
	struct page_writer *p = *state;
	const struct bobbin_code_page *page = page_writer_page(p);
	struct bobbin_code_entry entries[3] = {entry_of(1), entry_of(2), entry_of(3)};
	uint32_t numbers[3], again;
	uint64_t changes, sequence;

	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(page_writer_add(p, &entries[i], &numbers[i]), 0);
	changes = page->changes;
	sequence = entry_at(p, numbers[1])->sequence;
	page_writer_remove(p, numbers[1]);
	assert_int_equal(entry_at(p, numbers[1])->kind, BOBBIN_CODE_FREE);
	assert_int_equal(entry_at(p, numbers[1])->sequence, sequence + 2);
	assert_true(page->changes > changes);

	assert_int_equal(page_writer_add(p, &entries[0], &again), 0);
	assert_int_equal(again, numbers[1]);
	assert_int_equal(page->entry_count, 3);
	assert_told(p, numbers[0], 1);
	assert_told(p, numbers[1], 1);
	assert_told(p, numbers[2], 3);
}

static void dropped_is_said_once_and_not_of_the_next_in_its_place(void **state)
{
	struct page_writer *p = *state;
	struct bobbin_code_entry entry = entry_of(9);
	uint64_t changes;
	uint32_t number, again;

	assert_int_equal(page_writer_add(p, &entry, &number), 0);
	changes = page_writer_page(p)->changes;
	page_writer_dropped(p, number, 0x123);
	assert_true(page_writer_page(p)->changes > changes);
	changes = page_writer_page(p)->changes;
	page_writer_dropped(p, number, 0x456);
	assert_int_equal(entry_at(p, number)->dropped, 0x123);
	assert_true(page_writer_page(p)->changes == changes);

	page_writer_remove(p, number);
	assert_int_equal(page_writer_add(p, &entry, &again), 0);
	assert_int_equal(again, number);
	assert_told(p, again, 9);
}

static void many_entries_stay_where_they_are(void **state)
{
	enum {
		COUNT = 150000
	};
	struct page_writer *p = *state;
	const struct bobbin_code_page *page = page_writer_page(p);
	uint64_t entries = page->entries, sequence = page->sequence;

	for (uint32_t i = 0; i < COUNT; i++) {
		struct bobbin_code_entry entry = entry_of(i);
		uint32_t number;

		assert_int_equal(page_writer_add(p, &entry, &number), 0);
		assert_int_equal(number, i);
		assert_true(page->entry_count <= page->entry_max);
	}
	assert_true(page->entries == entries);
	assert_true(page->sequence > sequence && page->sequence % 2 == 0);
	for (uint32_t i = 0; i < COUNT; i++)
		assert_told(p, i, i);
}

static void full_page_takes_no_more(void **state)
{
	struct page_writer *p = *state;
	struct bobbin_code_entry entry = entry_of(1);
	uint32_t number = 7;
	int r;

	for (uint32_t i = 0; i < PAGE_WRITER_MAX_ENTRIES; i++)
		assert_int_equal(page_writer_add(p, &entry, &number), 0);
	number = 7;
	r = page_writer_add(p, &entry, &number);
	assert_int_equal(r, -ENOSPC);
	assert_int_equal(number, 7);
	page_writer_remove(p, 1000);
	assert_int_equal(page_writer_add(p, &entry, &number), 0);
	assert_int_equal(number, 1000);
}

static void forked_child_has_a_page_of_its_own(void **state)
{
	struct page_writer *p = *state;
	const struct bobbin_code_page *page = page_writer_page(p);
	struct bobbin_code_entry first = entry_of(1), second = entry_of(2);
	uint32_t number;
	int status;
	pid_t child;

	assert_int_equal(page_writer_add(p, &first, &number), 0);
	child = fork();
	if (!child) {
		bool was_parents = page->pid == (uint32_t)getppid();
		uint64_t changes = page->changes;

		page_writer_forked(p);
		if (!was_parents || page->pid != (uint32_t)getpid() || page->changes <= changes)
			_exit(1);
		page_writer_remove(p, 0);
		if (page_writer_add(p, &second, &number) || page_writer_add(p, &second, &number) ||
		    number != 1)
			_exit(2);
		_exit(entry_at(p, 0)->id == 2 ? 0 : 3);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(page->pid, getpid());
	assert_int_equal(page->entry_count, 1);
	assert_told(p, 0, 1);
}

static void half_an_entry_of_the_parents_is_free_in_the_child(void **state)
{
	struct page_writer *p = *state;
	struct bobbin_code_page *page = (struct bobbin_code_page *)page_writer_page(p);
	struct bobbin_code_entry entry = entry_of(1);
	struct bobbin_code_entry *told;
	uint32_t number;

	assert_int_equal(page_writer_add(p, &entry, &number), 0);
	assert_int_equal(page_writer_add(p, &entry, &number), 0);
	told = (struct bobbin_code_entry *)entry_at(p, number);
	told->sequence++;
	page->sequence++;
	page_writer_forked(p);
	assert_int_equal(page->sequence % 2, 0);
	assert_int_equal(told->sequence % 2, 0);
	assert_int_equal(told->kind, BOBBIN_CODE_FREE);
	assert_told(p, 0, 1);
}

int main(void)
{
	/* QEMU calls whatever is right after the program "[heap]": that is to be the heap */
	void *heap = sbrk(sysconf(_SC_PAGESIZE));

	(void)heap;
#define PAGE_TEST(name) cmocka_unit_test_setup_teardown(name, open_page, close_page)
	const struct CMUnitTest tests[] = {
		PAGE_TEST(new_page_says_what_it_is),
		PAGE_TEST(page_is_a_mapping_of_the_known_name),
		PAGE_TEST(added_entry_has_all_that_was_said),
		PAGE_TEST(removed_entry_is_free_and_its_number_used_again),
		PAGE_TEST(dropped_is_said_once_and_not_of_the_next_in_its_place),
		PAGE_TEST(many_entries_stay_where_they_are),
		PAGE_TEST(full_page_takes_no_more),
		PAGE_TEST(forked_child_has_a_page_of_its_own),
		PAGE_TEST(half_an_entry_of_the_parents_is_free_in_the_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
