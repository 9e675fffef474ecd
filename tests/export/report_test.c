/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/task_names.h"
#include "reports.h"

#include <errno.h>

static const struct report_options usual_options = {.graph_limit = 0.5};

static char *written(const struct report *report, const struct report_options *options)
{
	struct text text;

	assert_int_equal(
		report_write(report, options ? options : &usual_options, text_stream(&text)), 0);
	text_finish(&text);
	return text.data;
}

static void assert_report(const struct report *report, const struct report_options *options,
			  const char *expected)
{
	char *text = written(report, options);

	assert_string_equal(text, expected);
	free(text);
}

static void assert_holds(const struct report *report, const struct report_options *options,
			 const char *line)
{
	char *text = written(report, options);

	if (!strstr(text, line))
		print_error("no '%s' in:\n%s", line, text);
	assert_non_null(strstr(text, line));
	free(text);
}

/* Functions by their own weight, and where stacks meet. */
static void first_screen_is_short(void **state)
{
	const struct report_options options = {
		.first_screen = true, .n_keys = 1, .keys = {REPORT_SYM}};
	struct report *report = report_of();
	char name[64];

	add(report, "app", "main;parse;lex", 60);
	add(report, "app", "main;a;b;c;d;e;f;g;h;i;j;k;l;m;n", 30);
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "main;many;of%d", i);
		add(report, "app", name, i < 9 ? 1 : 0);
	}
	add(report, "", "main", 1);
	assert_report(
		report, &options,
		"# Samples: 0 of event 'samples'\n"
		"# Event count (approx.): 100\n"
		"#\n"
		"# Children      Self  Symbol\n"
		"# ........  ........  ........\n"
		"#\n"
		"    60.00%    60.00%  [.] lex\n"
		"    30.00%    30.00%  [.] n\n"
		"   100.00%     1.00%  [.] main\n"
		"     1.00%     1.00%  [.] of0\n"
		"     1.00%     1.00%  [.] of1\n"
		"     1.00%     1.00%  [.] of2\n"
		"     1.00%     1.00%  [.] of3\n"
		"     1.00%     1.00%  [.] of4\n"
		"     1.00%     1.00%  [.] of5\n"
		"     1.00%     1.00%  [.] of6\n"
		"     1.00%     1.00%  [.] of7\n"
		"     1.00%     1.00%  [.] of8\n"
		"\n"
		"# Heaviest paths, each as far as it has a twentieth of all:\n"
		"#\n"
		"    60.00%  app: main > parse > lex\n"
		"    30.00%  app: main > a > b > ... 5 more ... > h > i > j > k > l > m > n\n"
		"     9.00%  app: main > many\n"
		"\n"
		"#\n"
		"# Functions that are left out: 0 (0.00% self)\n"
		"# All of them, with their callers and callees: --full; on the terminal: --tui\n"
		"#\n");
	report_close(report);
}

static void first_screen_has_so_many_lines(void **state)
{
	const struct report_options options = {.first_screen = true};
	struct report *report = report_of();
	char name[64], *text;
	size_t lines = 0;

	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "main;function%d", i);
		add(report, "app", name, 1);
	}
	for (int i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "main;heavy%d", i);
		add(report, "app", name, 1000);
	}
	text = written(report, &options);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	assert_in_range(lines, 30, 50);
	assert_non_null(strstr(text, "# Lighter ones that are left out: 4\n"));
	assert_non_null(strstr(text, "# Functions that are left out: 992 (7.63% self)\n"));
	free(text);
	report_close(report);
}

static struct report *example(void)
{
	struct report *report = report_of();

	add(report, "app", "main;parse;lex", 30);
	add(report, "app", "main;parse", 20);
	add(report, "app", "main;emit;k:write", 50);
	return report;
}

static void entries_are_printed_like_perf_does(void **state)
{
	struct report_options options = usual_options;
	struct report *report = example();

	options.event = "cpu-clock";
	options.samples = 3;
	options.no_graph = true;
	assert_report(report, &options,
		      "# Samples: 3 of event 'cpu-clock'\n"
		      "# Event count (approx.): 100\n"
		      "#\n"
		      "# Children      Self  Command  Shared Object  Symbol\n"
		      "# ........  ........  .......  .............  .........\n"
		      "#\n"
		      "   100.00%     0.00%  app      app            [.] main\n"
		      "    50.00%    50.00%  app      [kernel]       [k] write\n"
		      "    50.00%    20.00%  app      app            [.] parse\n"
		      "    50.00%     0.00%  app      app            [.] emit\n"
		      "    30.00%    30.00%  app      app            [.] lex\n"
		      "\n#\n#\n");
	report_close(report);
	report_close(NULL);
}

