/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "stacks.h"

#include "export/flamegraph.h"
#include "export/report.h"

/* "main a*3 b": a stack, each frame with its levels */
static void assert_folded(const char *stack, const char *expected)
{
	struct stack s;
	char text[1024] = "", *end = text;
	size_t n;

	stack_init(&s, stack);
	n = recursion_fold(s.frames, s.n);
	for (size_t i = 0; i < n; i++) {
		end += sprintf(end, "%s%s", i ? " " : "", s.frames[i].name);
		if (s.frames[i].levels != 1)
			end += sprintf(end, "*%u", s.frames[i].levels);
	}
	assert_string_equal(text, expected);
}

static void a_function_that_calls_itself_appears_once(void **state)
{
	(void)state;
	assert_folded("main;f;f;f;leaf", "main f*3 leaf");
	assert_folded("f;f", "f*2");
	assert_folded("f", "f");
	assert_folded("", "");
	assert_folded("main;f;g;f;leaf", "main f g f leaf");
}

static void functions_that_call_each_other_in_turn_appear_once(void **state)
{
	(void)state;
	assert_folded("main;a;b;a;b;a;b;leaf", "main a*3 b*3 leaf");
	assert_folded("main;a;b;a;b;a;leaf", "main a*2 b*2 a leaf");
	assert_folded("a;b;c;d;e;f;g;h;a;b;c;d;e;f;g;h", "a*2 b*2 c*2 d*2 e*2 f*2 g*2 h*2");
	assert_folded("a;b;c;d;e;f;g;h;i;a;b;c;d;e;f;g;h;i", "a b c d e f g h i a b c d e f g h i");
	/* the period that covers most */
	assert_folded("a;a;b;a;a;b;a;a;b", "a*3 a*3 b*3");
}

static void frames_that_only_look_alike_are_not_folded(void **state)
{
	(void)state;
	assert_folded("main;x:f;x:f", "main f f");
	assert_folded("main;f;i:f;leaf", "main f f leaf");
	assert_folded("main;f;k:f", "main f f");
	assert_folded("main;f;i:f;f;i:f", "main f*2 f*2");
}

static char *report_text(const char *const *stacks, bool unfolded)
{
	struct report *report = NULL;
	struct text text;

	assert_int_equal(report_open(&report), 0);
	if (unfolded)
		report_unfold(report);
	for (; *stacks; stacks++) {
		struct stack s;

		stack_init(&s, *stacks);
		assert_int_equal(report_add(report, "app", s.frames, s.n, 1), 0);
	}
	assert_int_equal(report_write(report, &(struct report_options){.graph_limit = 0.5},
				      text_stream(&text)),
			 0);
	text_finish(&text);
	report_close(report);
	return text.data;
}

static void stacks_that_differ_in_levels_are_one_branch(void **state)
{
	static const char *const stacks[] = {"main;f;f;leaf", "main;f;leaf", "main;f;f;f;f;leaf",
					     NULL};
	char *folded = report_text(stacks, false), *unfolded = report_text(stacks, true);

	(void)state;
	assert_non_null(strstr(folded, "            ---main\n"
				       "               f [recursion, up to 4 levels]\n"
				       "               leaf\n"));
	assert_null(strstr(unfolded, "recursion"));
	assert_non_null(strstr(unfolded, "33.33%--f\n"));
	free(folded);
	free(unfolded);
}

static void a_flame_graph_says_how_many_levels_there_were(void **state)
{
	struct call_tree *tree = tree_open();
	struct stack s;
	struct text text;

	(void)state;
	stack_init(&s, "main;f;f;f;leaf");
	s.n = recursion_fold(s.frames, s.n);
	assert_int_equal(call_tree_add(tree, s.frames, s.n, 1), 0);
	assert_int_equal(
		flamegraph_write(tree, &(struct flamegraph_options){0}, text_stream(&text)), 0);
	text_finish(&text);
	assert_non_null(strstr(text.data, ">f x3</text>"));
	assert_non_null(strstr(text.data, "levels:{2:3,}"));
	free(text.data);
	call_tree_close(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_that_calls_itself_appears_once),
		cmocka_unit_test(functions_that_call_each_other_in_turn_appear_once),
		cmocka_unit_test(frames_that_only_look_alike_are_not_folded),
		cmocka_unit_test(stacks_that_differ_in_levels_are_one_branch),
		cmocka_unit_test(a_flame_graph_says_how_many_levels_there_were),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
