/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * top_view.h - how the user of a live table, or of a recording's, looks at it, and what keys do.
 *
 *	view, key ──► view
 *
 * Nothing here reads or draws.
 */
#ifndef BOBBIN_EXPORT_TOP_VIEW_H
#define BOBBIN_EXPORT_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From left to right, as "<" and ">" go. */
enum top_sort {
	TOP_TOTAL,
	TOP_SELF,
	TOP_PID,
	TOP_COMM,
	TOP_DSO,
	TOP_SYMBOL,
	TOP_SORTS
};

/* What can be narrowed, and which is being typed. */
enum top_filter {
	TOP_FILTER_SYMBOL,
	TOP_FILTER_DSO,
	TOP_FILTER_COMM,
	TOP_FILTER_PID,
	TOP_FILTERS,
	TOP_NO_FILTER = TOP_FILTERS
};

#define TOP_FILTER_SIZE 64

/* Keys are bytes, and these. */
enum top_key {
	TOP_KEY_TAB = '\t',
	TOP_KEY_CTRL_U = 0x15,
	TOP_KEY_ENTER = '\r',
	TOP_KEY_ESCAPE = 0x1b,
	TOP_KEY_BACKSPACE = 0x7f,
	TOP_KEY_UP = 256,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
};

#define TOP_LEAST_DELAY_MS 100
#define TOP_MOST_DELAY_MS 3600000

/**
 * struct top_view - how a table is looked at
 * @filters: what names must contain, or the process be; "": anything
 * @typing: the filter whose new text is @typed
 * @cursor: the line it is on, counted from the first row on
 * @first: the line at the top of the screen
 * @expanded: the id of the row whose call graph is shown; 0: none
 * @delay_ms: between two tables
 * @turned: call graphs begin at their other ends
 * @still: of a recording: nothing is counted any more
 * @events: @event: of that many of a recording the table is of this one
 * @paused: nothing is counted
 * @reset: the counts are to be forgotten; the caller's to clear
 * @help: @quit: as it says
 */
struct top_view {
	enum top_sort sort;
	char filters[TOP_FILTERS][TOP_FILTER_SIZE];
	enum top_filter typing;
	char typed[TOP_FILTER_SIZE];
	size_t cursor, first;
	uint64_t expanded, delay_ms;
	size_t events, event;
	bool turned, still, hide_kernel, hide_user, paused, reset, help, quit;
};

/**
 * struct top_lines - what the keys move in
 * @count: lines of the table
 * @height: of those, that the screen shows; at least 1
 * @row: the id of the row that the cursor is on or below; 0: there is none
 */
struct top_lines {
	size_t count, height;
	uint64_t row;
};

/* Change the view as a key says; others do nothing. */
void top_view_key(struct top_view *view, int key, const struct top_lines *lines);

/* Whether there are other rows to see in @now, or in another order. */
bool top_view_shows_others(const struct top_view *before, const struct top_view *now);

/* Keep the cursor on the table, and on the screen. */
void top_view_scroll(struct top_view *view, const struct top_lines *lines);

/* The name of an order, for an option: "total"; and back, TOP_SORTS for none. */
const char *top_sort_name(enum top_sort sort);
enum top_sort top_sort_named(const char *name);

#endif
