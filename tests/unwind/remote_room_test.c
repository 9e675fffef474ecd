/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The registered code of all processes shares one limit of memory. */
#include <bobbin/code_page.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <errno.h>

#include "base/native_arch.h"
#include "codemap/page_copy.h"
#include "unwind/remote_update.h"
#include "unwind/space.h"

#define ENTRIES 1000
#define FITTING 100

static struct bobbin_code_page *page;
static struct bobbin_unwinder *unwinder;

/* A page of this process, and of the children that it forks. */
static int forge_page(void **state)
{
	struct bobbin_code_entry *entries = calloc(ENTRIES, sizeof(*entries));
	int fd = memfd_create(BOBBIN_CODE_PAGE_NAME, MFD_CLOEXEC);

	if (!entries || fd < 0 || ftruncate(fd, sizeof(*page)))
		return -1;
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (page == MAP_FAILED)
		return -1;
	for (unsigned int i = 0; i < ENTRIES; i++)
		entries[i] = (struct bobbin_code_entry){
			.id = i + 1,
			.kind = BOBBIN_CODE_NAMED,
			.text_start = 0x100000000 + i * 64,
			.text_end = 0x100000000 + i * 64 + 64,
		};
	*page = (struct bobbin_code_page){
		.version = BOBBIN_CODE_PAGE_VERSION,
		.header_size = sizeof(*page),
		.entry_size = sizeof(*entries),
		.pid = (uint32_t)getpid(),
		.changes = 1,
		.entries = (uintptr_t)entries,
		.entry_max = ENTRIES,
		.entry_count = ENTRIES,
	};
	page->magic = BOBBIN_CODE_PAGE_MAGIC;
	return bobbin_unwinder_open(NULL, &unwinder);
}

static int close_all(void **state)
{
	bobbin_unwinder_close(unwinder);
	free((void *)(uintptr_t)page->entries);
	munmap(page, sizeof(*page));
	return 0;
}

static struct bobbin_space *open_space(void)
{
	struct bobbin_space *space;

	assert_int_equal(bobbin_space_open(unwinder, native_arch(), &space), 0);
	return space;
}

static size_t update(struct bobbin_space *space, struct remote_room *room)
{
	assert_int_equal(remote_code_update(space, getpid(), REMOTE_PAGE, room), 1);
	return space->remote->count;
}

static void two_processes_share_one_room(void **state)
{
	struct remote_room room = {.limit = (FITTING + 20) * PAGE_COPY_ENTRY_BYTES};
	struct bobbin_space *first = open_space(), *second = open_space();

	assert_int_equal(update(first, &room), FITTING + 20);
	assert_int_equal(room.left_out, ENTRIES - FITTING - 20);
	assert_int_equal(update(second, &room), 0);
	assert_int_equal(room.left_out, 2 * ENTRIES - FITTING - 20);
	assert_true(room.used <= room.limit);
	bobbin_space_close(first);
	assert_int_equal(room.used, 0);
	page->changes++;
	assert_int_equal(update(second, &room), FITTING + 20);
	bobbin_space_close(second);
	assert_int_equal(room.used, 0);
}

static void update_may_take_what_the_space_has(void **state)
{
	struct remote_room room = {.limit = ENTRIES * PAGE_COPY_ENTRY_BYTES};
	struct bobbin_space *space = open_space();

	assert_int_equal(update(space, &room), ENTRIES);
	page->changes++;
	assert_int_equal(update(space, &room), ENTRIES);
	assert_int_equal(room.used, room.limit);
	assert_int_equal(room.left_out, 0);
	bobbin_space_close(space);
}

/* Kept sections may exceed the room when others of the process grow. */
static void kept_sections_make_no_room(void **state)
{
	struct remote_room room = {.limit = 10 * PAGE_COPY_ENTRY_BYTES};
	struct bobbin_code_entry *entries = (struct bobbin_code_entry *)page->entries;
	const struct bobbin_code_entry first = entries[0], last = entries[9];
	struct bobbin_space *space = open_space();
	static const uint8_t section[1 << 20];

	entries[0].kind = entries[9].kind = BOBBIN_CODE_SFRAME;
	entries[0].table = entries[9].table = (uintptr_t)section;
	entries[0].table_size = 64;
	entries[9].table_size = sizeof(section);
	page->entry_count = 1;
	page->changes++;
	assert_int_equal(update(space, &room), 1);
	assert_int_equal(room.used, PAGE_COPY_ENTRY_BYTES + 64);
	page->entry_count = 10;
	page->changes++;
	assert_int_equal(update(space, &room), 10);
	assert_int_equal(room.used, 10 * PAGE_COPY_ENTRY_BYTES + 64);
	assert_int_equal(room.left_out, 1);
	bobbin_space_close(space);
	entries[0] = first;
	entries[9] = last;
	page->entry_count = ENTRIES;
	page->changes++;
}

static pid_t fork_sleeper(void)
{
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	assert_true(pid > 0);
	return pid;
}

static void forked_child_shares_until_its_page_changes(void **state)
{
	struct remote_room room = {.limit = 3 * ENTRIES * PAGE_COPY_ENTRY_BYTES};
	struct bobbin_space *space = open_space(), *copy;
	uint64_t used;
	pid_t child;

	assert_int_equal(update(space, &room), ENTRIES);
	used = room.used;
	child = fork_sleeper();
	assert_int_equal(bobbin_space_fork(space, &copy), 0);
	assert_int_equal(remote_code_update(copy, child, REMOTE_SOURCES, &room), 0);
	assert_ptr_equal(copy->remote, space->remote);
	assert_int_equal(room.used, used);
	page->changes++;
	assert_int_equal(remote_code_update(copy, child, REMOTE_SOURCES, &room), 1);
	assert_ptr_not_equal(copy->remote, space->remote);
	assert_int_equal(copy->remote->count, ENTRIES);
	assert_int_equal(room.used, 2 * used);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	bobbin_space_close(copy);
	bobbin_space_close(space);
	assert_int_equal(room.used, 0);
}

/* A generation that children hold is not given back when its space gets a new one. */
static void what_children_hold_counts(void **state)
{
	struct remote_room room = {.limit = 2 * ENTRIES * PAGE_COPY_ENTRY_BYTES};
	struct bobbin_space *space = open_space(), *copies[4];

	assert_int_equal(update(space, &room), ENTRIES);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(bobbin_space_fork(space, &copies[i]), 0);
		page->changes++;
		update(space, &room);
		assert_true(room.used <= room.limit);
	}
	assert_true(room.left_out);
	for (unsigned int i = 0; i < 4; i++)
		bobbin_space_close(copies[i]);
	bobbin_space_close(space);
	assert_int_equal(room.used, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_processes_share_one_room),
		cmocka_unit_test(update_may_take_what_the_space_has),
		cmocka_unit_test(forked_child_shares_until_its_page_changes),
		cmocka_unit_test(what_children_hold_counts),
		cmocka_unit_test(kept_sections_make_no_room),
	};

	return cmocka_run_group_tests(tests, forge_page, close_all);
}
