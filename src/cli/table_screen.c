/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>

#include "cli/top.h"

int table_screen_enter(void)
{
	int r = -EINTR;

	while (r == -EINTR && !top_signals.end)
		r = terminal_enter();
	return r == -EINTR ? 0 : r;
}

int table_screen_heed_signals(void)
{
	int r = 0;

	if (top_signals.stop) {
		top_signals.stop = 0;
		terminal_leave();
		top_signals_stop();
		top_signals.resumed = 0;
		r = table_screen_enter();
	}
	if (top_signals.resumed && !r) {
		top_signals.resumed = 0;
		r = table_screen_enter();
	}
	if (top_signals.resized) {
		top_signals.resized = 0;
		terminal_forget();
	}
	return r;
}

int table_screen_draw(const struct top_page *page, struct top_view *view,
		      const struct top_status *status)
{
	struct top_screen screen;
	struct top_lines lines;
	size_t width, height;
	int r;

	terminal_size(&width, &height);
	lines = top_page_lines(page, view, top_screen_table(height));
	top_view_scroll(view, &lines);
	r = top_screen_init(page, view, status, width, height, &screen);
	if (r)
		return r;
	r = terminal_draw(&screen, width);
	top_screen_fini(&screen);
	return r;
}

void table_screen_press(const struct top_page *page, struct top_view *view, int key)
{
	size_t width, height;
	struct top_lines lines;

	terminal_size(&width, &height);
	lines = top_page_lines(page, view, top_screen_table(height));
	top_view_key(view, key, &lines);
}
