/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of a live table, in order and filtered, and the lines of its screen. */
#include "stacks.h"

#include "export/safe_text.h"
#include "export/top_screen.h"

static const struct top_status status = {
	.subject = "everything",
	.event = "cpu-clock",
	.rate = 1998,
	.user = 200,
	.complete = 199,
	.walked = 150,
	.copied = 50,
	.lost = 3,
	.processes = 2,
	.in_kernel = true,
};

static struct report *sampled;

static void add(const char *process, const char *comm, const char *text, uint64_t weight)
{
	const struct report_origin origin = {
		.texts = {[REPORT_COMM] = comm, [REPORT_PID] = process},
	};
	struct stack stack;

	stack_init(&stack, text);
	assert_int_equal(report_add_of(sampled, &origin, stack.frames, stack.n, weight), 0);
}

static int set_up(void **state)
{
	assert_int_equal(report_open(&sampled), 0);
	add("10", "cc1", "main;parse;lex", 40);
	add("10", "cc1", "main;parse", 10);
	add("11", "cc1", "main;emit;k:write", 20);
	add("9", "sh", "main;parse", 30);
	return 0;
}

static int tear_down(void **state)
{
	report_close(sampled);
	return 0;
}

static struct top_view begin(enum top_sort sort)
{
	return (struct top_view){.typing = TOP_NO_FILTER, .delay_ms = 2000, .sort = sort};
}

static struct top_page page_of(const struct top_view *view)
{
	struct top_page page;

	assert_int_equal(top_page_init(sampled, view, &page), 0);
	return page;
}

/* "symbol:total/self", or "process.comm.symbol:…" */
static void assert_rows(const struct top_view *view, const char *expected)
{
	struct top_page page = page_of(view);
	struct text text;
	FILE *out = text_stream(&text);

	for (size_t i = 0; i < page.n_rows; i++) {
		const struct top_row *row = &page.rows[i];

		fprintf(out, "%s%s%s%s%s%s:%u/%u", i ? " " : "", row->process ? row->process : "",
			row->process ? "." : "", row->comm ? row->comm : "", row->comm ? "." : "",
			row->symbol, (unsigned int)row->total, (unsigned int)row->self);
	}
	assert_string_equal(text_finish(&text), expected);
	free(text.data);
	top_page_fini(&page);
}

static void rows_are_in_the_order_of_the_view(void **state)
{
	struct top_view view = begin(TOP_TOTAL);

	assert_rows(&view, "main:100/0 parse:80/40 lex:40/40 write:20/20 emit:20/0");
	view.sort = TOP_SELF;
	assert_rows(&view, "parse:80/40 lex:40/40 write:20/20 main:100/0 emit:20/0");
	view.sort = TOP_SYMBOL;
	assert_rows(&view, "emit:20/0 lex:40/40 main:100/0 parse:80/40 write:20/20");
	view.sort = TOP_DSO;
	assert_rows(&view, "main:100/0 parse:80/40 lex:40/40 emit:20/0 write:20/20");
	view.sort = TOP_COMM;
	assert_rows(&view, "cc1.main:70/0 cc1.parse:50/10 cc1.lex:40/40 cc1.write:20/20 "
			   "cc1.emit:20/0 sh.parse:30/30 sh.main:30/0");
	view.sort = TOP_PID;
	assert_rows(&view, "9.sh.parse:30/30 9.sh.main:30/0 10.cc1.parse:50/10 10.cc1.main:50/0 "
			   "10.cc1.lex:40/40 11.cc1.write:20/20 11.cc1.emit:20/0 11.cc1.main:20/0");
}

static void filters_narrow_the_rows(void **state)
{
	struct top_view view = begin(TOP_TOTAL);

	strcpy(view.filters[TOP_FILTER_SYMBOL], "E");
	assert_rows(&view, "parse:80/40 lex:40/40 write:20/20 emit:20/0");
	strcpy(view.filters[TOP_FILTER_DSO], "kernel");
	assert_rows(&view, "write:20/20");
	view.hide_kernel = true;
	assert_rows(&view, "");
	view = begin(TOP_TOTAL);
	view.hide_user = true;
	assert_rows(&view, "write:20/20");
	view = begin(TOP_TOTAL);
	strcpy(view.filters[TOP_FILTER_COMM], "s");
	assert_rows(&view, "sh.parse:30/30 sh.main:30/0");
	view = begin(TOP_TOTAL);
	strcpy(view.filters[TOP_FILTER_PID], "1");
	assert_rows(&view, "");
	strcpy(view.filters[TOP_FILTER_PID], "11");
	assert_rows(&view, "11.cc1.write:20/20 11.cc1.emit:20/0 11.cc1.main:20/0");
}

