/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * speedscope.c - a profile for speedscope.
 *
 * Each thread has a profile for each event: its samples one after the other, as wide as they weigh.
 *
 * speedscope takes each frame of the file for a function.  Were there one for each line, its tables
 * would divide the weight of a function among these, so functions have one frame, with the first
 * line that was seen in them.
 *
 * Where a stack is not complete, a frame says why, in place of the callers that are missing.  Frames
 * for the sources of rules would divide complete stacks, too.  These are in arrays that speedscope
 * skips: "walks" of the file has what differs, and "walks" of a profile the number for each sample.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "export/json_output.h"
#include "export/profile_format.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"
#define SOURCES_SIZE 256

/**
 * struct shown_function - a function by its name and its file of code
 * @src_file, @line: the first line that was seen of it; "" and 0: none
 */
struct shown_function {
	const char *name, *dso, *src_file;
	uint32_t line;
};

/* How stacks were walked. */
struct walk {
	uint32_t sources;
	uint8_t reason;
	bool traced;
};

/**
 * struct speedscope - a profile that is being written
 * @functions: frames of the file; those of reasons follow
 * @frames: for each function of the profile
 * @reasons: frames, or 0
 * @weights, @counts: of samples, of each thread those of all events
 * @stack: of frames, leaf first
 */
struct speedscope {
	struct json_output json;
	const struct profile *profile;
	struct shown_function *functions;
	size_t function_count, function_room;
	struct hash_index function_index;
	uint32_t *frames;
	uint32_t reasons[BOBBIN_REASON_COUNT];
	struct walk *walks;
	size_t walk_count, walk_room;
	struct hash_index walk_index;
	uint64_t *weights, *counts;
	uint32_t *stack;
	size_t stack_count, stack_room;
};

/* Something that is written of each sample.  0 or a negative errno. */
typedef int (*write_sample)(struct speedscope *w, const struct profile_sample *sample);

/* Strings of a profile are equal if their pointers are. */
static int merge_function(struct speedscope *w, const struct profile_function *f, uint32_t *ret)
{
	const uint64_t hash = hash_words((uintptr_t)f->name, (uintptr_t)f->dso,
					 w->profile->names.seed);
	size_t at = 0;
	int r;

	while (hash_index_next(&w->function_index, hash, &at, ret))
		if (w->functions[*ret].name == f->name && w->functions[*ret].dso == f->dso)
			return 0;
	r = hash_index_push(&w->function_index, hash, w->functions, w->function_count,
			    w->function_room,
			    (struct shown_function){f->name, f->dso, f->src_file, 0});
	*ret = (uint32_t)w->function_count - 1;
	return r;
}

static void note_line(struct speedscope *w, const struct profile_line *line)
{
	struct shown_function *shown = &w->functions[w->frames[line->function]];
	const char *src_file = w->profile->functions[line->function].src_file;

	if (!line->line || (shown->line && shown->src_file != src_file))
		return;
	if (!shown->line || line->line < shown->line)
		shown->line = line->line;
	shown->src_file = src_file;
}

static int merge_functions(struct speedscope *w)
{
	const struct profile *p = w->profile;
	int r = 0;

	w->frames = calloc(p->function_count + 1, sizeof(*w->frames));
	if (!w->frames)
		return -ENOMEM;
	for (size_t i = 0; i < p->function_count && !r; i++)
		r = merge_function(w, &p->functions[i], &w->frames[i]);
	for (size_t i = 0; i < p->line_count && !r; i++)
		note_line(w, &p->lines[i]);
	return r;
}

static int find_walk(struct speedscope *w, const struct walk *walk, uint32_t *ret)
{
	const uint64_t hash = hash_words(walk->sources, walk->traced ? walk->reason : UINT64_MAX,
					 w->profile->names.seed);
	size_t at = 0;
	int r;

	while (hash_index_next(&w->walk_index, hash, &at, ret)) {
		const struct walk *known = &w->walks[*ret];

		if (known->sources == walk->sources && known->traced == walk->traced &&
		    (!walk->traced || known->reason == walk->reason))
			return 0;
	}
	r = hash_index_push(&w->walk_index, hash, w->walks, w->walk_count, w->walk_room, *walk);
	*ret = (uint32_t)w->walk_count - 1;
	return r;
}

