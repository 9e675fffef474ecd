/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/top_view.h"

#include <string.h>

static const char *const sorts[TOP_SORTS] = {
	[TOP_TOTAL] = "total", [TOP_SELF] = "self", [TOP_PID] = "pid",
	[TOP_COMM] = "comm",   [TOP_DSO] = "dso",   [TOP_SYMBOL] = "symbol",
};

const char *top_sort_name(enum top_sort sort)
{
	return sorts[sort];
}

enum top_sort top_sort_named(const char *name)
{
	enum top_sort sort = 0;

	while (sort < TOP_SORTS && strcmp(sorts[sort], name) != 0)
		sort++;
	return sort;
}

static void begin_typing(struct top_view *view, enum top_filter filter)
{
	view->typing = filter;
	memcpy(view->typed, view->filters[filter], TOP_FILTER_SIZE);
}

static void to_top(struct top_view *view)
{
	view->cursor = view->first = 0;
}

/* The last character, which may be several bytes. */
static void take_back(char *text)
{
	size_t length = strlen(text);

	while (length && ((unsigned char)text[--length] & 0xc0) == 0x80)
		;
	text[length] = '\0';
}

static void type(struct top_view *view, int key)
{
	size_t length = strlen(view->typed);
	bool digits = view->typing == TOP_FILTER_PID;

	if (key < 0x20 || key > 0xff || (digits && (key < '0' || key > '9')))
		return;
	if (length + 1 >= TOP_FILTER_SIZE)
		return;
	view->typed[length] = (char)key;
	view->typed[length + 1] = '\0';
}

static void key_typed(struct top_view *view, int key)
{
	switch (key) {
	case TOP_KEY_ENTER:
	case '\n':
		memcpy(view->filters[view->typing], view->typed, TOP_FILTER_SIZE);
		view->expanded = 0;
		to_top(view);
		view->typing = TOP_NO_FILTER;
		break;
	case TOP_KEY_ESCAPE:
		view->typing = TOP_NO_FILTER;
		break;
	case TOP_KEY_BACKSPACE:
	case '\b':
		take_back(view->typed);
		break;
	case TOP_KEY_CTRL_U:
		view->typed[0] = '\0';
		break;
	default:
		type(view, key);
	}
}

static void move(struct top_view *view, int key, const struct top_lines *lines)
{
	size_t page = lines->height > 1 ? lines->height - 1 : 1;

	switch (key) {
	case TOP_KEY_UP:
		view->cursor -= view->cursor > 0;
		break;
	case TOP_KEY_DOWN:
		view->cursor++;
		break;
	case TOP_KEY_PAGE_UP:
		view->cursor -= view->cursor < page ? view->cursor : page;
		break;
	case TOP_KEY_PAGE_DOWN:
		view->cursor += page;
		break;
	case TOP_KEY_HOME:
		view->cursor = 0;
		break;
	default:
		view->cursor = lines->count;
	}
	top_view_scroll(view, lines);
}

static void sort_by(struct top_view *view, enum top_sort sort)
{
	/* rows are others where processes or commands are apart */
	view->expanded = 0;
	view->sort = sort;
	to_top(view);
}

static void sort_next(struct top_view *view, int step)
{
	sort_by(view, (enum top_sort)(((int)view->sort + step + TOP_SORTS) % TOP_SORTS));
}

/* To the next of 1, 2, 5, 10 … tenths of a second. */
static void slower(struct top_view *view, bool more)
{
	static const uint64_t delays[] = {100,   200,   500,   1000,   2000,   5000,
					  10000, 30000, 60000, 300000, 900000, 3600000};
	size_t count = sizeof(delays) / sizeof(*delays), i = 0;

	if (more) {
		while (i + 1 < count && delays[i] <= view->delay_ms)
			i++;
	} else {
		i = count - 1;
		while (i > 0 && delays[i] >= view->delay_ms)
			i--;
	}
	view->delay_ms = delays[i];
}

