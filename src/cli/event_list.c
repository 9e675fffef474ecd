/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/targets.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text_file.h"
#include "base/vector.h"
#include "cli/command.h"
#include "profile/tracepoint.h"
#include "symbol/symbol_offset.h"

#define EVENTS_MAX 64
#define MESSAGE_SIZE 256
#define PROBES "/sys/bus/event_source/devices/uprobe/"

struct counter {
	const char *name;
	uint32_t type;
	uint64_t config;
};

static const struct counter counters[] = {
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
	{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
	{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
	{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
};

#define COUNTERS (sizeof(counters) / sizeof(*counters))

/* The length of a name without its ":u" or ":k". */
static size_t take_modifier(const char *name, struct sampler_event *event)
{
	size_t length = strlen(name);

	if (length < 3 || name[length - 2] != ':' || strchr(name, ':') != name + length - 2)
		return length;
	event->exclude_kernel = name[length - 1] == 'u';
	event->exclude_user = name[length - 1] == 'k';
	return event->exclude_kernel || event->exclude_user ? length - 2 : length;
}

static bool take_counter(const char *name, struct sampler_event *event)
{
	size_t length = take_modifier(name, event);

	for (size_t i = 0; i < COUNTERS; i++) {
		if (strlen(counters[i].name) != length ||
		    strncmp(counters[i].name, name, length) != 0)
			continue;
		event->type = counters[i].type;
		event->config = counters[i].config;
		return true;
	}
	return false;
}

static bool take_tracepoint(const char *option, const char *name, struct sampler_event *event)
{
	char message[MESSAGE_SIZE];
	int r = tracepoint_find(name, NULL, 0, &event->config);

	event->type = PERF_TYPE_TRACEPOINT;
	if (r)
		complain_use("%s: %s", option, tracepoint_error(r, name, message, sizeof(message)));
	return !r;
}

/* The number behind a word in a file of the probes' kind of events; -1: there is none. */
static long probe_number(const char *file, const char *word)
{
	char path[64], text[64];

	snprintf(path, sizeof(path), PROBES "%s", file);
	text_file_read(path, text, sizeof(text));
	return text_number_after(text, word);
}

/* Static functions of one name: which one is meant has to be said. */
static void complain_of_many(const char *option, const char *path, const char *place,
			     const struct symbol_places *places)
{
	char *text = NULL;
	size_t size;
	FILE *list = open_memstream(&text, &size);

	for (size_t i = 0; list && i < places->count; i++)
		fprintf(list, "%s0x%" PRIx64 "%s%s%s", i ? ", " : "", places->list[i].offset,
			places->list[i].source ? " (" : "",
			places->list[i].source ? places->list[i].source : "",
			places->list[i].source ? ")" : "");
	if (list)
		fclose(list);
	complain_use("%s: %s has %zu functions '%s': give the offset of one: %s", option, path,
		     places->count, place, text ? text : "");
	free(text);
}

static void complain_place(const char *option, const char *path, const char *place, int error)
{
	if (error == -ENODATA)
		complain_use("%s: %s has no function '%s'", option, path, place);
	else if (error == -ENOTSUP)
		complain_use("%s: '%s' of %s only chooses a function when a program is loaded "
			     "(STT_GNU_IFUNC): give the one that is chosen",
			     option, place, path);
	else if (error == -ENOEXEC)
		complain_use("%s: %s is not an ELF file", option, path);
	else
		complain_use("%s: %s: %s", option, path, strerror(-error));
}

/* "FUNCTION", or "FUNCTION+OFFSET" */
static bool find_function(const char *option, const char *path, char *place, const char *debug_path,
			  uint64_t *ret)
{
	char *plus = strchr(place, '+');
	struct symbol_places places = {0};
	uint64_t more = 0;
	bool found;
	int r;

	if (plus)
		*plus++ = '\0';
	if (plus && !read_address(plus, &more)) {
		complain_use("%s: '%s' is not an offset in a function", option, plus);
		return false;
	}
	r = symbol_offset_find(path, debug_path, place, &places);
	found = !r && places.count == 1;
	if (r)
		complain_place(option, path, place, r);
	else if (!found)
		complain_of_many(option, path, place, &places);
	else
		*ret = places.list[0].offset + more;
	symbol_places_fini(&places);
	return found;
}

/* The same, or an offset in the file. */
static bool find_place(const char *option, const char *path, char *place, const char *debug_path,
		       uint64_t *ret)
{
	int r;

	if (!read_address(place, ret) && !find_function(option, path, place, debug_path, ret))
		return false;
	r = symbol_offset_check(path, *ret);
	if (r == -ERANGE)
		complain_use("%s: %s has no code at offset 0x%" PRIx64, option, path, *ret);
	else if (r)
		complain_place(option, path, place, r);
	return !r;
}

static bool is_regular(const char *option, const char *path)
{
	struct stat st;

	if (!stat(path, &st) && S_ISREG(st.st_mode))
		return true;
	complain_use("%s: %s is not an ELF file", option, path);
	return false;
}

/* @at: "FILE:FUNCTION"; the kernel takes the path from our memory when it opens the event. */
static bool take_probe(const char *option, const char *at, bool returns, const char *debug_path,
		       struct sampler_event *event)
{
	long type = probe_number("type", ""), bit = probe_number("format/retprobe", "config:");
	char *path = strdup(at), *place = path ? strrchr(path, ':') : NULL, *real;

	if (!place || place == path || !place[1]) {
		complain_use("%s: a probe is uprobe:FILE:FUNCTION, not 'uprobe:%s'", option, at);
		free(path);
		return false;
	}
	*place++ = '\0';
	real = realpath(path, NULL);
	if (type < 0 || bit < 0)
		complain_use("%s: this kernel has no probes (CONFIG_UPROBE_EVENTS)", option);
	else if (!real)
		complain_use("%s: %s: %s", option, path, strerror(errno));
	else if (is_regular(option, real) &&
		 find_place(option, real, place, debug_path, &event->config2)) {
		event->type = (uint32_t)type;
		event->config = returns ? 1ull << bit : 0;
		event->config1 = (uintptr_t)real;
		event->probe = event->of_all = true;
		free(path);
		return true;
	}
	free(path);
	free(real);
	return false;
}

static bool take_event(const char *option, const char *name, const char *debug_path,
		       struct sampler_event *event)
{
	if (!strncmp(name, "uprobe:", 7))
		return take_probe(option, name + 7, false, debug_path, event);
	if (!strncmp(name, "uretprobe:", 10))
		return take_probe(option, name + 10, true, debug_path, event);
	if (take_counter(name, event))
		return true;
	if (strchr(name, ':'))
		return take_tracepoint(option, name, event);
	complain_use("%s: there is no event '%s'", option, name);
	return false;
}

static bool add(struct event_list *list, struct sampler_event event)
{
	if (!vector_push(list->events, list->count, list->capacity, event))
		return true;
	complain("%s", strerror(ENOMEM));
	return false;
}

static bool add_named(struct event_list *list, const char *option, const char *name,
		      const char *debug_path)
{
	struct sampler_event event = {0};

	if (list->count == EVENTS_MAX) {
		complain_use("%s: more than %d events", option, EVENTS_MAX);
		return false;
	}
	if (!take_event(option, name, debug_path, &event))
		return false;
	event.name = strdup(name);
	if (!event.name) {
		complain("%s", strerror(ENOMEM));
		return false;
	}
	return add(list, event);
}

bool event_list_parse(struct event_list *list, const char *option, const char *text,
		      const char *debug_path)
{
	char *names = strdup(text), *rest = names, *name;
	bool good = names;

	while (good && (name = strsep(&rest, ",")))
		good = add_named(list, option, name, debug_path);
	free(names);
	return good;
}

/* Those that are not to be counted, but seen each time. */
static bool is_seldom(const struct sampler_event *event)
{
	return event->type == PERF_TYPE_TRACEPOINT || event->probe;
}

bool event_list_complete(struct event_list *list, uint64_t period, bool frequent)
{
	if (!list->count && period && !add(list, (struct sampler_event){0}))
		return false;
	for (size_t i = 0; i < list->count; i++) {
		struct sampler_event *event = &list->events[i];

		event->period = period ? period : is_seldom(event) && !frequent ? 1 : 0;
	}
	return true;
}

bool event_list_is_of_counters(const struct event_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (is_seldom(&list->events[i]))
			return false;
	return true;
}

void event_list_close(struct event_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free((char *)list->events[i].name);
		if (list->events[i].probe)
			free((char *)(uintptr_t)list->events[i].config1);
	}
	free(list->events);
	*list = (struct event_list){0};
}