static bool is_cut(bool traced, uint8_t reason)
{
	return traced && reason != BOBBIN_REASON_OUTERMOST && reason < BOBBIN_REASON_COUNT;
}

static int add_totals(struct speedscope *w)
{
	const struct profile *p = w->profile;
	int r = 0;

	w->weights = calloc(p->thread_count * p->event_count + 1, sizeof(*w->weights));
	w->counts = calloc(p->thread_count * p->event_count + 1, sizeof(*w->counts));
	if (!w->weights || !w->counts)
		return -ENOMEM;
	for (size_t i = 0; i < p->total_count && !r; i++) {
		const struct profile_total *t = &p->totals[i];
		const size_t at = t->thread * p->event_count + t->event;
		uint32_t id;

		w->weights[at] += t->weight;
		w->counts[at] += t->samples;
		if (is_cut(t->traced, t->reason))
			w->reasons[t->reason] = 1;
		r = find_walk(w, &(struct walk){t->sources, t->reason, t->traced}, &id);
	}
	return r;
}

static void write_frame(struct speedscope *w, const struct shown_function *f)
{
	const char *file = f->line ? f->src_file : f->dso;

	json_object(&w->json, NULL);
	json_shown(&w->json, "name", f->name);
	if (*file)
		json_shown(&w->json, "file", file);
	if (f->line)
		json_unsigned(&w->json, "line", f->line);
	json_object_end(&w->json);
}

static void write_reason_frame(struct speedscope *w, int reason)
{
	char name[128];

	snprintf(name, sizeof(name), "[stack ends: %s]",
		 bobbin_reason_name((enum bobbin_reason)reason));
	json_object(&w->json, NULL);
	json_string(&w->json, "name", name);
	json_object_end(&w->json);
}

static void write_frames(struct speedscope *w)
{
	uint32_t next = (uint32_t)w->function_count;

	json_object(&w->json, "shared");
	json_array(&w->json, "frames");
	for (size_t i = 0; i < w->function_count; i++)
		write_frame(w, &w->functions[i]);
	for (int i = 0; i < BOBBIN_REASON_COUNT; i++) {
		if (!w->reasons[i])
			continue;
		write_reason_frame(w, i);
		w->reasons[i] = next++;
	}
	json_array_end(&w->json);
	json_object_end(&w->json);
}

static void write_walks(struct speedscope *w)
{
	char sources[SOURCES_SIZE];

	json_array(&w->json, "walks");
	for (size_t i = 0; i < w->walk_count; i++) {
		const struct walk *walk = &w->walks[i];
		const char *reason = profile_reason(walk->traced, walk->reason);

		json_object(&w->json, NULL);
		if (reason)
			json_string(&w->json, "stack_end", reason);
		if (walk->sources)
			json_string(&w->json, "unwound_by",
				    profile_sources(walk->sources, sources, sizeof(sources)));
		json_object_end(&w->json);
	}
	json_array_end(&w->json);
}

static int take_stack(struct speedscope *w, uint32_t stack)
{
	const struct profile *p = w->profile;
	int r = 0;

	w->stack_count = 0;
	for (; stack != PROFILE_ROOT && !r; stack = p->stacks[stack].caller) {
		const struct profile_location *l = &p->locations[p->stacks[stack].location];

		for (uint32_t i = 0; i < l->line_count && !r; i++)
			r = vector_push(w->stack, w->stack_count, w->stack_room,
					w->frames[p->lines[l->lines + i].function]);
	}
	return r;
}

static int write_stack(struct speedscope *w, const struct profile_sample *sample)
{
	int r = take_stack(w, sample->stack);

	if (r)
		return r;
	json_array(&w->json, NULL);
	if (is_cut(sample->traced, sample->reason))
		json_unsigned(&w->json, NULL, w->reasons[sample->reason]);
	for (size_t i = w->stack_count; i-- > 0;)
		json_unsigned(&w->json, NULL, w->stack[i]);
	json_array_end(&w->json);
	return 0;
}

static int write_weight(struct speedscope *w, const struct profile_sample *sample)
{
	json_unsigned(&w->json, NULL, sample->weight);
	return 0;
}

