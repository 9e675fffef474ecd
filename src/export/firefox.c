/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * firefox.c - a profile for the Firefox Profiler, in its processed format.
 *
 * A thread of the profile is a thread of the system with the samples of one event.  It has the last
 * of the names that it had: what a program is called before execve() says nothing of it, and the
 * viewer shows one main thread of each process only.  When it had which name is a marker.
 *
 * The viewer has no place for the end of a stack.  So samples in a row whose stacks ended for the
 * same reason, and were found by the same rules, have a marker that covers them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/firefox_thread.h"
#include "export/profile_format.h"

#define FORMAT_VERSION 66
/* The reader ignores it once there is a FORMAT_VERSION. */
#define GECKO_VERSION 24
#define NS_PER_MS 1000000

/* A thread of the profile, by its number, in the order of processes. */
struct named_thread {
	int pid, tid;
	uint32_t number;
};

static int by_process(const void *a, const void *b)
{
	const struct named_thread *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* A name that is known says more than one that came later and is not. */
static bool names_better(const struct profile_thread *a, const struct profile_thread *b)
{
	return *a->comm && *b->comm ? a->last >= b->last : *a->comm != '\0';
}

static bool is_of(const struct firefox_thread *t, const struct profile_thread *own)
{
	return t->last->pid == own->pid && t->last->tid == own->tid;
}

static void add_thread(struct firefox *w, const uint32_t *number)
{
	const struct profile_thread *own = &w->profile->threads[*number];
	struct firefox_thread *t;

	if (!w->thread_count || !is_of(&w->threads[w->thread_count - 1], own))
		w->threads[w->thread_count++] = (struct firefox_thread){.numbers = number,
									.last = own};
	t = &w->threads[w->thread_count - 1];
	t->count++;
	if (names_better(own, t->last))
		t->last = own;
}

static int find_threads(struct firefox *w)
{
	const struct profile *p = w->profile;
	struct named_thread *named = calloc(p->thread_count + 1, sizeof(*named));

	w->numbers = calloc(p->thread_count + 1, sizeof(*w->numbers));
	w->threads = calloc(p->thread_count + 1, sizeof(*w->threads));
	if (!named || !w->numbers || !w->threads) {
		free(named);
		return -ENOMEM;
	}
	for (size_t i = 0; i < p->thread_count; i++)
		named[i] = (struct named_thread){p->threads[i].pid, p->threads[i].tid, (uint32_t)i};
	qsort(named, p->thread_count, sizeof(*named), by_process);
	for (size_t i = 0; i < p->thread_count; i++) {
		w->numbers[i] = named[i].number;
		add_thread(w, &w->numbers[i]);
	}
	free(named);
	return 0;
}

static int count_samples(struct firefox *w)
{
	const struct profile *p = w->profile;
	size_t *whole = calloc(p->thread_count + 1, sizeof(*whole));

	w->counts = calloc(w->thread_count * p->event_count + 1, sizeof(*w->counts));
	if (!whole || !w->counts) {
		free(whole);
		return -ENOMEM;
	}
	for (size_t i = 0; i < w->thread_count; i++)
		for (size_t k = 0; k < w->threads[i].count; k++)
			whole[w->threads[i].numbers[k]] = i;
	for (size_t i = 0; i < p->total_count; i++)
		w->counts[whole[p->totals[i].thread] * p->event_count + p->totals[i].event] +=
			p->totals[i].samples;
	free(whole);
	return 0;
}

/* The first event that has samples, or the first one. */
static uint32_t main_event(const struct profile *p)
{
	for (size_t i = 0; i < p->event_count; i++)
		if (p->events[i].samples)
			return (uint32_t)i;
	return 0;
}

/* Of the process: that of its main thread, if it has samples. */
static const char *process_name(const struct firefox *w)
{
	const int pid = w->at->last->pid;
	const struct firefox_thread *t = w->at;

	while (t > w->threads && t[-1].last->pid == pid)
		t--;
	for (; t < w->threads + w->thread_count && t->last->pid == pid; t++)
		if (t->last->tid == pid)
			return firefox_comm(t->last);
	return firefox_comm(w->at->last);
}

/* A thread of a further event is one more beside the one that it is. */
static void put_thread_names(struct firefox *w, bool is_first)
{
	const char *event = w->profile->events[w->event].name;
	const struct profile_thread *t = w->at->last;
	char *name, *tid;

	if (asprintf(&name, "%s (%s)", firefox_comm(t), event) < 0)
		name = NULL;
	if (asprintf(&tid, "%d %s", t->tid, event) < 0)
		tid = NULL;
	if (!name || !tid)
		w->error = -ENOMEM;
	firefox_put_text(&w->tables, &w->json, "name", is_first || !name ? firefox_comm(t) : name);
	if (is_first)
		json_number(&w->json, "tid", t->tid);
	else
		firefox_put_text(&w->tables, &w->json, "tid", tid ? tid : "");
	free(name);
	free(tid);
}

static void put_process(struct firefox *w, int pid, const char *name, bool is_main)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	json_string(&w->json, "pid", text);
	firefox_put_text(&w->tables, &w->json, "processName", name);
	json_string(&w->json, "processType", "default");
	json_unsigned(&w->json, "processStartupTime", 0);
	json_null(&w->json, "processShutdownTime");
	json_bool(&w->json, "isMainThread", is_main);
	json_bool(&w->json, "showMarkersInTimeline", false);
	json_array(&w->json, "pausedRanges");
	json_array_end(&w->json);
	json_null(&w->json, "unregisterTime");
}

