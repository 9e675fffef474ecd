/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A child publishes, this process reads. */
#include "codemap/page_copy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>

#include "codemap/page_writer.h"

/* A child that does one step of a test for each byte that it receives. */
struct child {
	pid_t pid;
	int to, from;
	struct page_copy code;
};

static void answer(int fd)
{
	if (write(fd, "", 1) != 1)
		_exit(9);
}

static void await(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		_exit(0);
}

typedef void (*child_part)(struct page_writer *p, int in, int out);

static struct child start(child_part part)
{
	struct child c = {0};
	int to[2], from[2];

	assert_int_equal(pipe(to), 0);
	assert_int_equal(pipe(from), 0);
	c.pid = fork();
	assert_true(c.pid >= 0);
	if (!c.pid) {
		struct page_writer *p = NULL;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(to[1]);
		close(from[0]);
		if (part && page_writer_open(&p))
			_exit(8);
		if (part)
			part(p, to[0], from[1]);
		answer(from[1]);
		await(to[0]);
		_exit(0);
	}
	close(to[0]);
	close(from[1]);
	c.to = to[1];
	c.from = from[0];
	page_copy_init(&(struct remote_process){NULL, c.pid}, &c.code);
	return c;
}

/* Wait until the child has come to its next answer(). */
static void await_child(struct child *c)
{
	char byte;

	assert_int_equal(read(c->from, &byte, 1), 1);
}

static void tell_child(struct child *c)
{
	assert_int_equal(write(c->to, "", 1), 1);
}

static void stop(struct child *c)
{
	page_copy_fini(&c->code);
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	close(c->to);
	close(c->from);
}

/* All fields follow from the number, so that a mixture of two shows. */
static struct bobbin_code_entry entry_of(uint64_t n)
{
	return (struct bobbin_code_entry){
		.id = n,
		.kind = 1 + n % 3,
		.flags = (uint32_t)n,
		.text_start = n << 12,
		.text_end = (n << 12) + 1 + n % 4096,
		.table = n << 20 | 1,
		.table_size = n ^ 0x5555,
		.table_addr = n * 0x10001,
	};
}

static void assert_is_entry(const struct page_range *range, uint64_t n)
{
	struct bobbin_code_entry expected = entry_of(n);

	expected.sequence = range->entry.sequence;
	assert_memory_equal(&range->entry, &expected, sizeof(expected));
}

static void publish(struct page_writer *p, uint64_t n)
{
	struct bobbin_code_entry entry = entry_of(n);
	uint32_t number;

	if (page_writer_add(p, &entry, &number))
		_exit(7);
}

static void publish_nothing(struct page_writer *p, int in, int out)
{
}

static void publish_in_disorder(struct page_writer *p, int in, int out)
{
	publish(p, 30);
	publish(p, 10);
	publish(p, 20);
	answer(out);
	await(in);
	page_writer_remove(p, 1);
	publish(p, 40);
	answer(out);
	await(in);
	page_writer_dropped(p, 0, 0x1234);
}

static void process_without_a_page_has_none(void **state)
{
	struct child c = start(NULL);

	await_child(&c);
	assert_int_equal(page_copy_update(&c.code), -ENOENT);
	assert_int_equal(page_copy_update(&c.code), -ENOENT);
	stop(&c);
	assert_int_equal(page_copy_update(&c.code), -ESRCH);
}

static void empty_page_is_news_once(void **state)
{
	struct child c = start(publish_nothing);

	await_child(&c);
	assert_int_equal(page_copy_update(&c.code), 1);
	assert_int_equal(c.code.count, 0);
	assert_true(c.code.page != 0);
	assert_int_equal(page_copy_update(&c.code), 0);
	stop(&c);
}

