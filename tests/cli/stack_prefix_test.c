/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/stack_prefix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MOST 8

/* PCs from the outermost frame on, as many as are not 0. */
static size_t keep(struct stack_prefix *prefix, const uint64_t pcs[MOST])
{
	struct bobbin_frame frames[MOST] = {0};
	struct stack_sample sample = {.frames = frames};

	while (sample.count < MOST && pcs[sample.count])
		sample.count++;
	for (size_t i = 0; i < sample.count; i++)
		frames[sample.count - 1 - i].pc = pcs[i];
	return stack_prefix_keep(prefix, &sample);
}

static void add(struct stack_prefix *prefix, uint64_t pc, bool lasting)
{
	const struct bobbin_frame frame = {.pc = pc};

	assert_int_equal(stack_prefix_add(prefix, &frame, lasting, (uint32_t)pc), 0);
}

static void what_begins_alike_is_kept(void **state)
{
	struct stack_prefix prefix = {0};

	assert_int_equal(keep(&prefix, (uint64_t[MOST]){1, 2, 3}), 0);
	for (uint64_t pc = 1; pc <= 3; pc++)
		add(&prefix, pc, true);
	assert_int_equal(keep(&prefix, (uint64_t[MOST]){1, 2, 4, 5}), 2);
	assert_int_equal(prefix.frames[1].value, 2);
	add(&prefix, 4, true);
	add(&prefix, 5, true);
	/* the end of one is the whole other */
	assert_int_equal(keep(&prefix, (uint64_t[MOST]){1, 2, 4}), 3);
	assert_int_equal(keep(&prefix, (uint64_t[MOST]){7}), 0);
	assert_int_equal(prefix.count, 0);
	stack_prefix_fini(&prefix);
}

static void what_may_change_is_not_kept(void **state)
{
	struct stack_prefix prefix = {0};

	add(&prefix, 1, true);
	add(&prefix, 2, false);
	add(&prefix, 3, true);
	assert_int_equal(keep(&prefix, (uint64_t[MOST]){1, 2, 3}), 1);
	stack_prefix_fini(&prefix);
}

static void other_mappings_are_another_stack(void **state)
{
	struct stack_prefix prefix = {.generation = 1};

	add(&prefix, 1, true);
	assert_int_equal(keep(&prefix, (uint64_t[MOST]){1}), 0);
	stack_prefix_fini(&prefix);
}

static void frames_that_differ_in_more_than_the_pc_differ(void **state)
{
	const struct bobbin_frame kernel = {.pc = 1, .kernel = true};
	const struct bobbin_frame gap = {.pc = 1, .source = BOBBIN_SOURCE_LEFT_OUT};
	struct stack_prefix prefix = {0};

	assert_int_equal(stack_prefix_add(&prefix, &kernel, true, 0), 0);
	assert_int_equal(keep(&prefix, (uint64_t[MOST]){1}), 0);
	assert_int_equal(stack_prefix_add(&prefix, &gap, true, 0), 0);
	assert_int_equal(keep(&prefix, (uint64_t[MOST]){1}), 0);
	stack_prefix_fini(&prefix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_begins_alike_is_kept),
		cmocka_unit_test(what_may_change_is_not_kept),
		cmocka_unit_test(other_mappings_are_another_stack),
		cmocka_unit_test(frames_that_differ_in_more_than_the_pc_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