static uint64_t first_time(const struct firefox *w)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < w->at->count; i++) {
		const struct profile_thread *named = &w->profile->threads[w->at->numbers[i]];

		if (named->first < first)
			first = named->first;
	}
	return first - w->profile->first;
}

/* @is_first: of the threads that this one is. */
static void put_thread(struct firefox *w, uint64_t count, bool is_first)
{
	const struct profile_thread *t = w->at->last;

	json_object(&w->json, NULL);
	put_thread_names(w, is_first);
	put_process(w, t->pid, process_name(w), is_first && t->tid == t->pid);
	json_decimal(&w->json, "registerTime", first_time(w), NS_AS_MS);
	firefox_put_samples(w, count);
	firefox_put_markers(w);
	json_object_end(&w->json);
}

/* A thread for each event of which it has samples, that which is shown at first before others. */
static void put_whole_thread(struct firefox *w, const struct firefox_thread *t)
{
	const uint32_t events = (uint32_t)w->profile->event_count;
	const uint64_t *counts = w->counts + (size_t)(t - w->threads) * events;
	const uint32_t main = main_event(w->profile);
	bool is_first = true;

	w->at = t;
	w->error = sample_merge_open(w->profile, t->numbers, t->count, &w->merge);
	for (uint32_t i = 0; i < events && !w->error; i++) {
		w->event = (main + i) % events;
		if (!counts[w->event])
			continue;
		put_thread(w, counts[w->event], is_first);
		is_first = false;
	}
	sample_merge_close(w->merge);
	w->merge = NULL;
}

/* The reader refuses a profile that has no threads. */
static void put_no_thread(struct firefox *w)
{
	static const char *const samples[] = {"stack", "timeDeltas", "weight", NULL};
	static const char *const markers[] = {"name",     "startTime", "endTime", "phase",
					      "category", "data",      NULL};

	json_object(&w->json, NULL);
	json_string(&w->json, "name", "no samples");
	json_unsigned(&w->json, "tid", 0);
	put_process(w, 0, "no samples", true);
	json_unsigned(&w->json, "registerTime", 0);
	json_object(&w->json, "samples");
	for (size_t i = 0; samples[i]; i++) {
		json_array(&w->json, samples[i]);
		json_array_end(&w->json);
	}
	json_string(&w->json, "weightType", "samples");
	json_unsigned(&w->json, "length", 0);
	json_object_end(&w->json);
	json_object(&w->json, "markers");
	for (size_t i = 0; markers[i]; i++) {
		json_array(&w->json, markers[i]);
		json_array_end(&w->json);
	}
	json_unsigned(&w->json, "length", 0);
	json_object_end(&w->json);
	json_object_end(&w->json);
}

static void put_threads(struct firefox *w)
{
	json_array(&w->json, "threads");
	for (size_t i = 0; i < w->thread_count && !w->error; i++)
		put_whole_thread(w, &w->threads[i]);
	if (!w->thread_count)
		put_no_thread(w);
	json_array_end(&w->json);
}

static void put_units(struct json_output *json)
{
	json_object(json, "sampleUnits");
	json_string(json, "time", "ms");
	json_string(json, "eventDelay", "ms");
	json_string(json, "threadCPUDelta", "ns");
	json_object_end(json);
}

/* Between two samples: what is not known is a millisecond. */
static uint64_t interval(const struct profile *p)
{
	const struct profile_event *event = &p->events[main_event(p)];

	return p->event_count && firefox_is_time(event) && event->period ? event->period
									 : NS_PER_MS;
}

static void put_meta(struct firefox *w)
{
	struct json_output *json = &w->json;

	json_object(json, "meta");
	json_string(json, "product", PROFILE_CREATOR);
	json_string(json, "importedFrom", PROFILE_CREATOR);
	json_unsigned(json, "version", GECKO_VERSION);
	json_unsigned(json, "preprocessedProfileVersion", FORMAT_VERSION);
	json_decimal(json, "interval", interval(w->profile), NS_AS_MS);
	json_decimal(json, "startTime", w->profile->start, NS_AS_MS);
	json_unsigned(json, "processType", 0);
	json_unsigned(json, "stackwalk", 1);
	json_bool(json, "debug", false);
	json_string(json, "oscpu", "Linux");
	json_bool(json, "symbolicated", true);
	json_bool(json, "usesOnlyOneStackType", true);
	json_bool(json, "sourceCodeIsNotOnSearchfox", true);
	put_units(json);
	firefox_put_categories(json);
	firefox_put_schemas(json);
	json_object_end(json);
}

static void put_profile(struct firefox *w)
{
	json_object(&w->json, NULL);
	put_meta(w);
	firefox_put_libs(&w->tables, &w->json);
	put_threads(w);
	firefox_put_shared(&w->tables, &w->json);
	json_object_end(&w->json);
}

int firefox_write(const struct profile *profile, FILE *out)
{
	struct firefox w = {.profile = profile, .json = json_output(out)};
	int r = firefox_tables_init(&w.tables, profile);

	if (!r)
		r = find_threads(&w);
	if (!r)
		r = count_samples(&w);
	if (!r) {
		put_profile(&w);
		r = w.error ? w.error : w.tables.error;
	}
	firefox_tables_fini(&w.tables);
	free(w.numbers);
	free(w.threads);
	free(w.counts);
	return r;
}