/* Keys that ask for a text. */
static bool key_filter(struct top_view *view, int key)
{
	static const int keys[TOP_FILTERS] = {
		[TOP_FILTER_SYMBOL] = '/',
		[TOP_FILTER_DSO] = 'd',
		[TOP_FILTER_COMM] = 'c',
		[TOP_FILTER_PID] = 'p',
	};
	enum top_filter filter = 0;

	while (filter < TOP_FILTERS && keys[filter] != key)
		filter++;
	if (filter == TOP_FILTERS)
		return false;
	begin_typing(view, filter);
	return true;
}

static void show_next_event(struct top_view *view)
{
	if (view->events < 2)
		return;
	view->event = (view->event + 1) % view->events;
	view->expanded = 0;
	to_top(view);
}

/* Keys that are about the counting of samples. */
static bool key_counting(struct top_view *view, int key)
{
	switch (key) {
	case 'z':
		view->reset = !view->reset;
		return true;
	case ' ':
		view->paused = !view->paused;
		return true;
	case '+':
	case '-':
		slower(view, key == '+');
		return true;
	default:
		return false;
	}
}

/* Keys that turn something on or off. */
static bool key_switch(struct top_view *view, int key)
{
	bool *flag;

	switch (key) {
	case 'q':
		flag = &view->quit;
		break;
	case 'h':
	case '?':
		flag = &view->help;
		break;
	case 'G':
		flag = &view->turned;
		break;
	case 'K':
		flag = &view->hide_kernel;
		break;
	case 'U':
		flag = &view->hide_user;
		break;
	default:
		return false;
	}
	*flag = !*flag;
	return true;
}

static bool key_row(struct top_view *view, int key, const struct top_lines *lines)
{
	switch (key) {
	case 'e':
	case '\n':
	case TOP_KEY_ENTER:
		view->expanded = view->expanded == lines->row ? 0 : lines->row;
		return true;
	case TOP_KEY_ESCAPE:
		view->expanded = 0;
		return true;
	case 'j':
		move(view, TOP_KEY_DOWN, lines);
		return true;
	case 'k':
		move(view, TOP_KEY_UP, lines);
		return true;
	case TOP_KEY_UP:
	case TOP_KEY_DOWN:
	case TOP_KEY_PAGE_UP:
	case TOP_KEY_PAGE_DOWN:
	case TOP_KEY_HOME:
	case TOP_KEY_END:
		move(view, key, lines);
		return true;
	default:
		return false;
	}
}

static void key_command(struct top_view *view, int key, const struct top_lines *lines)
{
	if (key_filter(view, key) || key_switch(view, key) || key_row(view, key, lines) ||
	    (!view->still && key_counting(view, key)))
		return;
	switch (key) {
	case TOP_KEY_TAB:
		show_next_event(view);
		break;
	case 's':
	case '>':
		sort_next(view, 1);
		break;
	case '<':
		sort_next(view, -1);
		break;
	case 'x':
		memset(view->filters, 0, sizeof(view->filters));
		view->expanded = 0;
		to_top(view);
		break;
	default:
		break;
	}
}

void top_view_key(struct top_view *view, int key, const struct top_lines *lines)
{
	if (view->help) {
		view->help = false;
		view->quit = key == 'q';
	} else if (view->typing != TOP_NO_FILTER) {
		key_typed(view, key);
	} else {
		key_command(view, key, lines);
	}
}

bool top_view_shows_others(const struct top_view *before, const struct top_view *now)
{
	return before->sort != now->sort || before->expanded != now->expanded ||
	       before->event != now->event || before->turned != now->turned ||
	       before->hide_kernel != now->hide_kernel || before->hide_user != now->hide_user ||
	       memcmp(before->filters, now->filters, sizeof(before->filters)) != 0;
}

void top_view_scroll(struct top_view *view, const struct top_lines *lines)
{
	size_t height = lines->height ? lines->height : 1;

	if (view->cursor >= lines->count)
		view->cursor = lines->count ? lines->count - 1 : 0;
	if (view->first > view->cursor)
		view->first = view->cursor;
	if (view->cursor - view->first >= height)
		view->first = view->cursor - height + 1;
	/* no empty lines where there are rows above */
	if (view->first + height > lines->count)
		view->first = lines->count > height ? lines->count - height : 0;
}
