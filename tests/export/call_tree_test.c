/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "stacks.h"

#include <errno.h>

#include "export/preorder.h"

/* "name:self/total" in the order of the tree. */
static void assert_tree(const struct call_tree *tree, const char *expected)
{
	struct preorder order;
	struct text text;
	FILE *out = text_stream(&text);

	assert_int_equal(preorder_init(tree, &order), 0);
	for (uint32_t i = 0; i < order.n_nodes; i++) {
		const struct preorder_node *node = &order.nodes[i];

		fprintf(out, "%s%s:%u/%u", i ? " " : "",
			i ? call_tree_frame(tree, node->frame)->name : "all",
			(unsigned int)node->self, (unsigned int)node->total);
	}
	assert_string_equal(text_finish(&text), expected);
	free(text.data);
	preorder_fini(&order);
}

static void an_empty_tree_is_its_root(void **state)
{
	struct call_tree *tree = tree_open();

	assert_int_equal(call_tree_size(tree), 1);
	assert_int_equal(call_tree_total(tree), 0);
	assert_tree(tree, "all:0/0");
	call_tree_close(tree);
	call_tree_close(NULL);
}

static void weights_are_sums_of_the_stacks(void **state)
{
	struct call_tree *tree = tree_open();

	tree_add(tree, "main;parse;lex", 3);
	tree_add(tree, "main;emit", 5);
	tree_add(tree, "main;parse", 2);
	tree_add(tree, "main;parse;lex", 1);
	assert_int_equal(call_tree_size(tree), 5);
	assert_tree(tree, "all:0/11 main:0/11 emit:5/5 parse:2/6 lex:4/4");
	call_tree_close(tree);
}

static void siblings_come_in_order_of_names(void **state)
{
	struct call_tree *tree = tree_open();

	tree_add(tree, "b;z", 1);
	tree_add(tree, "a;y", 1);
	tree_add(tree, "c", 1);
	tree_add(tree, "b;a", 1);
	tree_add(tree, "a", 1);
	assert_tree(tree, "all:0/5 a:1/2 y:1/1 b:0/2 a:1/1 z:1/1 c:1/1");
	call_tree_close(tree);
}

static void frames_of_different_kinds_files_or_places_are_different(void **state)
{
	const struct call_frame frames[] = {
		{"f", "x", FRAME_USER, 0, NULL},    {"f", "y", FRAME_USER, 0, NULL},
		{"f", "x", FRAME_INLINED, 0, NULL}, {"f", "x", FRAME_USER, 0, NULL},
		{"f", "x", FRAME_USER, 0, "f.c:1"}, {"f", "x", FRAME_USER, 0, "f.c:2"},
		{"f", "x", FRAME_USER, 0, "f.c:1"},
	};
	struct call_tree *tree = tree_open();

	for (size_t i = 0; i < 7; i++)
		assert_int_equal(call_tree_add(tree, &frames[i], 1, 1), 0);
	assert_tree(tree, "all:0/7 f:2/2 f:2/2 f:1/1 f:1/1 f:1/1");
	assert_int_equal(call_tree_frames(tree), 5);
	call_tree_close(tree);
}

static void names_are_copied_and_interned(void **state)
{
	char name[] = "first", dso[] = "libx";
	struct call_frame frame = {name, dso, FRAME_USER, 0, NULL};
	struct call_tree *tree = tree_open();

	assert_int_equal(call_tree_add(tree, &frame, 1, 1), 0);
	strcpy(name, "other");
	assert_int_equal(call_tree_add(tree, &frame, 1, 1), 0);
	assert_tree(tree, "all:0/2 first:1/1 other:1/1");
	assert_ptr_equal(call_tree_frame(tree, 0)->dso, call_tree_frame(tree, 1)->dso);
	call_tree_close(tree);
}

static void missing_names_become_unknown(void **state)
{
	const struct call_frame frames[] = {{0}, {.name = ""}};
	struct call_tree *tree = tree_open();

	assert_int_equal(call_tree_add(tree, frames, 2, 1), 0);
	assert_tree(tree, "all:0/1 [unknown]:0/1 [unknown]:1/1");
	assert_string_equal(call_tree_frame(tree, 0)->dso, "");
	call_tree_close(tree);
}

