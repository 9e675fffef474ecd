/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples whose user part comes later: who gets it, in which order, and what is kept meanwhile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/perf_format.h"
#include "profile/process_table.h"

static void hold(struct deferred_samples *samples, uint32_t tid, uint64_t time, uint64_t cookie)
{
	uint64_t chain[] = {PERF_CONTEXT_KERNEL, time, PERF_FILE_CONTEXT_USER_DEFERRED, cookie};
	struct perf_event event = {
		.tid = tid,
		.time = time,
		.sample = {.ip = time, .period = 3, .callchain = chain, .callchain_nr = 4},
	};
	uint64_t found = 0;

	assert_true(perf_sample_is_deferred(&event.sample, &found));
	assert_int_equal(found, cookie);
	assert_int_equal(deferred_samples_hold(samples, &event, found), 0);
	memset(chain, 0xee, sizeof(chain));
}

/* The kernel's part is a copy, and all that is kept of the chain. */
static void assert_sample(struct deferred_sample *s, uint64_t time)
{
	assert_non_null(s);
	assert_int_equal(s->event.time, time);
	assert_int_equal(s->event.sample.ip, time);
	assert_int_equal(s->event.sample.period, 3);
	assert_int_equal(s->event.sample.callchain_nr, 2);
	assert_true(s->event.sample.callchain[0] == PERF_CONTEXT_KERNEL);
	assert_int_equal(s->event.sample.callchain[1], time);
	free(s);
}

static void a_chain_belongs_to_all_samples_of_its_thread_and_cookie(void **state)
{
	struct deferred_samples samples = {0};

	hold(&samples, 7, 1, 100);
	hold(&samples, 8, 2, 100);
	hold(&samples, 7, 3, 100);
	hold(&samples, 7, 4, 101);
	assert_sample(deferred_samples_take(&samples, 7, 100), 1);
	assert_sample(deferred_samples_take(&samples, 7, 100), 3);
	assert_null(deferred_samples_take(&samples, 7, 100));
	assert_null(deferred_samples_take(&samples, 9, 101));
	assert_sample(deferred_samples_take(&samples, 7, 101), 4);
	/* the last one is gone: the next comes after the one that is left */
	hold(&samples, 7, 5, 102);
	assert_sample(deferred_samples_drop(&samples, 0), 2);
	assert_sample(deferred_samples_drop(&samples, 0), 5);
	assert_null(deferred_samples_drop(&samples, 0));
	hold(&samples, 7, 6, 103);
	assert_sample(deferred_samples_take(&samples, 7, 103), 6);
	assert_int_equal(samples.count, 0);
}

static void the_oldest_are_given_up(void **state)
{
	struct deferred_samples samples = {0};

	for (uint64_t i = 0; i < DEFERRED_SAMPLES_MAX; i++)
		hold(&samples, 7, i, i);
	assert_null(deferred_samples_drop(&samples, DEFERRED_SAMPLES_MAX));
	hold(&samples, 7, DEFERRED_SAMPLES_MAX, 1);
	assert_sample(deferred_samples_drop(&samples, DEFERRED_SAMPLES_MAX), 0);
	assert_null(deferred_samples_drop(&samples, DEFERRED_SAMPLES_MAX));
	for (uint64_t i = 1; i <= DEFERRED_SAMPLES_MAX; i++)
		assert_sample(deferred_samples_drop(&samples, 0), i);
}

static void other_samples_are_not_deferred(void **state)
{
	const uint64_t chain[] = {PERF_CONTEXT_USER, 1, 2, PERF_FILE_CONTEXT_USER_DEFERRED};
	const struct perf_sample with_user = {.callchain = chain, .callchain_nr = 3},
				 cut = {.callchain = chain, .callchain_nr = 4}, none = {0};
	uint64_t cookie;

	assert_false(perf_sample_is_deferred(&with_user, &cookie));
	assert_false(perf_sample_is_deferred(&cut, &cookie));
	assert_false(perf_sample_is_deferred(&none, &cookie));
}

/* As the ring that it came from is written over. */
static void registers_and_the_stack_are_kept(void **state)
{
	uint64_t regs[] = {11, 12, 13}, stack[] = {21, 22, 23, 24},
		 chain[] = {PERF_CONTEXT_KERNEL, 5};
	struct perf_event event = {
		.tid = 7,
		.sample =
			{
				.callchain = chain,
				.callchain_nr = 2,
				.regs_abi = 2,
				.regs_mask = 0x111,
				.regs = regs,
				.stack = (const uint8_t *)stack,
				.stack_size = sizeof(stack),
				.dyn_size = sizeof(stack) - 8,
			},
	};
	struct deferred_samples samples = {0};
	struct deferred_sample *s;
	uint64_t value;

	assert_int_equal(deferred_samples_hold(&samples, &event, 0), 0);
	memset(regs, 0xee, sizeof(regs));
	memset(stack, 0xee, sizeof(stack));
	assert_true(samples.bytes > 8 * sizeof(uint64_t));
	s = deferred_samples_drop(&samples, 0);
	assert_int_equal(samples.bytes, 0);
	deferred_samples_add(&samples, s);
	s = deferred_samples_drop(&samples, 0);
	assert_true(perf_sample_reg(&s->event.sample, 4, &value));
	assert_int_equal(value, 12);
	assert_int_equal(s->event.sample.regs_abi, 2);
	assert_int_equal(s->event.sample.dyn_size, 24);
	assert_int_equal(s->event.sample.stack_size, 24);
	memcpy(&value, s->event.sample.stack + 16, sizeof(value));
	assert_int_equal(value, 23);
	assert_int_equal(s->event.sample.callchain[1], 5);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chain_belongs_to_all_samples_of_its_thread_and_cookie),
		cmocka_unit_test(the_oldest_are_given_up),
		cmocka_unit_test(registers_and_the_stack_are_kept),
		cmocka_unit_test(other_samples_are_not_deferred),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
