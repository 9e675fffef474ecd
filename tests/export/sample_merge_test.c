/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/sample_merge.h"

#include "stacks.h"

#define NAMES 5
#define SAMPLES 1000

static struct profile *open_profile(void)
{
	const struct profile_event clock = {.name = "cpu-clock", .unit = "nanoseconds"};
	struct profile *p;
	uint32_t id;

	assert_int_equal(profile_open(true, &p), 0);
	assert_int_equal(profile_event(p, &clock, &id), 0);
	return p;
}

static uint32_t thread_of(struct profile *p, unsigned int number)
{
	const char name[] = {(char)('a' + number), '\0'};
	uint32_t id;

	assert_int_equal(
		profile_thread(p, &(struct profile_thread){.pid = 1, .tid = 1, .comm = name}, &id),
		0);
	return id;
}

static void add_sample(struct profile *p, unsigned int name, uint64_t time)
{
	const struct profile_sample sample = {
		.time = time, .weight = 1, .thread = thread_of(p, name)};

	assert_int_equal(profile_add(p, &sample), 0);
}

/* Of all names but the first one. */
static struct sample_merge *open_merge(struct profile *p, size_t count)
{
	uint32_t threads[NAMES];
	struct sample_merge *merge;

	for (unsigned int i = 1; i < NAMES; i++)
		threads[i - 1] = thread_of(p, i);
	assert_int_equal(sample_merge_open(p, threads, count, &merge), 0);
	return merge;
}

/* How many there are, in order. */
static size_t count_in_order(struct sample_merge *merge)
{
	struct profile_sample sample;
	uint64_t last = 0;
	size_t count = 0;
	int r;

	for (; (r = sample_merge_next(merge, &sample)) > 0; count++) {
		assert_true(sample.time >= last);
		last = sample.time;
	}
	assert_int_equal(r, 0);
	assert_int_equal(sample_merge_next(merge, &sample), 0);
	return count;
}

static void samples_come_in_order_and_again(void **state)
{
	struct profile *p = open_profile();
	struct sample_merge *merge;
	struct profile_sample sample;
	size_t expected = 0;

	for (unsigned int i = 0; i < SAMPLES; i++) {
		const unsigned int name = i * i % 7 % NAMES;

		add_sample(p, name, i / 2);
		expected += name != 0;
	}
	merge = open_merge(p, NAMES - 1);
	assert_int_equal(count_in_order(merge), expected);
	sample_merge_rewind(merge);
	assert_int_equal(sample_merge_next(merge, &sample), 1);
	sample_merge_rewind(merge);
	assert_int_equal(count_in_order(merge), expected);
	sample_merge_close(merge);
	profile_close(p);
}

static void no_threads_have_no_samples(void **state)
{
	struct profile *p = open_profile();
	struct sample_merge *merge = open_merge(p, 0);

	assert_int_equal(count_in_order(merge), 0);
	sample_merge_close(merge);
	merge = open_merge(p, NAMES - 1);
	assert_int_equal(count_in_order(merge), 0);
	sample_merge_close(merge);
	profile_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_come_in_order_and_again),
		cmocka_unit_test(no_threads_have_no_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
