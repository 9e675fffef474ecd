/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What keys do to the view of a live table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "export/top_view.h"

static const struct top_lines table = {.count = 100, .height = 20, .row = 77};

static struct top_view begin(void)
{
	return (struct top_view){.typing = TOP_NO_FILTER, .delay_ms = 2000};
}

static void keys(struct top_view *view, const char *typed)
{
	while (*typed)
		top_view_key(view, (unsigned char)*typed++, &table);
}

static void q_quits(void **state)
{
	struct top_view view = begin();

	keys(&view, "jkhh/q");
	assert_false(view.quit);
	keys(&view, "\033q");
	assert_true(view.quit);
}

static void the_order_goes_around_both_ways(void **state)
{
	struct top_view view = begin();

	keys(&view, "s");
	assert_int_equal(view.sort, TOP_SELF);
	keys(&view, ">");
	assert_int_equal(view.sort, TOP_PID);
	keys(&view, "<<<");
	assert_int_equal(view.sort, TOP_SYMBOL);
	keys(&view, ">");
	assert_int_equal(view.sort, TOP_TOTAL);
	for (enum top_sort sort = 0; sort < TOP_SORTS; sort++)
		assert_int_equal(top_sort_named(top_sort_name(sort)), sort);
	assert_int_equal(top_sort_named("none"), TOP_SORTS);
}

static void a_filter_is_typed_and_holds_from_enter_on(void **state)
{
	struct top_view view = begin();

	keys(&view, "/spq");
	assert_int_equal(view.typing, TOP_FILTER_SYMBOL);
	assert_string_equal(view.typed, "spq");
	assert_string_equal(view.filters[TOP_FILTER_SYMBOL], "");
	keys(&view, "\x7f\x7fin\r");
	assert_string_equal(view.filters[TOP_FILTER_SYMBOL], "sin");
	assert_int_equal(view.typing, TOP_NO_FILTER);
	assert_false(view.quit);
	/* it can be changed, or left as it was */
	keys(&view, "/g\r");
	assert_string_equal(view.filters[TOP_FILTER_SYMBOL], "sing");
	keys(&view, "/xyz\033");
	assert_string_equal(view.filters[TOP_FILTER_SYMBOL], "sing");
	keys(&view, "dlibc\rccc1\r/\x15\r");
	assert_string_equal(view.filters[TOP_FILTER_SYMBOL], "");
	assert_string_equal(view.filters[TOP_FILTER_DSO], "libc");
	assert_string_equal(view.filters[TOP_FILTER_COMM], "cc1");
	keys(&view, "x");
	for (int i = 0; i < TOP_FILTERS; i++)
		assert_string_equal(view.filters[i], "");
}

static void a_process_is_a_number(void **state)
{
	struct top_view view = begin();

	keys(&view, "p1a2-3\r");
	assert_string_equal(view.filters[TOP_FILTER_PID], "123");
}

static void a_text_has_an_end(void **state)
{
	struct top_view view = begin();

	keys(&view, "/");
	for (int i = 0; i < 1000; i++)
		keys(&view, "\xc3\xa4");
	assert_int_equal(strlen(view.typed), TOP_FILTER_SIZE - 1);
	/* half a character, and a whole one, are taken back */
	keys(&view, "\x7f");
	assert_int_equal(strlen(view.typed), TOP_FILTER_SIZE - 2);
	keys(&view, "\x7f");
	assert_int_equal(strlen(view.typed), TOP_FILTER_SIZE - 4);
	for (int i = 0; i < 1000; i++)
		keys(&view, "\x7f");
	assert_string_equal(view.typed, "");
	top_view_key(&view, TOP_KEY_UP, &table);
	assert_string_equal(view.typed, "");
}