static void ranges_come_in_order_and_follow_changes(void **state)
{
	struct child c = start(publish_in_disorder);

	await_child(&c);
	assert_int_equal(page_copy_update(&c.code), 1);
	assert_int_equal(c.code.count, 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_is_entry(&c.code.ranges[i], 10 * (i + 1));
	assert_int_equal(page_copy_update(&c.code), 0);

	tell_child(&c);
	await_child(&c);
	assert_int_equal(page_copy_update(&c.code), 1);
	assert_int_equal(c.code.count, 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_is_entry(&c.code.ranges[i], 10 * (i + 2));

	tell_child(&c);
	await_child(&c);
	assert_int_equal(page_copy_update(&c.code), 1);
	assert_int_equal(c.code.ranges[1].entry.dropped, 0x1234);
	stop(&c);
	assert_int_equal(page_copy_update(&c.code), -ESRCH);
}

/* Mappings that have the name, but are no page: garbage, unreadable, too short. */
static void publish_after_decoys(struct page_writer *p, int in, int out)
{
	void *near = (void *)0x10000000; /* before the page, where mappings are */

	for (int i = 0; i < 3; i++, near = (char *)near + 0x10000) {
		int fd = memfd_create("x-bobbin-code-x", 0);

		if (fd < 0 || ftruncate(fd, i < 2 ? 4096 : 0) ||
		    mmap(near, 4096, i ? PROT_READ : PROT_NONE, MAP_SHARED | MAP_FIXED_NOREPLACE,
			 fd, 0) != near)
			_exit(4);
	}
	publish(p, 1);
}

static void page_is_found_after_others_of_its_name(void **state)
{
	struct child c = start(publish_after_decoys);

	await_child(&c);
	assert_int_equal(page_copy_update(&c.code), 1);
	assert_int_equal(c.code.count, 1);
	assert_is_entry(&c.code.ranges[0], 1);
	stop(&c);
}

static void publish_and_lie(struct page_writer *p, int in, int out)
{
	struct bobbin_code_page *page = (struct bobbin_code_page *)page_writer_page(p);

	publish(p, 1);
	answer(out);
	await(in);
	page->version = 99;
	page->changes++;
}

static void page_that_makes_no_sense_any_more_takes_its_code_along(void **state)
{
	struct child c = start(publish_and_lie);

	await_child(&c);
	assert_int_equal(page_copy_update(&c.code), 1);
	tell_child(&c);
	await_child(&c);
	assert_int_equal(page_copy_update(&c.code), 1);
	assert_int_equal(c.code.count, 0);
	assert_int_equal(page_copy_update(&c.code), -EBADMSG);
	stop(&c);
}

static void *make_identity(struct bobbin_code_identity head, const char *bytes)
{
	char *made;

	head.size = sizeof(head) + 64;
	made = calloc(1, head.size);
	if (!made)
		_exit(7);
	memcpy(made, &head, sizeof(head));
	memcpy(made + sizeof(head), bytes, 20);
	return made;
}

static void publish_identities(struct page_writer *p, int in, int out)
{
	void *all[] = {
		make_identity((struct bobbin_code_identity){.elf_start = 0x1000,
							    .elf_end = 0x3000,
							    .debug_link_crc = 0xabcdef01,
							    .path_len = 8,
							    .build_id_len = 4,
							    .debug_link_len = 5},
			      "/tmp/lib\1\2\3\4debug..."),
		make_identity((struct bobbin_code_identity){.path_len = 3}, "abc................."),
		make_identity((struct bobbin_code_identity){.path_len = PAGE_COPY_MAX_STRING + 1},
			      "too long............"),
		make_identity((struct bobbin_code_identity){.path_len = 10, .build_id_len = 21},
			      "too long............"),
		make_identity((struct bobbin_code_identity){.path_len = 60, .build_id_len = 5},
			      "does not fit........"),
		make_identity((struct bobbin_code_identity){.path_len = 3},
			      "a\0c................."),
		(void *)0x10, /* it does not exist */
	};

	for (uint64_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct bobbin_code_entry entry = entry_of(i + 1);
		uint32_t number;

		entry.identity = (uintptr_t)all[i];
		if (page_writer_add(p, &entry, &number))
			_exit(7);
	}
	answer(out);
	await(in);
	memset(all[1], 0, sizeof(struct bobbin_code_identity));
	publish(p, 99);
}

static void assert_identities(const struct page_copy *code)
{
	const struct page_range *r = code->ranges;

	assert_int_equal(r[0].image.start, 0x1000);
	assert_int_equal(r[0].image.end, 0x3000);
	assert_string_equal(r[0].image.path, "/tmp/lib");
	assert_string_equal(r[0].debug_link, "debug");
	assert_int_equal(r[0].debug_link_crc, 0xabcdef01);
	assert_int_equal(r[0].image.build_id_len, 4);
	assert_memory_equal(r[0].image.build_id, "\1\2\3\4", 4);
	assert_string_equal(r[1].image.path, "abc");
	assert_null(r[1].debug_link);
	assert_int_equal(r[1].image.build_id_len, 0);
	for (unsigned int i = 2; i < 7; i++) {
		assert_null(r[i].image.path);
		assert_null(r[i].debug_link);
		assert_int_equal(r[i].image.build_id_len, 0);
	}
}

static void identities_come_along_and_senseless_ones_do_not(void **state)
{
	struct child c = start(publish_identities);

	await_child(&c);
	assert_int_equal(page_copy_update(&c.code), 1);
	assert_int_equal(c.code.count, 7);
	assert_identities(&c.code);
	tell_child(&c);
	await_child(&c);
	/* known registrations are not read again */
	assert_int_equal(page_copy_update(&c.code), 1);
	assert_int_equal(c.code.count, 8);
	assert_identities(&c.code);
	stop(&c);
}

static void fork_and_wait(struct page_writer *p, int in, int out)
{
	pid_t child;

	publish(p, 1);
	child = fork();
	if (child) {
		/* the reader learns of the grandchild, which continues */
		if (write(out, &child, sizeof(child)) != sizeof(child))
			_exit(6);
		for (;;)
			pause();
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	await(in);
	page_writer_forked(p);
	publish(p, 2);
}

static void forked_child_is_read_before_and_after_it_knows(void **state)
{
	struct child c = start(fork_and_wait);
	struct page_copy own;
	pid_t grandchild;

	assert_int_equal(read(c.from, &grandchild, sizeof(grandchild)), sizeof(grandchild));
	page_copy_init(&(struct remote_process){NULL, grandchild}, &own);
	assert_int_equal(page_copy_update(&own), 1);
	assert_int_equal(own.count, 1);
	assert_int_equal(own.page_pid, c.pid);
	assert_is_entry(&own.ranges[0], 1);

	tell_child(&c);
	await_child(&c);
	assert_int_equal(page_copy_update(&own), 1);
	assert_int_equal(own.count, 2);
	assert_int_equal(own.page_pid, grandchild);
	assert_int_equal(page_copy_update(&c.code), 1);
	assert_int_equal(c.code.count, 1);
	assert_int_equal(c.code.page_pid, c.pid);
	page_copy_fini(&own);
	stop(&c);
}

static void publish_and_exec(struct page_writer *p, int in, int out)
{
	publish(p, 1);
	answer(out);
	await(in);
	/* "cat" goes on where this process was: it waits for input */
	dup2(in, 0);
	dup2(out, 1);
	execlp("cat", "cat", NULL);
	_exit(5);
}

static void exec_takes_the_page_away(void **state)
{
	struct child c = start(publish_and_exec);

	await_child(&c);
	assert_int_equal(page_copy_update(&c.code), 1);
	tell_child(&c);
	tell_child(&c);
	await_child(&c); /* cat's */
	assert_int_equal(page_copy_update(&c.code), 1);
	assert_int_equal(c.code.count, 0);
	assert_int_equal(page_copy_update(&c.code), -ENOENT);
	stop(&c);
}

/*
 * Ranges 1..STABLE stay.  Others are added and removed as fast as possible, and the array
 * grows now and then.
 */
enum {
	STABLE = 300,
	CHANGING = 64
};

static void change_for_ever(struct page_writer *p, int in, int out)
{
	uint32_t numbers[CHANGING];
	uint64_t n;

	for (n = 1; n <= STABLE; n++)
		publish(p, n);
	for (unsigned int i = 0; i < CHANGING; i++, n++) {
		struct bobbin_code_entry entry = entry_of(n);

		if (page_writer_add(p, &entry, &numbers[i]))
			_exit(7);
	}
	answer(out);
	for (unsigned int i = 0;; i = (i + 1) % CHANGING, n++) {
		struct bobbin_code_entry entry = entry_of(n);

		page_writer_remove(p, numbers[i]);
		if (page_writer_add(p, &entry, &numbers[i]))
			_exit(7);
		if (n % 100000 == 0)
			publish(p, n);
	}
}

static void no_entry_is_a_mixture_however_fast_they_change(void **state)
{
	struct child c = start(change_for_ever);
	unsigned int reads = 0, changing = 0;

	await_child(&c);
	for (; reads < 2000; reads++) {
		int r = page_copy_update(&c.code);

		/* 0: the child had to wait for a processor */
		assert_true(r == 0 || r == 1 || r == -EAGAIN);
		assert_true(c.code.count >= STABLE);
		for (unsigned int i = 0; i < STABLE; i++)
			assert_is_entry(&c.code.ranges[i], i + 1);
		for (size_t i = STABLE; i < c.code.count; i++, changing++)
			assert_is_entry(&c.code.ranges[i], c.code.ranges[i].entry.id);
	}
	/* most of them can be read */
	print_message("%u of %u changing entries were read\n", changing, reads * CHANGING);
	assert_true(changing > reads);
	stop(&c);
}

/* Where a sandbox allows no memory files; here there are no descriptors for them. */
static void publish_in_anonymous_memory(struct page_writer *p, int in, int out)
{
	const struct rlimit none = {0, 0};
	int r;

	page_writer_close(p);
	if (setrlimit(RLIMIT_NOFILE, &none))
		_exit(3);
	r = page_writer_open(&p);
	if (write(out, &r, sizeof(r)) != sizeof(r))
		_exit(6);
	if (!r)
		publish(p, 1);
}

static void anonymous_memory_serves_where_it_can_have_a_name(void **state)
{
	struct child c = start(publish_in_anonymous_memory);
	int r;

	assert_int_equal(read(c.from, &r, sizeof(r)), sizeof(r));
	await_child(&c);
	/* -EINVAL: without names from the kernel the page cannot be found */
	assert_true(r == 0 || r == -EINVAL);
	if (r) {
		assert_int_equal(page_copy_update(&c.code), -ENOENT);
	} else {
		assert_int_equal(page_copy_update(&c.code), 1);
		assert_int_equal(c.code.count, 1);
		assert_is_entry(&c.code.ranges[0], 1);
	}
	stop(&c);
}

static void foreign_processes_are_refused(void **state)
{
	struct page_copy code;
	int r;

	if (geteuid() != 0) {
		page_copy_init(&(struct remote_process){NULL, 1}, &code);
		assert_int_equal(page_copy_update(&code), -EPERM);
		return;
	}
	r = fork();
	assert_true(r >= 0);
	if (!r) {
		page_copy_init(&(struct remote_process){NULL, getppid()}, &code);
		if (setuid(65534))
			_exit(1);
		_exit(page_copy_update(&code) == -EPERM ? 0 : 2);
	}
	assert_int_equal(waitpid(r, &r, 0) > 0, 1);
	assert_int_equal(r, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(process_without_a_page_has_none),
		cmocka_unit_test(empty_page_is_news_once),
		cmocka_unit_test(ranges_come_in_order_and_follow_changes),
		cmocka_unit_test(page_is_found_after_others_of_its_name),
		cmocka_unit_test(page_that_makes_no_sense_any_more_takes_its_code_along),
		cmocka_unit_test(identities_come_along_and_senseless_ones_do_not),
		cmocka_unit_test(forked_child_is_read_before_and_after_it_knows),
		cmocka_unit_test(exec_takes_the_page_away),
		cmocka_unit_test(no_entry_is_a_mixture_however_fast_they_change),
		cmocka_unit_test(anonymous_memory_serves_where_it_can_have_a_name),
		cmocka_unit_test(foreign_processes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
