/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A child appends, its parent looks up in the child's memory: each row is the right one. */
#include <bobbin/jit.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/native_arch.h"
#include "jit/jit_table.h"

#define TEXT 0x7f0000000000ull
#define SIZE 32
#define FUNCTIONS 100000u
#define PAUSE 64 /* functions that are added at once */
#define AHEAD 20

/* Memory that both processes share. */
struct progress {
	uint32_t appended; /* stored with release, loaded with acquire */
	bool ready, stop;
	struct code_jit_info info;
};

static bool is_set(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static int append_all(struct progress *progress)
{
	struct bobbin_jit_table *table;

	if (bobbin_jit_table_open(native_arch(), TEXT, (uint64_t)FUNCTIONS * SIZE, &table))
		return 1;
	bobbin_jit_table_info(table, &progress->info);
	__atomic_store_n(&progress->ready, true, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < FUNCTIONS && !is_set(&progress->stop); i++) {
		const struct bobbin_sframe_row row = {
			0, bobbin_jit_rule_sp(native_arch(), 8 * (int32_t)i, -24, -16)};
		const struct bobbin_sframe_function f = {
			.start = TEXT + (uint64_t)i * SIZE, .size = SIZE, .rows = &row, .count = 1};

		if (bobbin_jit_table_append(table, &f))
			return 1;
		__atomic_store_n(&progress->appended, i + 1, __ATOMIC_RELEASE);
		if (i % PAUSE == 0)
			usleep(100);
	}
	/* the tables are looked at up to the end */
	while (!is_set(&progress->stop))
		usleep(1000);
	return 0;
}

static enum bobbin_reason read_child(void *ctx, uint64_t addr, void *dst, size_t len)
{
	const struct iovec local = {dst, len}, remote = {(void *)(uintptr_t)addr, len};

	return process_vm_readv(*(pid_t *)ctx, &local, 1, &remote, 1, 0) == (ssize_t)len
		       ? BOBBIN_REASON_NONE
		       : BOBBIN_REASON_NO_MEMORY;
}

static void look(pid_t child, const struct progress *progress, uint32_t function, bool appended)
{
	const struct bobbin_mem mem = {read_child, &child};
	const struct jit_chain chain = {native_arch(), &progress->info, &mem, NULL};
	const uint64_t start = TEXT + (uint64_t)function * SIZE;
	struct bobbin_row row;
	int status = jit_table_lookup(&chain, start + 7, &row);

	if (status) {
		assert_int_equal(status, -ENOENT);
		assert_false(appended);
		return;
	}
	assert_int_equal(row.start, start);
	assert_int_equal(row.end, start + SIZE);
	assert_int_equal(row.rule.cfa.off, 8 * function);
	assert_int_equal(row.rule.ra.off, -24);
	assert_int_equal(row.rule.fp.off, -16);
}

static void rows_of_another_process_are_right_while_it_adds_more(void **state)
{
	struct progress *progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int looks = 0;
	uint32_t appended = 0;
	int status;
	pid_t child;

	(void)state;
	assert_ptr_not_equal(progress, MAP_FAILED);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		_exit(append_all(progress));
	while (!is_set(&progress->ready))
		usleep(100);
	while (appended < FUNCTIONS && looks < 20000) {
		appended = __atomic_load_n(&progress->appended, __ATOMIC_ACQUIRE);
		if (appended)
			look(child, progress, (uint32_t)rand() % appended, true);
		look(child, progress, appended + (uint32_t)rand() % AHEAD, false);
		looks++;
	}
	__atomic_store_n(&progress->stop, true, __ATOMIC_RELEASE);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	print_message("%u looks, %u functions\n", looks, (unsigned int)appended);
	munmap(progress, sizeof(*progress));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_another_process_are_right_while_it_adds_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