static void call_graphs_go_down_with_children(void **state)
{
	struct report *report = example();

	assert_holds(report, NULL,
		     "   100.00%     0.00%  app      app            [.] main\n"
		     "            |\n"
		     "            ---main\n"
		     "               |\n"
		     "               |--50.00%--emit\n"
		     "               |          write\n"
		     "               |\n"
		     "                --50.00%--parse\n"
		     "                          |\n"
		     "                           --30.00%--lex\n"
		     "\n");
	/* its own weight below its callers, the rest below itself */
	assert_holds(report, NULL,
		     "    50.00%    20.00%  app      app            [.] parse\n"
		     "            |\n"
		     "            |--30.00%--parse\n"
		     "            |          lex\n"
		     "            |\n"
		     "             --20.00%--main\n"
		     "                       parse\n"
		     "\n");
	report_close(report);
}

static void call_graphs_go_up_without_children(void **state)
{
	struct report_options options = usual_options;
	struct report *report = example();

	add(report, "app", "main;lex", 10);
	options.no_children = true;
	assert_holds(report, &options,
		     "# Overhead  Command  Shared Object  Symbol\n"
		     "# ........  .......  .............  .........\n"
		     "#\n"
		     "    45.45%  app      [kernel]       [k] write\n"
		     "            |\n"
		     "            ---write\n"
		     "               emit\n"
		     "               main\n"
		     "\n"
		     "    36.36%  app      app            [.] lex\n"
		     "            |\n"
		     "            ---lex\n"
		     "               |\n"
		     "               |--27.27%--parse\n"
		     "               |          main\n"
		     "               |\n"
		     "                ---9.09%--main\n"
		     "\n");
	report_close(report);
}

static void call_graphs_go_the_other_way_if_they_are_to(void **state)
{
	struct report_options options = usual_options;
	struct report *report = example();

	options.order = REPORT_CALLER;
	options.no_children = true;
	assert_holds(report, &options,
		     "    20.00%  app      app            [.] parse\n"
		     "            |\n"
		     "            ---main\n"
		     "               parse\n"
		     "\n");
	add(report, "app", "main;parse;x;parse", 20);
	options.order = REPORT_CALLEE;
	options.no_children = false;
	assert_holds(report, &options,
		     "    58.33%    33.33%  app      app            [.] parse\n"
		     "            |\n"
		     "            ---parse\n"
		     "               main\n"
		     "\n");
	report_close(report);
}

static void call_graphs_are_chosen_in_perfs_words(void **state)
{
	struct report_options options = usual_options, before;

	assert_int_equal(report_parse_graph("graph,7.5,caller,function,percent", &options), 0);
	assert_int_equal(options.order, REPORT_CALLER);
	assert_true(options.graph_limit == 7.5);
	assert_int_equal(report_parse_graph("none", &options), 0);
	assert_true(options.no_graph);
	assert_int_equal(report_parse_graph("callee", &options), 0);
	assert_int_equal(options.order, REPORT_CALLEE);
	assert_false(options.no_graph);
	before = options;
	assert_int_equal(report_parse_graph("", &options), -EINVAL);
	assert_int_equal(report_parse_graph("caller,", &options), -EINVAL);
	assert_int_equal(report_parse_graph("none,fractal", &options), -EINVAL);
	assert_int_equal(report_parse_graph("1x", &options), -EINVAL);
	assert_int_equal(report_parse_graph("101", &options), -EINVAL);
	assert_int_equal(report_parse_graph("nan", &options), -EINVAL);
	assert_memory_equal(&options, &before, sizeof(options));
}

static void recursion_counts_once_per_stack(void **state)
{
	struct report_options options = usual_options;
	struct report *report = report_of();

	add(report, "app", "main;f;f;g;f", 60);
	add(report, "app", "main;f;g", 40);
	options.no_graph = true;
	assert_holds(report, &options, "   100.00%    60.00%  app      app            [.] f\n");
	assert_holds(report, &options, "   100.00%    40.00%  app      app            [.] g\n");
	options.n_keys = 1;
	options.keys[0] = REPORT_DSO;
	assert_holds(report, &options, "   100.00%   100.00%  app\n");
	report_close(report);
}

