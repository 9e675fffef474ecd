/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/process_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define SIZE ((size_t)3 << 20) /* more than is read at once */
#define PIECES 5000            /* more than are asked for at once */
#define PAGE ((size_t)4096)
#define LATE_MS 20
#define LATE_DEADLINE_MS 200
#define LATE_PAGES ((size_t)200) /* four times what the budget lasts for */

static uint8_t *memory;
static struct remote_process process;

/* A child with a copy of our memory. */
static int open_process(void **state)
{
	memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || process_reader_open(10000, &process.reader))
		return -1;
	for (size_t i = 0; i < SIZE; i++)
		memory[i] = (uint8_t)(i * 7 + i / 4096);
	process.pid = fork();
	if (!process.pid)
		for (;;)
			pause();
	return process.pid > 0 ? 0 : -1;
}

static int close_process(void **state)
{
	kill(process.pid, SIGKILL);
	waitpid(process.pid, NULL, 0);
	process_reader_close(process.reader);
	return 0;
}

static void large_piece_is_read_whole(void **state)
{
	uint8_t *copy = malloc(SIZE);

	assert_non_null(copy);
	assert_int_equal(process_read(&process, (uintptr_t)memory, copy, SIZE), 0);
	assert_memory_equal(copy, memory, SIZE);
	free(copy);
}

static void many_pieces_have_errors_of_their_own(void **state)
{
	struct process_read *reads = calloc(PIECES, sizeof(*reads));
	uint64_t *words = calloc(PIECES, sizeof(*words));

	assert_non_null(reads);
	assert_non_null(words);
	for (size_t i = 0; i < PIECES; i++)
		reads[i] = (struct process_read){i % 10 ? (uintptr_t)memory + 8 * i : 8, &words[i],
						 i % 11 ? sizeof(*words) : 0, 1};
	process_read_all(&process, reads, PIECES);
	for (size_t i = 0; i < PIECES; i++) {
		assert_int_equal(reads[i].error, i % 10 || !(i % 11) ? 0 : -EFAULT);
		if (i % 10 && i % 11)
			assert_memory_equal(&words[i], memory + 8 * i, sizeof(*words));
		else
			assert_int_equal(words[i], 0);
	}
	free(words);
	free(reads);
}

static void process_that_has_ended_is_no_process(void **state)
{
	struct remote_process gone = process;
	pid_t child = fork();
	uint64_t word;

	if (!child)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	gone.pid = child;
	assert_int_equal(process_read(&gone, (uintptr_t)memory, &word, sizeof(word)), -ESRCH);
	assert_int_equal(process_reader_stats(process.reader).given_up, 0);
}

static void files_come_as_they_are(void **state)
{
	char own[4], text[4];
	struct stat st, expected;
	int fd = process_file_open(&process, "/proc/self/exe", 0, &st);

	/* "self" is the helper, which runs the same program */
	assert_true(fd >= 0);
	assert_int_equal(stat("/proc/self/exe", &expected), 0);
	assert_int_equal(st.st_ino, expected.st_ino);
	assert_int_equal(read(fd, own, 4), 4);
	assert_memory_equal(own, "\177ELF", 4);
	close(fd);
	fd = process_text_open(&process, "/proc/self/comm");
	assert_true(fd >= 0);
	assert_true(read(fd, text, sizeof(text)) > 0);
	close(fd);
	assert_int_equal(process_file_open(&process, "/nowhere", 0, NULL), -ENOENT);
}

/* A writer to the FIFO would see that it is opened. */
static void fifo_is_not_opened(void **state)
{
	char folder[] = "/tmp/reader.XXXXXX", path[64];

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/fifo", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(process_file_open(&process, path, 0, NULL), -ENOENT);
	assert_int_equal(process_file_open(&process, "/dev/null", 0, NULL), -ENOENT);
	assert_int_equal(process_file_open(&process, folder, 0, NULL), -ENOENT);
	unlink(path);
	rmdir(folder);
}

/* Give each page of @area, when it is missed, but late.  Does not return. */
static void answer_late(void *area, size_t size, int ready)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {
		.range = {(uintptr_t)area, size},
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffd_msg message;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range))
		_exit(77);
	if (write(ready, "", 1) != 1)
		_exit(1);
	while (read(fd, &message, sizeof(message)) == sizeof(message)) {
		uint64_t page = message.arg.pagefault.address & ~(uint64_t)(PAGE - 1);
		struct uffdio_zeropage zero = {.range = {page, PAGE}};

		nanosleep(&(struct timespec){.tv_nsec = LATE_MS * 1000000}, NULL);
		ioctl(fd, UFFDIO_ZEROPAGE, &zero);
	}
	_exit(1);
}

/* A process that answers late; false: it may not. */
static bool start_late(void *area, size_t size, pid_t *ret)
{
	int ends[2];
	bool ready;
	char byte;

	assert_int_equal(pipe(ends), 0);
	*ret = fork();
	if (!*ret) {
		close(ends[0]);
		answer_late(area, size, ends[1]);
	}
	close(ends[1]);
	ready = read(ends[0], &byte, 1) == 1;
	close(ends[0]);
	return ready;
}

/* Each answer is in time, but together they take too long. */
static void process_that_always_answers_late_is_given_up(void **state)
{
	struct remote_process late;
	size_t size = LATE_PAGES * PAGE, answers = 0;
	uint8_t *area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
	uint64_t word;
	int r = 0;

	assert_ptr_not_equal(area, MAP_FAILED);
	assert_int_equal(process_reader_open(LATE_DEADLINE_MS, &late.reader), 0);
	if (!start_late(area, size, &late.pid)) {
		waitpid(late.pid, NULL, 0);
		print_message("userfaultfd is not allowed here\n");
		skip();
	}
	while (!r && answers < LATE_PAGES) {
		r = process_read(&late, (uintptr_t)area + answers * PAGE, &word, sizeof(word));
		answers += !r;
	}
	assert_int_equal(r, -ETIMEDOUT);
	assert_true(answers > 0);
	assert_int_equal(process_reader_stats(late.reader).given_up, 1);
	kill(late.pid, SIGKILL);
	waitpid(late.pid, NULL, 0);
	/* a process that answers at once is read as before */
	late.pid = process.pid;
	assert_int_equal(process_read(&late, (uintptr_t)memory, &word, sizeof(word)), 0);
	process_reader_close(late.reader);
	munmap(area, size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_piece_is_read_whole),
		cmocka_unit_test(many_pieces_have_errors_of_their_own),
		cmocka_unit_test(process_that_has_ended_is_no_process),
		cmocka_unit_test(files_come_as_they_are),
		cmocka_unit_test(fifo_is_not_opened),
		cmocka_unit_test(process_that_always_answers_late_is_given_up),
	};

	return cmocka_run_group_tests(tests, open_process, close_process);
}
