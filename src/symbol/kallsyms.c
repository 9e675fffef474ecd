/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/kallsyms.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SYMBOLS (4u << 20)
#define MAX_NAME 512
#define PAGE 4096ull

/* Marks, in order of preference.  What is no text only ends what is before it. */
#define MARK_TEXT (1ull << 60)
#define MARK_WEAK (2ull << 60)
#define MARK_GLOBAL (3ull << 60)
#define MARKS (3ull << 60)

static uint64_t marks_of(char type)
{
	switch (type) {
	case 't':
		return MARK_TEXT;
	case 'w':
	case 'W':
		return MARK_WEAK;
	case 'T':
		return MARK_GLOBAL;
	default:
		return 0;
	}
}

/* "ffffffff81000000 T _text" or "ffffffffc0000000 t init\t[module]". */
static int add_line(struct symlist *l, const char *line)
{
	char name[MAX_NAME], *end;
	uint64_t address = strtoull(line, &end, 16), marks;
	const char *module;
	int len;

	if (l->map.count == MAX_SYMBOLS)
		return -E2BIG;
	if (!address || end == line || end[0] != ' ' || !end[1] || end[2] != ' ')
		return 0;
	marks = marks_of(end[1]);
	line = end + 3;
	module = strchr(line, '\t');
	len = module ? (int)(module - line) : (int)strlen(line);
	len = snprintf(name, sizeof(name), "%.*s%s%s", len, line, module ? " " : "",
		       module ? module + 1 : "");
	if (len <= 0)
		return 0;
	return symlist_add(l, address, 1, marks, name,
			   (size_t)len < sizeof(name) ? (size_t)len : sizeof(name) - 1);
}

static bool reads_better(const struct symlist *l, const struct interval *a,
			 const struct interval *b)
{
	uint64_t x = a->value & MARKS, y = b->value & MARKS;

	if (x != y)
		return y > x;
	return strspn(symlist_name(l, b), "_") < strspn(symlist_name(l, a), "_");
}

/* One item for each address. */
static void drop_aliases(struct symlist *l)
{
	struct interval *items = l->map.items;
	size_t kept = 0;

	for (size_t i = 0; i < l->map.count; i++) {
		if (kept && items[kept - 1].start == items[i].start) {
			if (reads_better(l, &items[kept - 1], &items[i]))
				items[kept - 1] = items[i];
			continue;
		}
		items[kept++] = items[i];
	}
	l->map.count = kept;
}

static bool same_module(const struct symlist *l, const struct interval *a, const struct interval *b)
{
	const char *x = strchr(symlist_name(l, a), '['), *y = strchr(symlist_name(l, b), '[');

	return x && y ? !strcmp(x, y) : !x && !y;
}

/*
 * Sizes are not listed: a function reaches to the next symbol, the last one of
 * the kernel or of a module to the end of its page.
 */
static void set_sizes(struct symlist *l)
{
	struct interval *items = l->map.items;

	for (size_t i = 0; i < l->map.count; i++) {
		uint64_t size = PAGE - items[i].start % PAGE, next;

		if (i + 1 < l->map.count) {
			next = items[i + 1].start - items[i].start;
			if (next < size || same_module(l, &items[i], &items[i + 1]))
				size = next;
		}
		items[i].size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
	}
}

static void drop_data(struct symlist *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->map.count; i++)
		if (l->map.items[i].value & MARKS)
			l->map.items[kept++] = l->map.items[i];
	l->map.count = kept;
}

int kallsyms_read(const char *path, struct symlist *ret)
{
	FILE *f = fopen(path, "re");
	struct symlist l = {0};
	int err = f ? symlist_read(f, add_line, &l) : 0;

	if (f)
		fclose(f);
	if (err)
		return err;
	drop_aliases(&l);
	set_sizes(&l);
	drop_data(&l);
	interval_map_sort(&l.map);
	interval_map_shrink(&l.map);
	*ret = l;
	return 0;
}