static void call_graphs_count_recursive_stacks_once(void **state)
{
	struct report *report = report_of();

	add(report, "app", "main;f;g;f", 60);
	add(report, "app", "main;f;g", 40);
	assert_holds(report, NULL,
		     "   100.00%    60.00%  app      app            [.] f\n"
		     "            |\n"
		     "            |--60.00%--main\n"
		     "            |          f\n"
		     "            |          g\n"
		     "            |          f\n"
		     "            |\n"
		     "             --40.00%--f\n"
		     "                       g\n"
		     "\n");
	report_close(report);
}

static void keys_choose_the_columns_and_their_order(void **state)
{
	struct report_options options = usual_options;
	struct report *report = example();

	add(report, "other", "main;lex", 100);
	options.no_graph = true;
	assert_int_equal(report_parse_keys("sym,comm", &options), 0);
	assert_holds(report, &options,
		     "# Children      Self  Symbol     Command\n"
		     "# ........  ........  .........  .......\n"
		     "#\n"
		     "    50.00%    50.00%  [.] lex    other\n"
		     "    50.00%     0.00%  [.] main   app\n"
		     "    50.00%     0.00%  [.] main   other\n");
	assert_int_equal(report_parse_keys("symbol", &options), 0);
	assert_holds(report, &options,
		     "   100.00%     0.00%  [.] main\n"
		     "    65.00%    65.00%  [.] lex\n");
	assert_int_equal(report_parse_keys("+cpu", &options), 0);
	assert_holds(report, &options,
		     "# Children      Self  Command  Shared Object  Symbol     CPU\n");
	assert_int_equal(report_parse_keys("comm", &options), 0);
	assert_holds(report, &options,
		     "    50.00%    50.00%  app\n"
		     "    50.00%    50.00%  other\n");
	report_close(report);
}

static void add_labelled(struct report *report, const char *pid, const char *tid, const char *cpu,
			 const char *text, uint64_t weight)
{
	const struct report_origin origin = {.texts = {[REPORT_COMM] = "app",
						       [REPORT_PID] = pid,
						       [REPORT_TID] = tid,
						       [REPORT_CPU] = cpu}};
	struct stack stack;

	stack_init(&stack, text);
	assert_int_equal(report_add_of(report, &origin, stack.frames, stack.n, weight), 0);
}

static void keys_tell_processes_threads_and_cpus_apart(void **state)
{
	struct report_options options = usual_options;
	struct report *report = report_of();
	struct task_names tasks = {0};

	assert_int_equal(task_names_note(&tasks, 7, 7, "sh"), 0);
	assert_int_equal(task_names_change(&tasks, 7, "make"), 0);
	assert_int_equal(task_names_note(&tasks, 7, 8, "worker"), 0);
	/* of whom there are no samples */
	assert_int_equal(task_names_change(&tasks, 10, "other"), 0);
	assert_string_equal(task_names_find(&tasks, 10), "");
	options.tasks = &tasks;
	options.no_graph = options.no_children = true;
	add_labelled(report, "7", "7", "1", "main", 50);
	add_labelled(report, "7", "8", "1", "main", 30);
	add_labelled(report, "9", "9", "12", "main", 20);
	assert_int_equal(report_parse_keys("pid", &options), 0);
	assert_holds(report, &options,
		     "# Overhead      Pid:Command\n"
		     "# ........  ...............\n"
		     "#\n"
		     "    80.00%        7:make\n"
		     "    20.00%        9:\n");
	assert_int_equal(report_parse_keys("tid,comm", &options), 0);
	assert_holds(report, &options,
		     "# Overhead      Tid:Command  Command\n"
		     "# ........  ...............  .......\n"
		     "#\n"
		     "    50.00%        7:make     app\n"
		     "    30.00%        8:worker   app\n"
		     "    20.00%        9:         app\n");
	assert_int_equal(report_parse_keys("cpu", &options), 0);
	assert_holds(report, &options, "    80.00%  001\n    20.00%  012\n");
	/* who does not tell them apart has nothing there */
	add(report, "app", "main", 900);
	assert_holds(report, &options, "    90.00%  \n");
	assert_int_equal(report_parse_keys("sym", &options), 0);
	assert_holds(report, &options, "   100.00%  [.] main\n");
	task_names_fini(&tasks);
	report_close(report);
}