static void assert_screen(const struct top_page *page, const struct top_view *view, size_t width,
			  size_t height, const char *expected)
{
	struct top_screen screen;
	struct text text;
	FILE *out = text_stream(&text);

	assert_int_equal(top_screen_init(page, view, &status, width, height, &screen), 0);
	assert_int_equal(screen.count, height);
	for (size_t i = 0; i < screen.count; i++)
		fprintf(out, "%c%s\n", " =>"[screen.lines[i].style], screen.lines[i].text);
	assert_string_equal(text_finish(&text), expected);
	free(text.data);
	top_screen_fini(&screen);
}

static void a_screen_has_a_head_rows_and_a_foot(void **state)
{
	struct top_view view = begin(TOP_TOTAL);
	struct top_page page = page_of(&view);

	view.cursor = 1;
	assert_screen(&page, &view, 60, 12,
		      " bobbin top: everything; 1998 samples/s of cpu-clock, 99.5 %…\n"
		      " 2 processes; 75.0 % of the stacks walked in the kernel, oth…\n"
		      " every 2 s; sorted by total\n"
		      "=   Total     Self  Shared Object  Symbol\n"
		      "  100.00%    0.00%  app            [.] main\n"
		      ">  80.00%   40.00%  app            [.] parse\n"
		      "   40.00%   40.00%  app            [.] lex\n"
		      "   20.00%   20.00%  [kernel]       [k] write\n"
		      "   20.00%    0.00%  app            [.] emit\n"
		      " \n"
		      " \n"
		      "=q quit  h help  s sort  / filter  d dso  c comm  p pid  Ent…\n");
	view.first = 2;
	view.cursor = 2;
	view.typing = TOP_FILTER_DSO;
	strcpy(view.typed, "ap");
	assert_screen(&page, &view, 20, 6,
		      " bobbin top: everyth…\n"
		      " 2 processes; 75.0 %…\n"
		      " every 2 s; sorted b…\n"
		      "=   Total     Self  …\n"
		      ">  40.00%   40.00%  …\n"
		      "=dso: ap_\n");
	top_page_fini(&page);
}

static void a_recording_has_another_head(void **state)
{
	const struct top_status recorded = {.subject = "perf.data",
					    .event = "cycles",
					    .samples = 210,
					    .user = 200,
					    .complete = 199,
					    .lost = 3};
	struct top_view view = begin(TOP_TOTAL);
	struct top_page page = page_of(&view);
	struct text text;

	view.still = true;
	view.events = 2;
	view.event = 1;
	top_screen_print(&page, &view, &recorded, 0, text_stream(&text));
	assert_string_equal(text_finish(&text),
			    "bobbin report: perf.data; 210 samples of cycles, 99.5 % of 200 user "
			    "stacks complete, 3 lost\n"
			    "event count 100; event 2 of 2, Tab shows the next\n"
			    "sorted by total\n"
			    "   Total     Self  Shared Object  Symbol\n");
	free(text.data);
	top_page_fini(&page);
}

/* What help says on a screen that has room for it. */
static char *help_of(const struct top_view *view)
{
	struct top_page page = page_of(view);
	struct top_screen screen;
	struct text text;
	FILE *out = text_stream(&text);

	assert_int_equal(top_screen_init(&page, view, &status, 100, 30, &screen), 0);
	for (size_t i = TOP_SCREEN_HEAD; i < screen.count; i++)
		fprintf(out, "%s\n", screen.lines[i].text);
	text_finish(&text);
	top_screen_fini(&screen);
	top_page_fini(&page);
	return text.data;
}

