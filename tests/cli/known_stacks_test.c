/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/known_stacks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "profile/process_table.h"
#include "unwind/space.h"

static const struct bobbin_frame frames[] = {
	{.pc = 1, .kernel = true, .exact = true},
	{.pc = 2, .source = BOBBIN_SOURCE_EH_FRAME},
	{.pc = 3, .source = BOBBIN_SOURCE_SFRAME},
};
static const struct stack_sample sample = {.frames = frames, .count = 3};

static bool is_known(const struct known_stacks *stacks, const struct stack_sample *of)
{
	uint32_t value;

	return known_stacks_find(stacks, of, &value);
}

static void what_was_added_is_known(void **state)
{
	const struct stack_sample callers = {.frames = frames + 1, .count = 2};
	const struct stack_sample none = {.frames = frames};
	struct known_stacks stacks = {0};
	uint32_t value = 7;

	assert_false(known_stacks_find(&stacks, &sample, &value));
	assert_int_equal(value, 7);
	assert_int_equal(known_stacks_add(&stacks, &sample, 1), 0);
	assert_int_equal(known_stacks_add(&stacks, &callers, 2), 0);
	assert_int_equal(known_stacks_add(&stacks, &none, 3), 0);
	assert_true(known_stacks_find(&stacks, &sample, &value));
	assert_int_equal(value, 1);
	assert_true(known_stacks_find(&stacks, &callers, &value));
	assert_int_equal(value, 2);
	assert_true(known_stacks_find(&stacks, &none, &value));
	assert_int_equal(value, 3);
	known_stacks_fini(&stacks);
	assert_false(is_known(&stacks, &sample));
}

static void stacks_differ_by_all_that_is_said_of_a_frame(void **state)
{
	const struct bobbin_frame others[] = {
		{.pc = 4, .source = BOBBIN_SOURCE_EH_FRAME},
		{.pc = 2, .source = BOBBIN_SOURCE_SFRAME},
		{.pc = 2, .source = BOBBIN_SOURCE_EH_FRAME, .exact = true},
		{.pc = 2, .source = BOBBIN_SOURCE_EH_FRAME, .kernel = true},
	};
	struct known_stacks stacks = {0};

	assert_int_equal(known_stacks_add(&stacks, &sample, 1), 0);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		const struct bobbin_frame changed[] = {frames[0], others[i], frames[2]};
		const struct stack_sample other = {.frames = changed, .count = 3};

		assert_false(is_known(&stacks, &other));
	}
	known_stacks_fini(&stacks);
}

static void other_programs_and_mappings_have_other_stacks(void **state)
{
	struct bobbin_space space = {.generation = 1};
	struct process process = {.program = 1, .space = &space};
	struct stack_sample own = sample;
	struct known_stacks stacks = {0};

	own.process = &process;
	assert_int_equal(known_stacks_add(&stacks, &own, 1), 0);
	assert_true(is_known(&stacks, &own));
	assert_false(is_known(&stacks, &sample));
	space.generation++;
	assert_false(is_known(&stacks, &own));
	space.generation--;
	process.program++;
	assert_false(is_known(&stacks, &own));
	known_stacks_fini(&stacks);
}

static void memory_is_bounded(void **state)
{
	struct bobbin_frame deep[256] = {0};
	const struct stack_sample own = {.frames = deep, .count = 256};
	struct known_stacks stacks = {0};

	for (uint32_t i = 0; i < 20000; i++) {
		deep[0].pc = i;
		assert_int_equal(known_stacks_add(&stacks, &own, i), 0);
		assert_true(is_known(&stacks, &own));
	}
	assert_true(stacks.room < 10000);
	assert_true(stacks.frame_room * sizeof(*deep) <= (size_t)64 << 20);
	known_stacks_fini(&stacks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_added_is_known),
		cmocka_unit_test(stacks_differ_by_all_that_is_said_of_a_frame),
		cmocka_unit_test(other_programs_and_mappings_have_other_stacks),
		cmocka_unit_test(memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
