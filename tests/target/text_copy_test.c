/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which pages of a process's text are a copy of the file's, by a child that has moved some. */
#include "target/text_copy.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory_origin.h"

#define PAGE 4096
#define PAGES 6

/* Six pages of code that nobody runs. */
__asm__(".pushsection .text, \"ax\"\n"
	".balign 4096\n"
	".globl moved_text\n"
	"moved_text:\n"
	".rept 6144\n"
	".long 0x90909090 + (. - moved_text)\n"
	".endr\n"
	".popsection\n");
extern char moved_text[];

struct found {
	struct bobbin_mapping list[8];
	size_t count;
	char path[256];
};

static int note(void *ctx, const struct bobbin_mapping *mapping)
{
	struct found *found = ctx;

	assert_true(found->count < 8);
	strncpy(found->path, mapping->path, sizeof(found->path) - 1);
	found->list[found->count++] = *mapping;
	return 0;
}

static void *other_memory(int fd, size_t size)
{
	return mmap(moved_text, size, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_FIXED | (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED), fd, 0);
}

/* What was told is not told again. */
static void search_again(const struct remote_process *process, const struct found *found)
{
	struct file_table files = {0};
	struct mapping_list maps = {.files = &files};
	struct found again = {0};

	for (size_t i = 0; i < found->count; i++) {
		struct bobbin_mapping mapping = found->list[i];

		mapping.path = found->path;
		assert_int_equal(mapping_list_add(&maps, &mapping, NULL), 0);
	}
	assert_int_equal(text_copies_find(process, &maps, note, &again), 0);
	assert_int_equal(again.count, 0);
	if (found->count)
		assert_int_equal(
			mapping_list_remove(&maps, found->list[0].start, found->list[0].end), 0);
	assert_int_equal(text_copies_find(process, &maps, note, &again), 0);
	assert_int_equal(again.count, found->count ? 1 : 0);
	mapping_list_fini(&maps);
	file_table_fini(&files);
}

/* What is found of a child whose text is copied, but for one byte of each page in @patched. */
static struct found find(bool in_file, const char *patched)
{
	struct remote_process process = {0};
	struct found found = {0};
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	process.pid = fork();
	if (!process.pid) {
		static char copy[PAGES * PAGE];
		int fd = in_file ? memfd_create("text", 0) : -1;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		memcpy(copy, moved_text, sizeof(copy));
		if ((fd >= 0 && ftruncate(fd, sizeof(copy))) ||
		    other_memory(fd, sizeof(copy)) == MAP_FAILED)
			_exit(1);
		memcpy(moved_text, copy, sizeof(copy));
		for (; *patched; patched++)
			moved_text[PAGE * (*patched - '0') + 1000] ^= 1;
		close(ready[0]);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 0);
	close(ready[0]);
	assert_int_equal(text_copies_find(&process, NULL, note, &found), 0);
	search_again(&process, &found);
	kill(process.pid, SIGKILL);
	waitpid(process.pid, NULL, 0);
	return found;
}

static void check(const struct found *found, size_t i, unsigned int from, unsigned int to)
{
	const struct bobbin_mapping *m = &found->list[i];

	assert_true(i < found->count);
	assert_int_equal(m->start, (uintptr_t)moved_text + from * PAGE);
	assert_int_equal(m->end, (uintptr_t)moved_text + to * PAGE);
	assert_int_equal(m->offset - found->list[0].offset, m->start - found->list[0].start);
	assert_true(m->ino);
	assert_non_null(strstr(found->path, "text_copy_test"));
}

static void copy_is_the_files_code(void **state)
{
	for (int in_file = 0; in_file < 2; in_file++) {
		struct found found = find(in_file, "");

		assert_int_equal(found.count, 1);
		check(&found, 0, 0, PAGES);
	}
}

static void page_that_differs_is_not(void **state)
{
	struct found found = find(false, "24");

	assert_int_equal(found.count, 3);
	check(&found, 0, 0, 2);
	check(&found, 1, 3, 4);
	check(&found, 2, 5, 6);
	found = find(true, "05");
	assert_int_equal(found.count, 1);
	check(&found, 0, 1, 5);
	found = find(false, "012345");
	assert_int_equal(found.count, 0);
}

static void names_of_memory(void **state)
{
	static const struct {
		const char *name;
		enum memory_origin origin;
	} names[] = {
		{"", MEMORY_BARE},
		{"//anon", MEMORY_BARE},
		{"[heap]", MEMORY_BARE},
		{"[stack]", MEMORY_BARE},
		{"[anon:code]", MEMORY_BARE},
		{"[anon_shmem:code]", MEMORY_BARE},
		{"/dev/zero (deleted)", MEMORY_BARE},
		{"/anon_hugepage (deleted)", MEMORY_BARE},
		{"/SYSV00000000 (deleted)", MEMORY_BARE},
		{"/memfd:code (deleted)", MEMORY_SHARED},
		{"/dev/shm/code", MEMORY_SHARED},
		{"/dev/shm/code (deleted)", MEMORY_SHARED},
		{"/tmp/code (deleted)", MEMORY_DELETED},
		{"/usr/lib/libc.so.6", MEMORY_FILE},
		{"/tmp/ (deleted).so", MEMORY_FILE},
		{"[vdso]", MEMORY_KERNEL},
		{"[vsyscall]", MEMORY_KERNEL},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		enum memory_origin origin = names[i].origin;

		assert_int_equal(memory_origin(names[i].name), origin);
		assert_int_equal(memory_may_be_made(names[i].name),
				 origin == MEMORY_BARE || origin == MEMORY_SHARED ||
					 origin == MEMORY_DELETED);
		assert_int_equal(memory_has_no_file(names[i].name),
				 origin == MEMORY_BARE || origin == MEMORY_SHARED);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copy_is_the_files_code),
		cmocka_unit_test(page_that_differs_is_not),
		cmocka_unit_test(names_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
