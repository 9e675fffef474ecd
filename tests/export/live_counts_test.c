/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts fade, and what would be too much is counted more coarsely. */
#include "stacks.h"

#include "export/live_counts.h"

static struct report *counts_begin(void)
{
	struct report *counts;

	assert_int_equal(report_open(&counts), 0);
	return counts;
}

static void add(struct report *counts, const char *process, const char *comm, const char *text,
		uint64_t weight)
{
	struct stack stack;

	stack_init(&stack, text);
	assert_int_equal(live_counts_add(counts, process, comm, stack.frames, stack.n, weight), 0);
}

static size_t nodes(const struct report *counts)
{
	return call_tree_size(report_tree(counts));
}

static uint64_t total(const struct report *counts)
{
	return call_tree_total(report_tree(counts));
}

/* Weights of a function: what it has itself, and what it is in. */
static struct report_weights {
	uint64_t self, all;
} weights_of(const struct report *counts, const char *name)
{
	const struct call_tree *tree = report_tree(counts);
	struct report_weights sum = {0};

	for (uint32_t i = 1; i < call_tree_size(tree); i++) {
		const struct call_node *node = call_tree_node(tree, i);
		const struct call_frame *frame = call_tree_frame(tree, node->frame);

		if (frame->kind == FRAME_COMMAND || strcmp(frame->name, name) != 0)
			continue;
		sum.self += node->self;
		sum.all += node->total;
	}
	return sum;
}

static bool has_process(const struct report *counts, const char *process)
{
	const struct call_tree *tree = report_tree(counts);

	for (uint32_t i = 0; i < call_tree_frames(tree); i++)
		if (call_tree_frame(tree, i)->kind == FRAME_COMMAND &&
		    !strcmp(call_tree_frame(tree, i)->dso, process))
			return true;
	return false;
}

static void an_interval_leaves_seven_eighths(void **state)
{
	struct report *counts = counts_begin();

	add(counts, "12", "app", "main;a;b", 800);
	add(counts, "12", "app", "main;a", 1600);
	assert_int_equal(live_counts_fade(counts, false), 0);
	assert_int_equal(total(counts), 2100);
	assert_int_equal(weights_of(counts, "a").self, 1400);
	assert_int_equal(weights_of(counts, "a").all, 2100);
	assert_int_equal(weights_of(counts, "b").self, 700);
	assert_true(has_process(counts, "12"));
	assert_int_equal(live_counts_fade(counts, true), 0);
	assert_int_equal(total(counts), 0);
	assert_int_equal(nodes(counts), 1);
	report_close(counts);
}

static void what_ran_long_ago_is_gone(void **state)
{
	struct report *counts = counts_begin();

	add(counts, "1", "old", "main;once", 1000000);
	for (int i = 0; i < 200; i++) {
		add(counts, "2", "app", "main;often", 1000000);
		assert_int_equal(live_counts_fade(counts, false), 0);
	}
	assert_int_equal(weights_of(counts, "once").self, 0);
	assert_false(has_process(counts, "1"));
	assert_int_equal(nodes(counts), 4);
	assert_true(total(counts) > 6900000 && total(counts) < 7100000);
	report_close(counts);
}

static void the_levels_of_a_recursion_stay(void **state)
{
	struct report *counts = counts_begin();
	const struct call_tree *tree;

	add(counts, "1", "app", "main;r;r;r;leaf", 1000);
	assert_int_equal(live_counts_fade(counts, false), 0);
	tree = report_tree(counts);
	assert_int_equal(call_tree_size(tree), 5);
	assert_int_equal(call_tree_node(tree, 3)->levels, 3);
	report_close(counts);
}

/* A compiler run by make, once more and again. */
static void short_processes_are_one_by_name(void **state)
{
	struct report *counts = counts_begin();
	char process[16];

	for (unsigned int i = 0; i < 60000; i++) {
		snprintf(process, sizeof(process), "%u", 100 + i);
		add(counts, process, "cc1", "main;parse;lex", 30);
		add(counts, process, "cc1", "main;emit", 10);
		add(counts, "7", "make", "main;wait", 20);
		assert_true(nodes(counts) <= LIVE_COUNTS_NODES + 8);
	}
	assert_int_equal(total(counts), 60000 * 60);
	assert_int_equal(weights_of(counts, "lex").self, 60000 * 30);
	assert_int_equal(weights_of(counts, "main").all, 60000 * 60);
	assert_int_equal(weights_of(counts, LIVE_COUNTS_REST).all, 0);
	assert_true(has_process(counts, "7"));
	assert_false(has_process(counts, "100"));
	report_close(counts);
}

static void what_there_is_no_room_for_is_one_stack(void **state)
{
	struct report *counts = counts_begin();
	char text[64], comm[16];

	for (unsigned int i = 0; i < 300000; i++) {
		snprintf(text, sizeof(text), "main;f%u;g%u", i, i);
		snprintf(comm, sizeof(comm), "c%u", i);
		add(counts, "1", comm, text, 1);
		assert_true(nodes(counts) <= LIVE_COUNTS_NODES + 8);
		add(counts, "2", "app", "main;hot", 10);
	}
	assert_int_equal(total(counts), 300000 * 11);
	assert_int_equal(weights_of(counts, "hot").self, 300000 * 10);
	assert_true(weights_of(counts, LIVE_COUNTS_REST).all > 200000);
	report_close(counts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interval_leaves_seven_eighths),
		cmocka_unit_test(what_ran_long_ago_is_gone),
		cmocka_unit_test(the_levels_of_a_recursion_stay),
		cmocka_unit_test(short_processes_are_one_by_name),
		cmocka_unit_test(what_there_is_no_room_for_is_one_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
