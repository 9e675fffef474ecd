/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/firefox_thread.h"

#include <stdio.h>

#define SOURCES_SIZE 256
/* As the reader calls a marker with a start and an end. */
#define PHASE_INTERVAL 1

/**
 * struct marker - samples in a row, or the name of a thread
 * @comm: that name, or NULL
 * @reason, @sources, @traced: of all stacks
 */
struct marker {
	const char *comm;
	uint64_t start, end, samples;
	uint32_t sources;
	uint8_t reason;
	bool traced;
};

/* The next sample of the thread that is written. */
static bool next_sample(struct firefox *w, struct profile_sample *ret)
{
	int r;

	do
		r = sample_merge_next(w->merge, ret);
	while (r > 0 && ret->event != w->event);
	if (r < 0)
		w->error = r;
	return r > 0;
}

static void put_stacks(struct firefox *w)
{
	struct profile_sample sample;

	sample_merge_rewind(w->merge);
	json_array(&w->json, "stack");
	while (next_sample(w, &sample))
		if (sample.stack == PROFILE_ROOT)
			json_null(&w->json, NULL);
		else
			json_unsigned(&w->json, NULL, w->tables.leaves[sample.stack]);
	json_array_end(&w->json);
}

static void put_times(struct firefox *w)
{
	struct profile_sample sample;
	uint64_t before = w->profile->first;

	sample_merge_rewind(w->merge);
	json_array(&w->json, "timeDeltas");
	while (next_sample(w, &sample)) {
		/* in a recording that is out of order, time stands still */
		const uint64_t time = sample.time > before ? sample.time : before;

		json_decimal(&w->json, NULL, time - before, NS_AS_MS);
		before = time;
	}
	json_array_end(&w->json);
}

static void put_weights(struct firefox *w)
{
	const bool time = firefox_is_time(&w->profile->events[w->event]);
	struct profile_sample sample;

	sample_merge_rewind(w->merge);
	json_array(&w->json, "weight");
	while (next_sample(w, &sample))
		if (time)
			json_decimal(&w->json, NULL, sample.weight, NS_AS_MS);
		else
			json_unsigned(&w->json, NULL, sample.weight);
	json_array_end(&w->json);
	json_string(&w->json, "weightType", time ? "tracing-ms" : "samples");
}

static bool is_cpu_time(const struct profile_event *event)
{
	return !strcmp(event->name, "cpu-clock") || !strcmp(event->name, "task-clock");
}

/* What a thread has used of the time since its last sample; without it that is taken for all. */
static void put_cpu_times(struct firefox *w)
{
	struct profile_sample sample;

	sample_merge_rewind(w->merge);
	json_array(&w->json, "threadCPUDelta");
	while (next_sample(w, &sample))
		json_unsigned(&w->json, NULL, sample.weight);
	json_array_end(&w->json);
}

void firefox_put_samples(struct firefox *w, uint64_t count)
{
	json_object(&w->json, "samples");
	put_stacks(w);
	put_times(w);
	put_weights(w);
	if (is_cpu_time(&w->profile->events[w->event]))
		put_cpu_times(w);
	json_unsigned(&w->json, "length", count);
	json_object_end(&w->json);
}

/* Each name of a thread that had more than one. */
static struct marker name_marker(struct firefox *w)
{
	const uint32_t number = w->at->numbers[--w->names_left];
	const struct profile_thread *named = &w->profile->threads[number];

	return (struct marker){.comm = firefox_comm(named),
			       .start = named->first,
			       .end = named->last,
			       .samples = named->samples};
}

static bool ends_alike(const struct marker *m, const struct profile_sample *s)
{
	return m->reason == s->reason && m->sources == s->sources && m->traced == s->traced;
}

/* Of stacks in a row that ended alike, and of which something is known. */
static bool stack_marker(struct firefox *w, struct marker *ret)
{
	struct profile_sample *s = &w->ahead;

	while (w->is_ahead && !profile_reason(s->traced, s->reason) && !s->sources)
		w->is_ahead = next_sample(w, s);
	if (!w->is_ahead)
		return false;
	*ret = (struct marker){
		.start = s->time, .sources = s->sources, .reason = s->reason, .traced = s->traced};
	for (; w->is_ahead && ends_alike(ret, s); w->is_ahead = next_sample(w, s)) {
		ret->end = s->time;
		ret->samples++;
	}
	return true;
}

