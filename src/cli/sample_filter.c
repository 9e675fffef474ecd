/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/sample_filter.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_name.h"
#include "base/clock.h"
#include "profile/cgroup_table.h"

#define NUMBER_SIZE 16
/* of per cent, see struct sample_times */
#define PARTS 1000
#define ALL_PARTS (100 * (uint64_t)PARTS)
/* 2^53 nanoseconds, which a double counts exactly, are 104 days */
#define MOST_SECONDS 9e9

void sample_filter_fini(struct sample_filter *filter)
{
	free(filter->comms);
	free(filter->pids);
	free(filter->tids);
	free(filter->dsos);
	free(filter->symbols);
	free(filter->cgroups);
	*filter = (struct sample_filter){0};
}

/* To the next comma that is not within brackets. */
static size_t item_length(const char *list)
{
	size_t depth = 0, i = 0;

	for (; list[i] && (list[i] != ',' || depth); i++) {
		if (strchr("(<", list[i]))
			depth++;
		else if (strchr(")>", list[i]) && depth)
			depth--;
	}
	return i;
}

static bool is_item(const char *item, size_t length, const char *text)
{
	return strlen(text) == length && !memcmp(item, text, length);
}

static bool has_text(const char *list, const char *text)
{
	for (size_t length; *list; list += length + (list[length] == ',')) {
		length = item_length(list);
		if (is_item(list, length, text))
			return true;
	}
	return false;
}

static bool has_number(const char *list, int number)
{
	char text[NUMBER_SIZE];

	snprintf(text, sizeof(text), "%d", number);
	return has_text(list, text);
}

/* It is copied for fnmatch(); one that does not fit into memory matches nothing. */
static bool is_match(const char *item, size_t length, const char *text)
{
	char *pattern;
	bool match;

	if (strcspn(item, "*?[") >= length)
		return false;
	pattern = strndup(item, length);
	match = pattern && !fnmatch(pattern, text, FNM_NOESCAPE);
	free(pattern);
	return match;
}

static bool has_match(const char *list, const char *text)
{
	for (size_t length; *list; list += length + (list[length] == ',')) {
		length = item_length(list);
		if (is_item(list, length, text) || is_match(list, length, text))
			return true;
	}
	return false;
}

/* A pattern without a slash is one of a part of the path; what is below a cgroup is in it, too. */
static bool is_in_cgroup(const char *pattern, const char *path)
{
	const int flags = FNM_NOESCAPE | FNM_LEADING_DIR;

	if (strchr(pattern, '/'))
		return !fnmatch(pattern, path + (*pattern != '/'), flags);
	while ((path = strchr(path, '/')))
		if (!fnmatch(pattern, ++path, flags))
			return true;
	return false;
}

/* One that does not fit into memory has nothing in it. */
static bool has_cgroup(const char *list, const struct cgroup *cgroup)
{
	for (size_t length; cgroup && *list; list += length + (list[length] == ',')) {
		char *pattern;
		bool found;

		length = item_length(list);
		pattern = strndup(list, length);
		found = pattern && is_in_cgroup(pattern, cgroup->path);
		free(pattern);
		if (found)
			return true;
	}
	return false;
}

static bool has_path(const char *list, const char *path)
{
	return has_text(list, path) || has_text(list, base_name(path));
}

bool sample_filter_is_numbers(const char *list)
{
	return *list && *list != ',' && !list[strspn(list, "0123456789,")] && !strstr(list, ",,") &&
	       list[strlen(list) - 1] != ',';
}

/* Nanoseconds.  false: it is no time. */
static bool read_seconds(const char *text, const char **end, uint64_t *ret)
{
	char *stop;
	const double seconds = strtod(text, &stop);

	if (stop == text || !(seconds >= 0 && seconds <= MOST_SECONDS))
		return false;
	*ret = (uint64_t)(seconds * NS_PER_SECOND + 0.5);
	*end = stop;
	return true;
}

static bool read_percent(const char *text, const char **end, uint64_t *ret)
{
	char *stop;
	const double percent = strtod(text, &stop);

	if (stop == text || *stop != '%' || !(percent >= 0 && percent <= 100))
		return false;
	*ret = (uint64_t)(percent * PARTS + 0.5);
	*end = stop + 1;
	return true;
}

static bool parse_percent(const char *text, struct sample_times *ret)
{
	*ret = (struct sample_times){.some = true, .percent = true};
	return read_percent(text, &text, &ret->first) && *text++ == '-' &&
	       read_percent(text, &text, &ret->last) && !*text && ret->first <= ret->last;
}

bool sample_times_parse(const char *text, struct sample_times *ret)
{
	if (strchr(text, '%'))
		return parse_percent(text, ret);
	*ret = (struct sample_times){.last = UINT64_MAX, .some = true};
	if (*text != ',' && !read_seconds(text, &text, &ret->first))
		return false;
	if (*text++ != ',')
		return false;
	if (*text && !read_seconds(text, &text, &ret->last))
		return false;
	return !*text && ret->first <= ret->last;
}

void sample_times_settle(struct sample_times *times, uint64_t first, uint64_t last)
{
	const double part = (double)(last - first) / (double)ALL_PARTS;

	if (!times->percent)
		return;
	times->last = times->last == ALL_PARTS ? last
					       : first + (uint64_t)(part * (double)times->last);
	times->first = first + (uint64_t)(part * (double)times->first);
	times->percent = false;
}

bool sample_filter_takes(const struct sample_filter *filter, const struct stack_sample *sample)
{
	const struct sample_times *times = &filter->times;

	return (!filter->comms || has_text(filter->comms, sample->comm)) &&
	       (!filter->pids || has_number(filter->pids, sample->pid)) &&
	       (!filter->tids || has_number(filter->tids, sample->tid)) &&
	       (!filter->cgroups || has_cgroup(filter->cgroups, sample->cgroup)) &&
	       (!times->some || (sample->time >= times->first && sample->time <= times->last));
}

bool sample_filter_takes_stack(const struct sample_filter *filter, const struct named_stack *stack)
{
	bool dso = !filter->dsos, symbol = !filter->symbols;

	for (size_t i = 0; i < stack->count && !(dso && symbol); i++) {
		const struct call_frame *frame = &stack->frames[i];

		dso = dso || has_path(filter->dsos, frame->dso);
		symbol = symbol ||
			 has_match(filter->symbols, frame->name ? frame->name : "[unknown]");
	}
	return dso && symbol;
}
