/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Distances between samples are exponentially distributed, and weights make the sum of all bytes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "shim/byte_countdown.h"

#define DRAWS 400000
#define MEAN 524288

static void the_mean_is_what_was_asked_for(void **state)
{
	uint64_t random = 1;
	double sum = 0, squares = 0;

	(void)state;
	for (int i = 0; i < DRAWS; i++) {
		double drawn = (double)countdown_draw(&random, MEAN);

		sum += drawn;
		squares += drawn * drawn;
	}
	/* of an exponential distribution the variance is the mean's square: six standard errors */
	assert_true(fabs(sum / DRAWS / MEAN - 1) < 6 / sqrt(DRAWS));
	assert_true(fabs(squares / DRAWS / MEAN / MEAN - 2) < 6 * sqrt(20.0 / DRAWS));
}

static void each_distance_is_as_frequent_as_it_should_be(void **state)
{
	static const double quantiles[] = {0.01, 0.1, 0.5, 1, 2, 4, 7};
	const int count = sizeof(quantiles) / sizeof(*quantiles);
	uint64_t random = 7;
	int below[sizeof(quantiles) / sizeof(*quantiles)] = {0};

	(void)state;
	for (int i = 0; i < DRAWS; i++) {
		double drawn = (double)countdown_draw(&random, MEAN) / MEAN;

		for (int k = 0; k < count; k++)
			below[k] += drawn < quantiles[k];
	}
	for (int k = 0; k < count; k++) {
		double share = -expm1(-quantiles[k]), error = sqrt(share * (1 - share) / DRAWS);

		assert_true(fabs((double)below[k] / DRAWS - share) < 6 * error + 1.0 / MEAN);
	}
}

/* As the library and the recorder do: the one counts down, the other weighs. */
static void weights_of_any_size_make_the_sum(void **state)
{
	static const uint64_t sizes[] = {1, 24, 4000, 300000, MEAN, 3 * MEAN};

	(void)state;
	for (int k = 0; k < 6; k++) {
		const uint64_t size = sizes[k], blocks = 2000 * (uint64_t)MEAN / size + 4000;
		const double chance = -expm1(-(double)size / MEAN);
		uint64_t random = 99 + size, left = countdown_draw(&random, MEAN), sampled = 0;

		for (uint64_t i = 0; i < blocks; i++) {
			if (size < left) {
				left -= size;
				continue;
			}
			left = countdown_draw(&random, MEAN);
			sampled++;
		}
		assert_true(fabs((double)sampled / chance / (double)blocks - 1) <
			    6 * sqrt((1 - chance) / chance / (double)blocks) + 1e-3);
	}
}

static void small_means_are_followed(void **state)
{
	uint64_t random = 3;

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(countdown_draw(&random, 0), 1);
	for (int i = 0; i < 1000; i++)
		assert_in_range(countdown_draw(&random, 1), 1, 41);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_mean_is_what_was_asked_for),
		cmocka_unit_test(each_distance_is_as_frequent_as_it_should_be),
		cmocka_unit_test(weights_of_any_size_make_the_sum),
		cmocka_unit_test(small_means_are_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