static void begin_markers(struct firefox *w)
{
	sample_merge_rewind(w->merge);
	w->names_left = w->at->count > 1 ? w->at->count : 0;
	w->is_ahead = next_sample(w, &w->ahead);
}

static bool next_marker(struct firefox *w, struct marker *ret)
{
	if (!w->names_left)
		return stack_marker(w, ret);
	*ret = name_marker(w);
	return true;
}

static void put_marker_name(struct firefox *w, const struct marker *m)
{
	const char *reason = profile_reason(m->traced, m->reason);
	char name[64] = "comm";

	if (!m->comm)
		snprintf(name, sizeof(name), "stack_end %s", reason ? reason : "unknown");
	json_unsigned(&w->json, NULL, firefox_passing_string(&w->tables, name));
}

static void put_marker_start(struct firefox *w, const struct marker *m)
{
	json_decimal(&w->json, NULL, m->start - w->profile->first, NS_AS_MS);
}

static void put_marker_end(struct firefox *w, const struct marker *m)
{
	json_decimal(&w->json, NULL, m->end - w->profile->first, NS_AS_MS);
}

static void put_marker_phase(struct firefox *w, const struct marker *m)
{
	(void)m;
	json_unsigned(&w->json, NULL, PHASE_INTERVAL);
}

static void put_marker_category(struct firefox *w, const struct marker *m)
{
	json_unsigned(&w->json, NULL, m->comm ? FIREFOX_OTHER : FIREFOX_USER);
}

static void put_marker_data(struct firefox *w, const struct marker *m)
{
	const char *reason = profile_reason(m->traced, m->reason);
	char sources[SOURCES_SIZE];

	json_object(&w->json, NULL);
	json_string(&w->json, "type", m->comm ? "comm" : "stacks");
	if (m->comm)
		json_unsigned(&w->json, "comm", firefox_string(&w->tables, m->comm));
	if (reason)
		json_unsigned(&w->json, "stack_end", firefox_string(&w->tables, reason));
	if (m->sources)
		json_unsigned(
			&w->json, "unwound_by",
			firefox_passing_string(
				&w->tables, profile_sources(m->sources, sources, sizeof(sources))));
	json_unsigned(&w->json, "samples", m->samples);
	json_object_end(&w->json);
}

/* The number of its rows. */
static size_t put_marker_column(struct firefox *w, const char *key,
				void (*put)(struct firefox *w, const struct marker *m))
{
	struct marker marker;
	size_t rows = 0;

	begin_markers(w);
	json_array(&w->json, key);
	for (; next_marker(w, &marker); rows++)
		put(w, &marker);
	json_array_end(&w->json);
	return rows;
}

void firefox_put_markers(struct firefox *w)
{
	size_t rows;

	json_object(&w->json, "markers");
	put_marker_column(w, "name", put_marker_name);
	put_marker_column(w, "startTime", put_marker_start);
	put_marker_column(w, "endTime", put_marker_end);
	put_marker_column(w, "phase", put_marker_phase);
	put_marker_column(w, "category", put_marker_category);
	rows = put_marker_column(w, "data", put_marker_data);
	json_unsigned(&w->json, "length", rows);
	json_object_end(&w->json);
}

static void put_field(struct json_output *json, const char *key, const char *label,
		      const char *format)
{
	json_object(json, NULL);
	json_string(json, "key", key);
	json_string(json, "label", label);
	json_string(json, "format", format);
	json_object_end(json);
}

/* @label: of the rows of the marker table. */
static void begin_schema(struct json_output *json, const char *type, const char *label)
{
	json_object(json, NULL);
	json_string(json, "name", type);
	json_string(json, "tableLabel", label);
	json_string(json, "chartLabel", label);
	json_array(json, "display");
	json_string(json, NULL, "marker-chart");
	json_string(json, NULL, "marker-table");
	json_array_end(json);
	json_array(json, "fields");
}

static void end_schema(struct json_output *json)
{
	put_field(json, "samples", "Samples", "integer");
	json_array_end(json);
	json_object_end(json);
}

void firefox_put_schemas(struct json_output *json)
{
	json_array(json, "markerSchema");
	begin_schema(json, "stacks", "{marker.data.stack_end} {marker.data.unwound_by}");
	put_field(json, "stack_end", "Why stacks ended", "unique-string");
	put_field(json, "unwound_by", "Unwound by", "unique-string");
	end_schema(json);
	begin_schema(json, "comm", "{marker.data.comm}");
	put_field(json, "comm", "Name of the thread", "unique-string");
	end_schema(json);
	json_array_end(json);
}
