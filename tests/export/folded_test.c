/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "stacks.h"

#include <errno.h>

#include "export/folded.h"

static void assert_folded(const struct call_tree *tree, const char *expected)
{
	struct text text;

	assert_int_equal(folded_write(tree, text_stream(&text)), 0);
	assert_string_equal(text_finish(&text), expected);
	free(text.data);
}

static void add_name(struct call_tree *tree, const char *name)
{
	struct call_frame frames[] = {{.name = "main"}, {.name = name}};

	assert_int_equal(call_tree_add(tree, frames, 2, 1), 0);
}

static void stacks_are_lines_in_order(void **state)
{
	struct call_tree *tree = tree_open();

	tree_add(tree, "main;parse;lex", 3);
	tree_add(tree, "main;emit", 5);
	tree_add(tree, "idle", 7);
	tree_add(tree, "main;parse", 2);
	assert_folded(tree, "idle 7\nmain;emit 5\nmain;parse 2\nmain;parse;lex 3\n");
	call_tree_close(tree);
}

static void an_empty_tree_is_an_empty_file(void **state)
{
	struct call_tree *tree = tree_open();

	assert_folded(tree, "");
	call_tree_close(tree);
}

static void kinds_and_files_do_not_split_lines(void **state)
{
	struct call_tree *tree = tree_open();

	tree_add(tree, "main;copy;k:fault", 1);
	tree_add(tree, "main;i:copy;k:fault", 2);
	assert_folded(tree, "main;copy;fault 3\n");
	call_tree_close(tree);
}

static void stacks_without_frames_are_unknown(void **state)
{
	struct call_tree *tree = tree_open();

	tree_add(tree, "", 4);
	assert_folded(tree, "[unknown] 4\n");
	call_tree_close(tree);
}

static void separators_and_controls_are_escaped(void **state)
{
	struct call_tree *tree = tree_open();

	add_name(tree, "a;b");
	add_name(tree, "b\nc");
	add_name(tree, "c\\x41\\d");
	add_name(tree, "d\xff\xc3\xbc");
	add_name(tree, "e f(int) 9");
	add_name(tree, "f\xe2\x80\xae");
	assert_folded(tree, "main;a\\x3bb 1\n"
			    "main;b\\x0ac 1\n"
			    "main;c\\x5cx41\\d 1\n"
			    "main;d\\xff\xc3\xbc 1\n"
			    "main;e f(int) 9 1\n"
			    "main;f\\xe2\\x80\\xae 1\n");
	call_tree_close(tree);
}

static void a_stack_of_4000_frames_is_one_line(void **state)
{
	struct call_tree *tree = tree_open();
	struct text text;
	size_t n = 1;

	tree_add_deep(tree, 4000, 1);
	assert_int_equal(folded_write(tree, text_stream(&text)), 0);
	for (const char *c = text_finish(&text); *c; c++)
		n += *c == ';';
	assert_int_equal(n, 4000);
	free(text.data);
	call_tree_close(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_are_lines_in_order),
		cmocka_unit_test(an_empty_tree_is_an_empty_file),
		cmocka_unit_test(kinds_and_files_do_not_split_lines),
		cmocka_unit_test(stacks_without_frames_are_unknown),
		cmocka_unit_test(separators_and_controls_are_escaped),
		cmocka_unit_test(a_stack_of_4000_frames_is_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