static void keys_tell_lines_apart(void **state)
{
	const struct call_frame lines[][2] = {
		{{.name = "main", .place = "a.c:1"}, {.name = "f", .place = "b:c.h:7"}},
		{{.name = "main", .place = "a.c:2"}, {.name = "f", .place = "b:c.h:9"}},
		{{.name = "main", .place = "a.c:2"}, {.name = "f"}},
	};
	struct report_options options = usual_options;
	struct report *report = report_of();

	for (size_t i = 0; i < 3; i++)
		assert_int_equal(report_add(report, "app", lines[i], 2, i + 1), 0);
	options.no_children = options.no_graph = true;
	assert_int_equal(report_parse_keys("srcline,sym", &options), 0);
	assert_holds(report, &options,
		     "# Overhead  Source:Line  Symbol\n"
		     "# ........  ...........  ......\n"
		     "#\n"
		     "    50.00%  [unknown]    [.] f\n"
		     "    33.33%  b:c.h:9      [.] f\n"
		     "    16.67%  b:c.h:7      [.] f\n");
	assert_int_equal(report_parse_keys("srcfile", &options), 0);
	assert_holds(report, &options,
		     "# Overhead  Source File\n"
		     "# ........  ...........\n"
		     "#\n"
		     "    50.00%  [unknown]\n"
		     "    50.00%  b:c.h\n");
	/* a function has one branch */
	options.no_children = options.no_graph = false;
	assert_int_equal(report_parse_keys("sym", &options), 0);
	assert_holds(report, &options,
		     "   100.00%     0.00%  [.] main\n"
		     "            |\n"
		     "            ---main\n"
		     "               f\n"
		     "\n");
	report_close(report);
}

static void wrong_keys_are_refused(void **state)
{
	struct report_options options = usual_options, before = options;

	assert_int_equal(report_parse_keys("", &options), -EINVAL);
	assert_int_equal(report_parse_keys("sym,", &options), -EINVAL);
	assert_int_equal(report_parse_keys("sym,sym", &options), -EINVAL);
	assert_int_equal(report_parse_keys("+", &options), -EINVAL);
	assert_int_equal(report_parse_keys("+sym", &options), -EINVAL);
	assert_int_equal(report_parse_keys("pid,+cpu", &options), -EINVAL);
	assert_int_equal(report_parse_keys("sy", &options), -EINVAL);
	assert_int_equal(report_parse_keys("comm,dso,sym,comm", &options), -EINVAL);
	assert_memory_equal(&options, &before, sizeof(options));
}

static void what_is_left_out_is_said(void **state)
{
	struct report_options options = usual_options;
	struct report *report = example();

	options.percent_limit = 40;
	options.no_graph = true;
	assert_holds(report, &options,
		     "# Entries below 40.00% that are left out: 1 (30.00% self)\n");
	options.no_graph = false;
	options.percent_limit = 60;
	options.graph_limit = 25;
	add(report, "app", "main;x", 20);
	add(report, "app", "main;y", 20);
	assert_holds(report, &options,
		     "               |\n"
		     "                --28.57%--[2 more, each below 25.00%]\n");
	assert_holds(report, &options, "# Branches of call graphs below 25.00% are left out\n");
	report_close(report);
}

static void write_notes(void *ctx, FILE *out)
{
	fprintf(out, "# Lost: %d\n", *(const int *)ctx);
}

static void the_last_notes_are_the_callers(void **state)
{
	struct report_options options = usual_options;
	struct report *report = example();
	int lost = 3;

	options.notes = write_notes;
	options.ctx = &lost;
	options.samples = 1234;
	assert_holds(report, &options, "\n# Lost: 3\n#\n");
	assert_holds(report, &options, "# Samples: 1234 of event 'samples'\n");
	report_close(report);
}

static void inlined_functions_are_marked_and_merged(void **state)
{
	struct report *report = report_of();

	add(report, "app", "main;f;i:g", 50);
	add(report, "app", "main;g", 50);
	assert_holds(report, NULL, "   100.00%   100.00%  app      app            [.] g\n");
	assert_holds(report, NULL,
		     "               |--50.00%--f\n"
		     "               |          g (inlined)\n");
	report_close(report);
}

