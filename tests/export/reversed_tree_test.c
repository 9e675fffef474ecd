/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "stacks.h"

#include "export/folded.h"
#include "export/reversed_tree.h"

static char *folded(const struct call_tree *tree)
{
	struct text text;

	assert_int_equal(folded_write(tree, text_stream(&text)), 0);
	text_finish(&text);
	return text.data;
}

static void leaves_become_roots_and_merge(void **state)
{
	struct call_tree *tree = tree_open(), *reversed = NULL;
	char *text;

	tree_add(tree, "main;parse;lex", 4);
	tree_add(tree, "main;emit;lex", 1);
	tree_add(tree, "main;parse", 2);
	tree_add(tree, "main;emit", 3);
	assert_int_equal(reversed_tree_open(tree, &reversed), 0);
	assert_int_equal(call_tree_total(reversed), 10);
	text = folded(reversed);
	assert_string_equal(text, "emit;main 3\n"
				  "lex;emit;main 1\n"
				  "lex;parse;main 4\n"
				  "parse;main 2\n");
	free(text);
	call_tree_close(reversed);
	call_tree_close(tree);
}

static void kinds_files_and_levels_stay(void **state)
{
	struct call_frame frames[] = {
		{.name = "main", .dso = "/bin/app", .kind = FRAME_USER},
		{.name = "walk", .dso = "/bin/app", .kind = FRAME_INLINED, .levels = 7},
	};
	struct call_tree *tree = tree_open(), *reversed = NULL;
	const struct call_node *node;

	assert_int_equal(call_tree_add(tree, frames, 2, 5), 0);
	assert_int_equal(reversed_tree_open(tree, &reversed), 0);
	node = call_tree_node(reversed, 1);
	assert_int_equal(node->levels, 7);
	assert_int_equal(call_tree_frame(reversed, node->frame)->kind, FRAME_INLINED);
	assert_string_equal(call_tree_frame(reversed, node->frame)->name, "walk");
	assert_int_equal(node->total, 5);
	assert_int_equal(node->self, 0);
	call_tree_close(reversed);
	call_tree_close(tree);
}

static void an_empty_tree_stays_empty(void **state)
{
	struct call_tree *tree = tree_open(), *reversed = NULL;

	assert_int_equal(call_tree_add(tree, NULL, 0, 3), 0);
	assert_int_equal(reversed_tree_open(tree, &reversed), 0);
	assert_int_equal(call_tree_size(reversed), 1);
	assert_int_equal(call_tree_total(reversed), 3);
	call_tree_close(reversed);
	call_tree_close(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves_become_roots_and_merge),
		cmocka_unit_test(kinds_files_and_levels_stay),
		cmocka_unit_test(an_empty_tree_stays_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