static void help_is_about_the_keys_that_there_are(void **state)
{
	struct top_view view = begin(TOP_TOTAL);
	char *help;

	view.help = true;
	help = help_of(&view);
	assert_non_null(strstr(help, "\nz           count from zero\n"));
	assert_null(strstr(help, "next event"));
	free(help);
	view.still = true;
	view.events = 2;
	help = help_of(&view);
	assert_null(strstr(help, "count from zero"));
	assert_null(strstr(help, "z zero"));
	assert_non_null(strstr(help, "\nTab         show the next event of the recording\n"));
	assert_non_null(strstr(help, "  Tab event\n"));
	free(help);
}

static void a_call_graph_follows_its_row(void **state)
{
	struct top_view view = begin(TOP_SELF);
	struct top_page page = page_of(&view);
	struct top_lines lines;

	lines = top_page_lines(&page, &view, 20);
	top_view_key(&view, TOP_KEY_ENTER, &lines);
	top_page_fini(&page);
	page = page_of(&view);
	view.cursor = 3;
	lines = top_page_lines(&page, &view, 20);
	assert_int_equal(lines.row, view.expanded);
	assert_int_equal(lines.count, page.n_rows + page.n_graph);
	assert_screen(&page, &view, 50, 10,
		      " bobbin top: everything; 1998 samples/s of cpu-clo…\n"
		      " 2 processes; 75.0 % of the stacks walked in the k…\n"
		      " every 2 s; sorted by self\n"
		      "=   Total     Self  Shared Object  Symbol\n"
		      "   80.00%   40.00%  app            [.] parse\n"
		      "             |\n"
		      "             ---parse\n"
		      ">               main\n"
		      "   40.00%   40.00%  app            [.] lex\n"
		      "=q quit  h help  s sort  / filter  d dso  c comm  …\n");
	top_page_fini(&page);
}

static void call_graphs_can_be_turned(void **state)
{
	static const struct {
		enum top_sort sort;
		const char *first, *last;
	} graphs[] = {
		{TOP_SELF, "            ---main", "               parse"},
		{TOP_TOTAL, "            ---parse", "               main"},
	};

	for (size_t i = 0; i < 2; i++) {
		struct top_view view = begin(graphs[i].sort);
		struct top_page page = page_of(&view);

		for (size_t row = 0; row < page.n_rows; row++)
			if (!strcmp(page.rows[row].symbol, "parse"))
				view.expanded = page.rows[row].id;
		top_page_fini(&page);
		view.turned = true;
		page = page_of(&view);
		assert_int_equal(page.n_graph, 3);
		assert_string_equal(page.graph[1], graphs[i].first);
		assert_string_equal(page.graph[2], graphs[i].last);
		top_page_fini(&page);
	}
}

static void light_rows_have_a_call_graph(void **state)
{
	struct top_view view = begin(TOP_SYMBOL);
	struct top_page page;
	const char *graph;

	add("1", "sh", "main;once", 1);
	add("1", "sh", "main;often", 1000000);
	page = page_of(&view);
	for (size_t i = 0; i < page.n_rows; i++)
		if (!strcmp(page.rows[i].symbol, "once"))
			view.expanded = page.rows[i].id;
	assert_int_not_equal(view.expanded, 0);
	top_page_fini(&page);
	page = page_of(&view);
	assert_null(top_page_line(&page, page.expanded + 2, &graph));
	assert_string_equal(graph, "            ---main");
	/* sorted by self, a function that only calls has that of what it calls */
	view.sort = TOP_SELF;
	for (size_t i = 0; i < page.n_rows; i++)
		if (!strcmp(page.rows[i].symbol, "emit"))
			view.expanded = page.rows[i].id;
	top_page_fini(&page);
	page = page_of(&view);
	assert_true(page.n_graph > 2);
	top_page_fini(&page);
}