static void hostile_names_do_not_reach_the_terminal(void **state)
{
	const struct call_frame frame = {"a\x1b[2J\nb\xff", "/x/\x07y", FRAME_USER, 0, NULL};
	struct report_options options = usual_options;
	struct report *report = report_of();

	assert_int_equal(report_add(report, "c\tomm\x9b", &frame, 1, 1), 0);
	options.event = "e\x1bv";
	assert_holds(report, &options,
		     "   100.00%   100.00%  comm\xef\xbf\xbd    y              "
		     "[.] a[2Jb\xef\xbf\xbd\n");
	assert_holds(report, &options, "of event 'ev'\n");
	report_close(report);
}

static void commands_that_look_the_same_are_one(void **state)
{
	struct report_options options = usual_options;
	struct report *report = report_of();

	add(report, "comm", "main;f", 25);
	add(report, "co\x1bmm", "main;f", 25);
	add(report, "\x07", "main;f", 50);
	options.no_graph = true;
	assert_int_equal(report_parse_keys("comm", &options), 0);
	assert_holds(report, &options,
		     "    50.00%    50.00%  [unknown]\n"
		     "    50.00%    50.00%  comm\n");
	report_close(report);
}

static void empty_reports_and_stacks_are_printed(void **state)
{
	struct report *report = report_of();

	assert_holds(report, NULL, "# Samples: 0 of event 'samples'\n");
	add(report, NULL, "", 3);
	assert_holds(report, NULL,
		     "   100.00%   100.00%  [unknown]  [unknown]      [.] [unknown]\n");
	report_close(report);
}

static void a_stack_of_4000_frames_is_printed(void **state)
{
	struct report_options options = usual_options;
	struct report *report = report_of();
	struct call_frame *frames = calloc(4000, sizeof(*frames));
	char *text, *at;
	size_t n = 0;

	assert_non_null(frames);
	report_unfold(report);
	for (size_t i = 0; i < 4000; i++)
		frames[i] = (struct call_frame){.name = i ? "again" : "main"};
	for (size_t i = 2; i <= 4000; i++)
		assert_int_equal(report_add(report, "deep", frames, i, 1), 0);
	assert_holds(report, NULL, "   100.00%   100.00%  deep     [unknown]      [.] again\n");

	/* each caller is on one stack less than its callee: few forks all the same */
	options.no_children = true;
	text = written(report, &options);
	for (at = text; (at = strstr(at, "again")); at++)
		n++;
	assert_true(n > 3900);
	assert_true(strlen(text) < 20000000);
	free(text);
	free(frames);
	report_close(report);
}

static void the_tree_is_there_for_other_writers(void **state)
{
	struct report *report = example();
	const struct call_tree *tree = report_tree(report);

	assert_int_equal(call_tree_total(tree), 100);
	assert_int_equal(call_tree_frame(tree, 0)->kind, FRAME_COMMAND);
	assert_string_equal(call_tree_frame(tree, 0)->name, "app");
	report_close(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_screen_is_short),
		cmocka_unit_test(first_screen_has_so_many_lines),
		cmocka_unit_test(entries_are_printed_like_perf_does),
		cmocka_unit_test(call_graphs_go_down_with_children),
		cmocka_unit_test(call_graphs_go_up_without_children),
		cmocka_unit_test(call_graphs_go_the_other_way_if_they_are_to),
		cmocka_unit_test(call_graphs_are_chosen_in_perfs_words),
		cmocka_unit_test(recursion_counts_once_per_stack),
		cmocka_unit_test(call_graphs_count_recursive_stacks_once),
		cmocka_unit_test(keys_choose_the_columns_and_their_order),
		cmocka_unit_test(keys_tell_processes_threads_and_cpus_apart),
		cmocka_unit_test(keys_tell_lines_apart),
		cmocka_unit_test(wrong_keys_are_refused),
		cmocka_unit_test(what_is_left_out_is_said),
		cmocka_unit_test(the_last_notes_are_the_callers),
		cmocka_unit_test(inlined_functions_are_marked_and_merged),
		cmocka_unit_test(hostile_names_do_not_reach_the_terminal),
		cmocka_unit_test(commands_that_look_the_same_are_one),
		cmocka_unit_test(empty_reports_and_stacks_are_printed),
		cmocka_unit_test(a_stack_of_4000_frames_is_printed),
		cmocka_unit_test(the_tree_is_there_for_other_writers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