static void the_cursor_stays_on_the_table_and_on_the_screen(void **state)
{
	const struct top_lines small = {.count = 3, .height = 20}, none = {.height = 20};
	struct top_view view = begin();

	top_view_key(&view, TOP_KEY_UP, &table);
	assert_int_equal(view.cursor, 0);
	for (int i = 0; i < 20; i++)
		top_view_key(&view, TOP_KEY_DOWN, &table);
	assert_int_equal(view.cursor, 20);
	assert_int_equal(view.first, 1);
	top_view_key(&view, TOP_KEY_PAGE_DOWN, &table);
	assert_int_equal(view.cursor, 39);
	top_view_key(&view, TOP_KEY_END, &table);
	assert_int_equal(view.cursor, 99);
	assert_int_equal(view.first, 80);
	top_view_key(&view, TOP_KEY_PAGE_DOWN, &table);
	assert_int_equal(view.cursor, 99);
	top_view_key(&view, TOP_KEY_PAGE_UP, &table);
	assert_int_equal(view.cursor, 80);
	assert_int_equal(view.first, 80);
	top_view_scroll(&view, &small);
	assert_int_equal(view.cursor, 2);
	assert_int_equal(view.first, 0);
	top_view_scroll(&view, &none);
	assert_int_equal(view.cursor, 0);
	top_view_key(&view, TOP_KEY_END, &table);
	top_view_key(&view, TOP_KEY_HOME, &table);
	assert_int_equal(view.first, 0);
}

static void enter_shows_and_hides_what_is_below_a_row(void **state)
{
	struct top_view view = begin();

	keys(&view, "\r");
	assert_int_equal(view.expanded, 77);
	keys(&view, "e");
	assert_int_equal(view.expanded, 0);
	keys(&view, "e\033");
	assert_int_equal(view.expanded, 0);
}

static void intervals_have_bounds(void **state)
{
	struct top_view view = begin();

	keys(&view, "+");
	assert_int_equal(view.delay_ms, 5000);
	keys(&view, "--");
	assert_int_equal(view.delay_ms, 1000);
	view.delay_ms = 3000;
	keys(&view, "-");
	assert_int_equal(view.delay_ms, 2000);
	for (int i = 0; i < 20; i++)
		keys(&view, "-");
	assert_int_equal(view.delay_ms, TOP_LEAST_DELAY_MS);
	for (int i = 0; i < 20; i++)
		keys(&view, "+");
	assert_int_equal(view.delay_ms, TOP_MOST_DELAY_MS);
}

static void switches_switch(void **state)
{
	struct top_view view = begin();

	keys(&view, "GKU z");
	assert_true(view.turned && view.hide_kernel && view.hide_user && view.paused && view.reset);
	keys(&view, "KU ");
	assert_false(view.hide_kernel || view.hide_user || view.paused);
	keys(&view, "h");
	assert_true(view.help);
	keys(&view, "s");
	assert_false(view.help);
	assert_int_equal(view.sort, TOP_TOTAL);
}

static void a_recording_has_events_and_counts_nothing(void **state)
{
	struct top_view view = begin(), before;

	keys(&view, "\t");
	assert_int_equal(view.event, 0);
	view.still = true;
	before = view;
	keys(&view, "z +-");
	assert_memory_equal(&view, &before, sizeof(view));
	view.events = 2;
	view.cursor = view.first = 30;
	view.expanded = 77;
	keys(&view, "\t");
	assert_int_equal(view.event, 1);
	assert_int_equal(view.cursor + view.first + view.expanded, 0);
	assert_true(top_view_shows_others(&before, &view));
	keys(&view, "\t");
	assert_int_equal(view.event, 0);
	assert_false(top_view_shows_others(&before, &view));
}

static void unknown_keys_do_nothing(void **state)
{
	struct top_view view = begin(), before = view;

	for (int key = 0x80; key < 1000; key++)
		if (key < TOP_KEY_UP || key > TOP_KEY_END)
			top_view_key(&view, key, &table);
	keys(&view, "\001\002Zy");
	assert_memory_equal(&view, &before, sizeof(view));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(q_quits),
		cmocka_unit_test(the_order_goes_around_both_ways),
		cmocka_unit_test(a_filter_is_typed_and_holds_from_enter_on),
		cmocka_unit_test(a_process_is_a_number),
		cmocka_unit_test(a_text_has_an_end),
		cmocka_unit_test(the_cursor_stays_on_the_table_and_on_the_screen),
		cmocka_unit_test(enter_shows_and_hides_what_is_below_a_row),
		cmocka_unit_test(intervals_have_bounds),
		cmocka_unit_test(switches_switch),
		cmocka_unit_test(a_recording_has_events_and_counts_nothing),
		cmocka_unit_test(unknown_keys_do_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
