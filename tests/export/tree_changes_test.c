/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "stacks.h"

#include <stdbool.h>

#include "export/flamegraph.h"
#include "export/palette.h"
#include "export/preorder.h"
#include "export/tree_changes.h"

/* The baseline's weight of the place of a name, and its change in hundredths of a point. */
static void assert_change(const struct call_tree *tree, const struct preorder *order,
			  const struct tree_changes *changes, const char *name, uint64_t total,
			  int64_t points)
{
	for (uint32_t at = 1; at < order->n_nodes; at++) {
		const struct preorder_node *node = &order->nodes[at];

		if (strcmp(call_tree_frame(tree, node->frame)->name, name) != 0)
			continue;
		assert_int_equal(changes->totals[at], total);
		assert_int_equal(
			tree_changes_points(changes, at, node->total, order->nodes[0].total),
			points);
		return;
	}
	fail_msg("no %s", name);
}

static void nodes_are_the_same_by_their_way_from_the_root(void **state)
{
	struct call_tree *tree = tree_open(), *baseline = tree_open();
	struct tree_changes changes;
	struct preorder order;

	tree_add(baseline, "main;parse;lex", 5);
	tree_add(baseline, "main;lex", 1);
	tree_add(baseline, "main;emit;k:write", 4);
	tree_add(tree, "main;parse;lex", 18);
	tree_add(tree, "main;k:emit", 2);
	assert_int_equal(preorder_init(tree, &order), 0);
	assert_int_equal(tree_changes_init(tree, &order, baseline, &changes), 0);
	assert_change(tree, &order, &changes, "main", 10, 0);
	assert_change(tree, &order, &changes, "parse", 5, 4000);
	assert_change(tree, &order, &changes, "lex", 5, 4000);
	assert_change(tree, &order, &changes, "emit", 0, 1000);
	/* main's lex, and all of emit, which is another one's */
	assert_int_equal(changes.missing, 5);
	assert_int_equal(changes.all, 10);
	tree_changes_fini(&changes);
	preorder_fini(&order);
	call_tree_close(tree);
	call_tree_close(baseline);
}

static void an_empty_baseline_is_all_growth(void **state)
{
	struct call_tree *tree = tree_open(), *baseline = tree_open();
	struct tree_changes changes;
	struct preorder order;

	tree_add(tree, "main", 2);
	assert_int_equal(preorder_init(tree, &order), 0);
	assert_int_equal(tree_changes_init(tree, &order, baseline, &changes), 0);
	assert_change(tree, &order, &changes, "main", 0, 10000);
	tree_changes_fini(&changes);
	preorder_fini(&order);
	call_tree_close(tree);
	call_tree_close(baseline);
}

static void colours_follow_changes(void **state)
{
	assert_int_equal(palette_change(1, 500), PALETTE_GROWN * PALETTE_SHADES);
	assert_int_equal(palette_change(-1, 500), PALETTE_SHRUNK * PALETTE_SHADES);
	assert_int_equal(palette_change(500, 500), PALETTE_GROWN * PALETTE_SHADES + 7);
	assert_int_equal(palette_change(-10000, 500), PALETTE_SHRUNK * PALETTE_SHADES + 7);
	assert_int_equal(palette_change(0, 500) / PALETTE_SHADES, FRAME_UNKNOWN);
}

static void a_picture_says_what_it_cannot_show(void **state)
{
	struct call_tree *tree = tree_open(), *baseline = tree_open();
	const struct flamegraph_options options = {.baseline = baseline};
	struct text text;
	char changes[64];

	tree_add(baseline, "main;emit", 1);
	tree_add(baseline, "main;parse", 3);
	tree_add(tree, "main;parse", 4);
	assert_int_equal(flamegraph_write(tree, &options, text_stream(&text)), 0);
	assert_non_null(strstr(text_finish(&text),
			       "25.00% of the baseline is in stacks that are not here"));
	/* all, main, parse: colour and change */
	snprintf(changes, sizeof(changes), "changes:[%d,0,%d,0,%d,2500,",
		 FRAME_UNKNOWN * PALETTE_SHADES, FRAME_UNKNOWN * PALETTE_SHADES,
		 PALETTE_GROWN * PALETTE_SHADES + 7);
	assert_non_null(strstr(text.data, changes));
	assert_non_null(strstr(text.data, "class=\"g7\""));
	free(text.data);
	call_tree_close(tree);
	call_tree_close(baseline);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_the_same_by_their_way_from_the_root),
		cmocka_unit_test(an_empty_baseline_is_all_growth),
		cmocka_unit_test(colours_follow_changes),
		cmocka_unit_test(a_picture_says_what_it_cannot_show),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