static int write_walk(struct speedscope *w, const struct profile_sample *sample)
{
	uint32_t id;
	int r = find_walk(w, &(struct walk){sample->sources, sample->reason, sample->traced}, &id);

	if (!r)
		json_unsigned(&w->json, NULL, id);
	return r;
}

static int write_samples(struct speedscope *w, const char *key, uint32_t thread, uint32_t event,
			 write_sample write)
{
	struct profile_samples samples = {.profile = w->profile, .thread = thread};
	const struct profile_sample *sample;
	int r;

	json_array(&w->json, key);
	while ((r = profile_samples_next(&samples, &sample)) > 0)
		if (sample->event == event && (r = write(w, sample)))
			break;
	json_array_end(&w->json);
	return r;
}

/* "COMM PID/TID", and the event, if it is not the one that is shown at first. */
static int write_title(struct speedscope *w, uint32_t thread, uint32_t event)
{
	const struct profile *p = w->profile;
	const struct profile_thread *t = &p->threads[thread];
	const bool is_main = event == profile_main_event(p);
	char *title;

	if (asprintf(&title, "%s %d/%d%s%s", t->comm, t->pid, t->tid, is_main ? "" : " ",
		     is_main ? "" : p->events[event].name) < 0)
		return -ENOMEM;
	json_shown(&w->json, "name", title);
	free(title);
	return 0;
}

static int write_profile(struct speedscope *w, uint32_t thread, uint32_t event)
{
	const struct profile *p = w->profile;
	const char *unit = p->events[event].unit;
	int r;

	json_object(&w->json, NULL);
	json_string(&w->json, "type", "sampled");
	r = write_title(w, thread, event);
	json_string(&w->json, "unit", strcmp(unit, "count") != 0 ? unit : "none");
	json_unsigned(&w->json, "startValue", 0);
	json_unsigned(&w->json, "endValue", w->weights[thread * p->event_count + event]);
	if (!r)
		r = write_samples(w, "samples", thread, event, write_stack);
	if (!r)
		r = write_samples(w, "weights", thread, event, write_weight);
	if (!r)
		r = write_samples(w, "walks", thread, event, write_walk);
	json_object_end(&w->json);
	return r;
}

static int write_profiles(struct speedscope *w)
{
	const struct profile *p = w->profile;
	int r = 0;

	json_array(&w->json, "profiles");
	for (uint32_t i = 0; i < p->thread_count; i++)
		for (uint32_t k = 0; k < p->event_count && !r; k++)
			if (w->counts[i * p->event_count + k])
				r = write_profile(w, i, k);
	json_array_end(&w->json);
	return r;
}

/* The heaviest profile of the main event is shown at first. */
static void write_head(struct speedscope *w)
{
	const struct profile *p = w->profile;
	const uint32_t event = profile_main_event(p);
	const char *comm = "no samples";
	uint64_t most = 0;
	size_t number = 0, heaviest = 0;

	for (size_t i = 0; i < p->thread_count * p->event_count; i++) {
		if (!w->counts[i])
			continue;
		if (i % p->event_count == event && w->weights[i] >= most) {
			most = w->weights[i];
			heaviest = number;
			comm = p->threads[i / p->event_count].comm;
		}
		number++;
	}
	json_string(&w->json, "$schema", SCHEMA);
	json_string(&w->json, "exporter", PROFILE_CREATOR);
	json_shown(&w->json, "name", comm);
	json_unsigned(&w->json, "activeProfileIndex", heaviest);
}

static int write_all(struct speedscope *w)
{
	int r = merge_functions(w);

	if (!r)
		r = add_totals(w);
	if (r)
		return r;
	json_object(&w->json, NULL);
	write_head(w);
	write_frames(w);
	write_walks(w);
	r = write_profiles(w);
	json_object_end(&w->json);
	return r;
}

int speedscope_write(const struct profile *profile, FILE *out)
{
	struct speedscope w = {.json = json_output(out), .profile = profile};
	int r = write_all(&w);

	hash_index_fini(&w.function_index);
	hash_index_fini(&w.walk_index);
	free(w.functions);
	free(w.frames);
	free(w.walks);
	free(w.weights);
	free(w.counts);
	free(w.stack);
	return r;
}
