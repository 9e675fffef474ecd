/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/cpu_budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* after those */
#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

/* One second, of which so many per cent were used. */
static uint32_t pass(struct cpu_budget *budget, uint64_t percent)
{
	return cpu_budget_take(budget, budget->used_ns + percent * SECOND / 100,
			       budget->at_ns + SECOND);
}

static void it_samples_less_when_it_takes_too_much(void **state)
{
	struct cpu_budget budget = {.limit = 2, .most = 19, .frequency = 19};

	assert_int_equal(pass(&budget, 2), 19);
	assert_int_equal(pass(&budget, 3), 9);
	assert_int_equal((int)(budget.used + 0.5), 3);
	assert_int_equal(pass(&budget, 100), 4);
	assert_int_equal(pass(&budget, 100), 2);
	assert_int_equal(pass(&budget, 100), 1);
	assert_int_equal(pass(&budget, 100), 1);
}

static void it_samples_more_again_but_not_more_than_asked_for(void **state)
{
	static const uint32_t raised[] = {8, 16, 19, 19};
	struct cpu_budget budget = {.limit = 10, .most = 19, .frequency = 4};

	for (int i = 0; i < 10; i++)
		assert_int_equal(pass(&budget, 5), 4);
	for (int i = 0; i < 4; i++) {
		uint32_t before = budget.frequency;

		for (int k = 0; k < 3; k++)
			assert_int_equal(pass(&budget, 3), before);
		assert_int_equal(pass(&budget, 0), raised[i]);
	}
}

static void a_burst_begins_the_wait_anew(void **state)
{
	struct cpu_budget budget = {.limit = 10, .most = 19, .frequency = 4};

	for (int i = 0; i < 10; i++) {
		pass(&budget, 1);
		pass(&budget, 1);
		pass(&budget, 1);
		assert_int_equal(pass(&budget, 6), 4);
	}
}

static void without_a_limit_it_only_counts(void **state)
{
	struct cpu_budget budget = {.most = 19, .frequency = 19};

	assert_int_equal(pass(&budget, 90), 19);
	assert_int_equal((int)(budget.used + 0.5), 90);
}

static void no_time_is_no_interval(void **state)
{
	struct cpu_budget budget = {.limit = 1, .most = 19, .frequency = 19, .at_ns = 5};

	assert_int_equal(cpu_budget_take(&budget, 100, 5), 19);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_samples_less_when_it_takes_too_much),
		cmocka_unit_test(it_samples_more_again_but_not_more_than_asked_for),
		cmocka_unit_test(a_burst_begins_the_wait_anew),
		cmocka_unit_test(without_a_limit_it_only_counts),
		cmocka_unit_test(no_time_is_no_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