static void the_cursor_follows_the_call_graph(void **state)
{
	struct top_view view = begin(TOP_SELF);
	struct top_page before = page_of(&view), now;
	struct top_lines lines;

	view.cursor = 2;
	lines = top_page_lines(&before, &view, 20);
	top_view_key(&view, TOP_KEY_ENTER, &lines);
	top_page_fini(&before);
	before = page_of(&view);
	assert_string_equal(before.rows[before.expanded].symbol, "write");
	view.cursor += 1;
	add("11", "cc1", "main;emit;k:write", 200);
	now = page_of(&view);
	top_page_follow(&before, &now, &view);
	assert_int_equal(now.expanded, 0);
	assert_int_equal(view.cursor, 1);
	assert_int_equal(view.first, 0);
	top_page_fini(&before);
	top_page_fini(&now);
}

static void names_command_no_terminal_and_fit(void **state)
{
	static const char hostile[] =
		"a\033[7m\nb\xff\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe2\x80\xae";
	const struct call_frame frame = {.name = hostile, .dso = hostile, .kind = FRAME_USER};
	const struct report_origin origin = {
		.texts = {[REPORT_COMM] = hostile, [REPORT_PID] = "1\033"},
	};
	struct top_view view = begin(TOP_COMM);
	struct top_page page;

	strcpy(view.filters[TOP_FILTER_SYMBOL], "[7m");
	strcpy(view.typed, "\033[2J\xc3");
	assert_int_equal(report_add_of(sampled, &origin, &frame, 1, 1000), 0);
	page = page_of(&view);
	assert_int_equal(page.n_rows, 1);
	for (size_t width = 0; width < 100; width++) {
		struct top_screen screen;

		view.typing = width % 2 ? TOP_NO_FILTER : TOP_FILTER_COMM;
		assert_int_equal(top_screen_init(&page, &view, &status, width, 8, &screen), 0);
		for (size_t i = 0; i < screen.count; i++) {
			const char *at = screen.lines[i].text;
			int32_t c;

			assert_true(safe_text_columns(at) <= width);
			while ((c = safe_text_decode(&at)))
				assert_true(c > 0 && !safe_text_is_control(c));
		}
		top_screen_fini(&screen);
	}
	top_page_fini(&page);
}

static void no_samples_are_an_empty_table(void **state)
{
	struct top_view view = begin(TOP_TOTAL);
	const struct top_status nothing = {.subject = "process 7", .ended = true};
	struct text text;
	struct top_page page;

	report_close(sampled);
	assert_int_equal(report_open(&sampled), 0);
	page = page_of(&view);
	top_screen_print(&page, &view, &nothing, 10, text_stream(&text));
	assert_string_equal(text_finish(&text),
			    "bobbin top: process 7; 0 samples/s, 0 lost\n"
			    "0 processes; stacks walked from copies; it has ended\n"
			    "every 2 s; sorted by total\n"
			    "   Total     Self  Shared Object  Symbol\n");
	free(text.data);
	top_page_fini(&page);
}

static void what_is_counted_late_is_said(void **state)
{
	struct top_view view = begin(TOP_TOTAL);
	struct top_status late = {.subject = "everything", .late_ms = 3240};
	struct top_page page = page_of(&view);
	struct text text;

	top_screen_print(&page, &view, &late, 1, text_stream(&text));
	assert_non_null(strstr(text_finish(&text),
			       "0 processes; stacks walked from copies; late: what is counted "
			       "ended 3.2 s ago"));
	free(text.data);
	late.late_ms = 900;
	top_screen_print(&page, &view, &late, 1, text_stream(&text));
	assert_null(strstr(text_finish(&text), "late"));
	free(text.data);
	top_page_fini(&page);
}

#define WITH_SAMPLES(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SAMPLES(rows_are_in_the_order_of_the_view),
		WITH_SAMPLES(what_is_counted_late_is_said),
		WITH_SAMPLES(filters_narrow_the_rows),
		WITH_SAMPLES(a_screen_has_a_head_rows_and_a_foot),
		WITH_SAMPLES(a_recording_has_another_head),
		WITH_SAMPLES(help_is_about_the_keys_that_there_are),
		WITH_SAMPLES(a_call_graph_follows_its_row),
		WITH_SAMPLES(call_graphs_can_be_turned),
		WITH_SAMPLES(light_rows_have_a_call_graph),
		WITH_SAMPLES(the_cursor_follows_the_call_graph),
		WITH_SAMPLES(names_command_no_terminal_and_fit),
		WITH_SAMPLES(no_samples_are_an_empty_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