static void stacks_without_frames_or_weight(void **state)
{
	struct call_tree *tree = tree_open();

	tree_add(tree, "", 2);
	tree_add(tree, "main", 0);
	assert_tree(tree, "all:2/2");
	call_tree_close(tree);
}

static void an_overflow_is_refused_and_changes_nothing(void **state)
{
	const struct call_frame frame = {.name = "f"};
	struct call_tree *tree = tree_open();

	assert_int_equal(call_tree_add(tree, &frame, 1, UINT64_MAX - 1), 0);
	assert_int_equal(call_tree_add(tree, &frame, 1, 2), -EOVERFLOW);
	assert_int_equal(call_tree_add(tree, &frame, 1, 1), 0);
	assert_true(call_tree_total(tree) == UINT64_MAX);
	call_tree_close(tree);
}

static void a_stack_of_100000_frames_is_a_chain(void **state)
{
	struct call_tree *tree = tree_open();
	struct preorder order;

	tree_add_deep(tree, 100000, 1);
	tree_add_deep(tree, 99999, 1);
	assert_int_equal(call_tree_size(tree), 100001);
	assert_int_equal(preorder_init(tree, &order), 0);
	assert_int_equal(order.depth, 100000);
	assert_int_equal(order.nodes[99999].self, 1);
	assert_int_equal(order.nodes[99999].total, 2);
	preorder_fini(&order);
	call_tree_close(tree);
}

/* Ten names in all places of six: every node is found again among many. */
static void many_nodes_keep_their_weights(void **state)
{
	struct call_tree *tree = tree_open();
	struct call_frame frames[6] = {0};
	char names[10][2];
	uint64_t self = 0;

	for (int i = 0; i < 10; i++) {
		names[i][0] = (char)('0' + i);
		names[i][1] = '\0';
	}
	for (uint32_t i = 0; i < 200000; i++) {
		uint32_t digits = i * 2654435761U % 100000;

		for (int at = 0; at < 6; at++, digits /= 10)
			frames[at].name = names[digits % 10];
		assert_int_equal(call_tree_add(tree, frames, 6, 1 + i % 3), 0);
	}
	for (uint32_t i = 0; i < call_tree_size(tree); i++) {
		const struct call_node *node = call_tree_node(tree, i);

		self += node->self;
		assert_true(!i || node->parent < i);
		assert_true(node->self <= node->total);
	}
	assert_true(self == call_tree_total(tree));
	assert_true(self == 200000 + 199999);
	call_tree_close(tree);
}

static void a_subtree_is_a_range_of_places(void **state)
{
	struct call_tree *tree = tree_open();
	struct preorder order;

	tree_add(tree, "main;parse;lex", 1);
	tree_add(tree, "main;emit", 1);
	assert_int_equal(preorder_init(tree, &order), 0);
	assert_int_equal(order.n_nodes, 5);
	assert_int_equal(order.nodes[0].end, 5);
	assert_int_equal(order.nodes[1].end, 5);
	assert_int_equal(order.nodes[2].end, 3);
	assert_int_equal(order.nodes[3].end, 5);
	assert_int_equal(order.nodes[4].parent, 3);
	preorder_fini(&order);
	call_tree_close(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_tree_is_its_root),
		cmocka_unit_test(weights_are_sums_of_the_stacks),
		cmocka_unit_test(siblings_come_in_order_of_names),
		cmocka_unit_test(frames_of_different_kinds_files_or_places_are_different),
		cmocka_unit_test(names_are_copied_and_interned),
		cmocka_unit_test(missing_names_become_unknown),
		cmocka_unit_test(stacks_without_frames_or_weight),
		cmocka_unit_test(an_overflow_is_refused_and_changes_nothing),
		cmocka_unit_test(a_stack_of_100000_frames_is_a_chain),
		cmocka_unit_test(many_nodes_keep_their_weights),
		cmocka_unit_test(a_subtree_is_a_range_of_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
