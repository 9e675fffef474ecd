/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Code that a process has made is there for a walk after its end, if it was kept. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bobbin/unwind.h>
#include <cmocka.h>

#include "unwind/code_pages.h"
#include "unwind/kept_code.h"
#include "unwind/module.h"
#include "unwind/space.h"

#define STACK UINT64_C(0x7f0000000000)
#define DEPTH 4
/* add $8,%rsp; ret */
#define INNER 0x100
/* call; leave; ret */
#define OUTER 0x200
#define RETURN (OUTER + 5)
/* Of pages; more than are kept. */
#define MANY 3000

static uint8_t *code;
static uint64_t words[8];

static int make_code(void **state)
{
	(void)state;
	code = mmap(NULL, CODE_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return -1;
	memcpy(code + INNER, "\x48\x83\xc4\x08\xc3", 5);
	memcpy(code + OUTER, "\xe8\xfb\xfe\xff\xff\xc9\xc3", 7);
	words[1] = (uintptr_t)code + RETURN;
	return 0;
}

static int unmap_code(void **state)
{
	(void)state;
	return munmap(code, CODE_PAGE);
}

/* A process that has the code. */
static pid_t start(void)
{
	const pid_t pid = fork();

	while (!pid)
		pause();
	assert_true(pid > 0);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

struct walker {
	struct bobbin_unwinder *unwinder;
	struct bobbin_space *space;
};

static struct walker open_walker(pid_t pid)
{
	const struct bobbin_mapping mapping = {
		.start = (uintptr_t)code, .end = (uintptr_t)code + CODE_PAGE, .path = ""};
	struct walker w;

	assert_int_equal(bobbin_unwinder_open(NULL, &w.unwinder), 0);
	assert_int_equal(bobbin_space_open(w.unwinder, bobbin_arch_amd64(), &w.space), 0);
	assert_int_equal(bobbin_space_map(w.space, &mapping), 0);
	w.space->live_pid = pid;
	return w;
}

static void close_walker(struct walker *w)
{
	bobbin_space_close(w->space);
	bobbin_unwinder_close(w->unwinder);
}

/* How many frames a walk from the inner function on has. */
static uint32_t walk(struct walker *w)
{
	struct bobbin_stack_copy copy = {
		.addr = STACK, .data = (const uint8_t *)words, .size = sizeof(words)};
	struct bobbin_mem mem = {bobbin_stack_copy_read, &copy};
	struct bobbin_frame frames[DEPTH];
	struct bobbin_trace trace = {.frames = frames, .max = DEPTH};
	uint64_t gpr[BOBBIN_REG_COUNT] = {[7] = STACK};
	const struct bobbin_regs regs = {
		.pc = (uintptr_t)code + INNER, .sp = STACK, .gpr = gpr, .exact = true};

	bobbin_unwind(w->unwinder, w->space, &regs, &mem, &trace);
	assert_true(trace.count < 2 || frames[1].pc == words[1]);
	return trace.count;
}

static void the_code_is_read_while_the_process_lives(void **state)
{
	const pid_t pid = start();
	struct walker w = open_walker(pid);

	(void)state;
	assert_int_equal(walk(&w), 2);
	end(pid);
	close_walker(&w);
}

static void without_it_there_is_no_caller(void **state)
{
	const pid_t pid = start();
	struct walker w = open_walker(pid);

	(void)state;
	end(pid);
	unwinder_keep_code(w.unwinder, w.space, words, 8);
	assert_int_equal(walk(&w), 1);
	close_walker(&w);
}

static void what_was_kept_is_there_after_the_end(void **state)
{
	const pid_t pid = start();
	struct walker w = open_walker(pid);

	(void)state;
	unwinder_keep_code(w.unwinder, w.space, words, 8);
	end(pid);
	assert_int_equal(walk(&w), 2);
	close_walker(&w);
}

/* Words that lead to no code, or to that of a process which must not be read. */
static void nothing_else_is_kept(void **state)
{
	const pid_t pid = start();
	const uint64_t others[] = {0, 1, UINT64_MAX, (uintptr_t)words, (uintptr_t)code + CODE_PAGE};
	struct walker w = open_walker(pid);

	(void)state;
	unwinder_keep_code(w.unwinder, w.space, others, sizeof(others) / sizeof(*others));
	w.space->live_pid = 0;
	unwinder_keep_code(w.unwinder, w.space, words, 8);
	w.space->live_pid = pid;
	end(pid);
	assert_int_equal(walk(&w), 1);
	close_walker(&w);
}

static void the_newest_pages_stay(void **state)
{
	struct kept_code *kept = kept_code_open();
	uint8_t *many = mmap(NULL, MANY * CODE_PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int there = 0;
	uint8_t bytes[16];

	(void)state;
	assert_non_null(kept);
	assert_true(many != MAP_FAILED);
	assert_false(kept_code_read(NULL, getpid(), (uintptr_t)many, bytes, 1));
	for (uint32_t i = 0; i < MANY; i++) {
		memset(many + i * CODE_PAGE, (int)(i % 251), CODE_PAGE);
		kept_code_add(kept, NULL, getpid(), (uintptr_t)many + i * CODE_PAGE + 1024);
		assert_true(
			kept_code_read(kept, getpid(), (uintptr_t)many + i * CODE_PAGE, bytes, 1));
		assert_int_equal(bytes[0], i % 251);
	}
	munmap(many, MANY * CODE_PAGE);
	for (uint32_t i = 0; i < MANY; i++)
		there += kept_code_read(kept, getpid(), (uintptr_t)many + i * CODE_PAGE, bytes, 1);
	assert_true(there > 500 && there <= 1024);
	assert_false(kept_code_read(kept, getpid() + 1, (uintptr_t)many + MANY * CODE_PAGE - 1,
				    bytes, 1));
	kept_code_close(kept);
}

/* What is looked at may begin on the page before, and end on the next one. */
static void what_is_around_is_kept(void **state)
{
	struct kept_code *kept = kept_code_open();
	uint8_t *pages = mmap(NULL, 4 * CODE_PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint64_t at = (uintptr_t)pages + CODE_PAGE;
	uint8_t bytes[16];

	(void)state;
	assert_non_null(kept);
	memset(pages, 7, 4 * CODE_PAGE);
	kept_code_add(kept, NULL, getpid(), at);
	assert_true(kept_code_read(kept, getpid(), at - 8, bytes, sizeof(bytes)));
	assert_int_equal(bytes[15], 7);
	assert_false(kept_code_read(kept, getpid(), at + CODE_PAGE - 8, bytes, sizeof(bytes)));
	kept_code_add(kept, NULL, getpid(), at + CODE_PAGE - 1);
	assert_true(kept_code_read(kept, getpid(), at + CODE_PAGE - 8, bytes, sizeof(bytes)));
	munmap(pages, 4 * CODE_PAGE);
	/* what cannot be read replaces nothing */
	kept_code_add(kept, NULL, getpid(), at);
	assert_true(kept_code_read(kept, getpid(), at, bytes, sizeof(bytes)));
	kept_code_close(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_code_is_read_while_the_process_lives),
		cmocka_unit_test(without_it_there_is_no_caller),
		cmocka_unit_test(what_was_kept_is_there_after_the_end),
		cmocka_unit_test(nothing_else_is_kept),
		cmocka_unit_test(the_newest_pages_stay),
		cmocka_unit_test(what_is_around_is_kept),
	};

	return cmocka_run_group_tests(tests, make_code, unmap_code);
}
