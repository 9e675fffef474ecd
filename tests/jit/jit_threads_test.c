/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One thread appends, others look up: each row that they get is the right one. */
#include <bobbin/jit.h>

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/deps.h"
#include "jit/jit_table.h"
#include "own_memory.h"

#define TEXT 0x7f0000000000ull
#define STRIDE 64
#define SIZE 48 /* of a function: two rows, then no code */
#define SECOND 16
#define FUNCTIONS 30000u
#define READERS 3
#define AHEAD 100 /* readers also ask for what comes next */

struct race {
	const struct bobbin_arch *arch;
	struct code_jit_info info;
	struct bobbin_jit_table *table;
	atomic_uint appended;
	atomic_ulong found, wrong;
};

static int32_t cfa_of(unsigned int function, bool second)
{
	return (int32_t)(2 * function + second) * 8;
}

static int append(struct race *race, unsigned int function)
{
	const struct bobbin_sframe_row rows[] = {
		{0, bobbin_jit_rule_sp(race->arch, cfa_of(function, false), 0, 0)},
		{SECOND, bobbin_jit_rule_fp(race->arch, cfa_of(function, true), -24, -16)},
	};
	const struct bobbin_sframe_function f = {.start = TEXT + (uint64_t)function * STRIDE,
						 .size = SIZE,
						 .rows = rows,
						 .count = 2};

	return bobbin_jit_table_append(race->table, &f);
}

static bool is_right(const struct race *race, const struct bobbin_row *row, uint64_t off)
{
	unsigned int function = (unsigned int)(off / STRIDE);
	bool second = off % STRIDE >= SECOND;
	uint64_t start = TEXT + (uint64_t)function * STRIDE;

	return row->start == start + (second ? SECOND : 0) &&
	       row->end == start + (second ? SIZE : SECOND) && row->function == row->start &&
	       row->rule.cfa.off == cfa_of(function, second) &&
	       row->rule.cfa.reg == (second ? race->arch->fp : race->arch->sp) &&
	       row->rule.fp.off == (second ? -16 : 0);
}

static void look(struct race *race, uint64_t off, bool appended)
{
	const struct bobbin_mem mem = {read_own_memory, NULL};
	const struct jit_chain chain = {race->arch, &race->info, &mem, NULL};
	struct bobbin_row row;
	int status = jit_table_lookup(&chain, TEXT + off, &row);
	bool code = off % STRIDE < SIZE;

	if (status == -ENOENT ? appended && code : status || !code || !is_right(race, &row, off))
		atomic_fetch_add(&race->wrong, 1);
	if (!status)
		atomic_fetch_add_explicit(&race->found, 1, memory_order_relaxed);
}

static void *read_all_along(void *arg)
{
	struct race *race = arg;
	uint64_t random = 0x9e3779b97f4a7c15ull + (uintptr_t)&race;
	unsigned int appended = 0;

	while (appended < FUNCTIONS) {
		uint64_t off;

		appended = atomic_load_explicit(&race->appended, memory_order_acquire);
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		off = (random >> 33) % ((appended + AHEAD) * (uint64_t)STRIDE);
		look(race, off, off < appended * (uint64_t)STRIDE);
		look(race, appended * (uint64_t)STRIDE + off % 256, false);
	}
	return NULL;
}

static void every_row_that_is_read_while_others_are_added_is_right(void **state)
{
	static struct race race;
	pthread_t threads[READERS];

	(void)state;
	race.arch = BOBBIN_HOST_BIG_ENDIAN ? bobbin_arch_s390x() : bobbin_arch_amd64();
	assert_int_equal(
		bobbin_jit_table_open(race.arch, TEXT, (uint64_t)FUNCTIONS * STRIDE, &race.table),
		0);
	bobbin_jit_table_info(race.table, &race.info);
	for (unsigned int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_all_along, &race), 0);
	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		assert_int_equal(append(&race, i), 0);
		atomic_store_explicit(&race.appended, i + 1, memory_order_release);
		/* let the readers, on fewer processors, see tables of all lengths */
		if (i % 64 == 0)
			sched_yield();
	}
	for (unsigned int i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(race.wrong, 0);
	assert_true(race.found > 0);
	print_message("%lu rows\n", (unsigned long)race.found);
	for (unsigned int i = 0; i < FUNCTIONS; i++)
		look(&race, (uint64_t)i * STRIDE + i % STRIDE, true);
	assert_int_equal(race.wrong, 0);
	bobbin_jit_table_close(race.table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_that_is_read_while_others_are_added_is_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
