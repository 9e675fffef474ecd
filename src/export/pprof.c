/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pprof.c - a profile for pprof, and for what else reads its protocol buffers: Parca, Pyroscope,
 * Perfetto, speedscope.
 *
 * The elements of repeated fields may be in any order and in any pieces of a message, one after the
 * other, so nothing is built in memory but one element at a time.  Each event has two values, its
 * samples and their weight.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "export/cgroup_path.h"
#include "export/pprof.pb-c.h"
#include "export/profile_format.h"
#include "export/safe_text.h"
#include "export/text_table.h"

/* Labels of a sample: comm, pid, tid, cgroup, container.id, stack_end, unwound_by. */
#define LABELS 7
#define SOURCES_SIZE 256

typedef Perftools__Profiles__Profile Message;
typedef Perftools__Profiles__Label Label;
typedef Perftools__Profiles__Line Line;
typedef Perftools__Profiles__ValueType ValueType;

/**
 * struct pprof - a profile that is being written
 * @profile: which one; @out: where
 * @strings: the profile's, literals, and others
 * @values: two for each event, all zero between two samples
 * @stack, @lines: of the element that is written
 */
struct pprof {
	ProtobufCBuffer buffer;
	const struct profile *profile;
	FILE *out;
	struct text_table strings;
	int64_t *values;
	uint64_t *stack;
	size_t stack_room;
	Line *lines;
	Line **line_list;
	size_t line_room, line_list_room;
	int error;
};

static void append(ProtobufCBuffer *buffer, size_t size, const uint8_t *bytes)
{
	fwrite(bytes, 1, size, ((struct pprof *)buffer)->out);
}

/* Add fields to the message. */
static void put(struct pprof *w, const Message *message)
{
	perftools__profiles__profile__pack_to_buffer(message, &w->buffer);
}

/* The number of a string that is one of the profile's, or a literal. */
static int64_t string(struct pprof *w, const char *text)
{
	uint32_t id = 0;
	int r = text_table_number(&w->strings, text, &id);

	if (r)
		w->error = r;
	return id;
}

/* One that does not live as long as the writer. */
static int64_t passing_string(struct pprof *w, const char *text)
{
	const char *own = "";
	int r = text_table_keep(&w->strings, text, &own);

	if (r)
		w->error = r;
	return string(w, own);
}

/* As viewers know it. */
static const char *type_of(const struct profile_event *event)
{
	return profile_is_clock(event) ? "cpu" : event->name;
}

/* "samples", or of further events "EVENT samples". */
static int64_t samples_type(struct pprof *w, size_t event)
{
	char *text;
	int64_t id;

	if (!event)
		return string(w, "samples");
	if (asprintf(&text, "%s samples", w->profile->events[event].name) < 0) {
		w->error = -ENOMEM;
		return 0;
	}
	id = passing_string(w, text);
	free(text);
	return id;
}

static void put_event(struct pprof *w, size_t i)
{
	const struct profile_event *event = &w->profile->events[i];
	ValueType samples = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	ValueType weight = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	ValueType *both[] = {&samples, &weight};
	Message message = PERFTOOLS__PROFILES__PROFILE__INIT;

	samples.type = samples_type(w, i);
	samples.unit = string(w, "count");
	weight.type = string(w, type_of(event));
	weight.unit = string(w, event->unit);
	message.n_sample_type = 2;
	message.sample_type = both;
	put(w, &message);
}

static void put_head(struct pprof *w)
{
	const struct profile *p = w->profile;
	const struct profile_event *event = &p->events[profile_main_event(p)];
	ValueType period = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	Message message = PERFTOOLS__PROFILES__PROFILE__INIT;

	for (size_t i = 0; i < p->event_count; i++)
		put_event(w, i);
	period.type = string(w, type_of(event));
	period.unit = string(w, event->unit);
	message.time_nanos = (int64_t)p->start;
	message.duration_nanos = (int64_t)(p->last - p->first);
	message.period_type = &period;
	message.period = (int64_t)event->period;
	message.default_sample_type = period.type;
	put(w, &message);
}

/* Numbers of things are one more than ours: 0 stands for none. */
static void put_mapping(struct pprof *w, size_t i)
{
	const struct profile_mapping *m = &w->profile->mappings[i];
	Perftools__Profiles__Mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT, *list = &mapping;
	Message message = PERFTOOLS__PROFILES__PROFILE__INIT;
	char id[2 * sizeof(m->build_id) + 1] = "";

	for (size_t k = 0; k < m->build_id_len; k++)
		snprintf(id + 2 * k, 3, "%02x", m->build_id[k]);
	mapping.id = i + 1;
	mapping.memory_start = m->start;
	mapping.memory_limit = m->end;
	mapping.file_offset = m->offset;
	mapping.filename = string(w, m->path);
	mapping.build_id = passing_string(w, id);
	/* all names that are known are here: who reads them need not look for more */
	mapping.has_functions = mapping.has_filenames = mapping.has_line_numbers =
		mapping.has_inline_frames = true;
	message.n_mapping = 1;
	message.mapping = &list;
	put(w, &message);
}

static void put_function(struct pprof *w, size_t i)
{
	const struct profile_function *f = &w->profile->functions[i];
	Perftools__Profiles__Function function = PERFTOOLS__PROFILES__FUNCTION__INIT;
	Perftools__Profiles__Function *list = &function;
	Message message = PERFTOOLS__PROFILES__PROFILE__INIT;

	function.id = i + 1;
	function.name = string(w, f->name);
	function.system_name = string(w, f->system_name);
	function.filename = string(w, f->src_file);
	message.n_function = 1;
	message.function = &list;
	put(w, &message);
}

static int take_lines(struct pprof *w, const struct profile_location *l)
{
	if (vector_reserve(&w->lines, &w->line_room, l->line_count, sizeof(*w->lines)) ||
	    vector_reserve(&w->line_list, &w->line_list_room, l->line_count, sizeof(*w->line_list)))
		return -ENOMEM;
	for (size_t i = 0; i < l->line_count; i++) {
		const struct profile_line *line = &w->profile->lines[l->lines + i];

		perftools__profiles__line__init(&w->lines[i]);
		w->lines[i].function_id = (uint64_t)line->function + 1;
		w->lines[i].line = line->line;
		w->line_list[i] = &w->lines[i];
	}
	return 0;
}

static void put_location(struct pprof *w, size_t i)
{
	const struct profile_location *l = &w->profile->locations[i];
	Perftools__Profiles__Location location = PERFTOOLS__PROFILES__LOCATION__INIT;
	Perftools__Profiles__Location *list = &location;
	Message message = PERFTOOLS__PROFILES__PROFILE__INIT;

	if (take_lines(w, l)) {
		w->error = -ENOMEM;
		return;
	}
	location.id = i + 1;
	location.mapping_id = l->mapping == PROFILE_NONE ? 0 : (uint64_t)l->mapping + 1;
	location.address = l->address;
	location.n_line = l->line_count;
	location.line = w->line_list;
	message.n_location = 1;
	message.location = &list;
	put(w, &message);
}

/* Leaf first.  The number of its frames. */
static size_t take_stack(struct pprof *w, uint32_t stack)
{
	const struct profile *p = w->profile;
	const size_t depth = p->stacks[stack].depth;

	if (vector_reserve(&w->stack, &w->stack_room, depth, sizeof(*w->stack))) {
		w->error = -ENOMEM;
		return 0;
	}
	for (size_t i = 0; i < depth; i++, stack = p->stacks[stack].caller)
		w->stack[i] = (uint64_t)p->stacks[stack].location + 1;
	return depth;
}

static void number_label(struct pprof *w, const char *key, int64_t number, Label *ret)
{
	perftools__profiles__label__init(ret);
	ret->key = string(w, key);
	ret->num = number;
}

static void text_label(struct pprof *w, const char *key, int64_t text, Label *ret)
{
	perftools__profiles__label__init(ret);
	ret->key = string(w, key);
	ret->str = text;
}

/* How many there are. */
static size_t take_labels(struct pprof *w, const struct profile_total *t, Label labels[LABELS])
{
	const struct profile_thread *thread = &w->profile->threads[t->thread];
	const char *reason = profile_reason(t->traced, t->reason);
	char sources[SOURCES_SIZE], container[CGROUP_CONTAINER_SIZE];
	size_t count = 0;

	text_label(w, "comm", string(w, thread->comm), &labels[count++]);
	number_label(w, "pid", thread->pid, &labels[count++]);
	number_label(w, "tid", thread->tid, &labels[count++]);
	if (*thread->cgroup)
		text_label(w, "cgroup", string(w, thread->cgroup), &labels[count++]);
	if (cgroup_container(thread->cgroup, container))
		text_label(w, "container.id", passing_string(w, container), &labels[count++]);
	if (reason)
		text_label(w, "stack_end", string(w, reason), &labels[count++]);
	if (t->sources)
		text_label(w, "unwound_by",
			   passing_string(w, profile_sources(t->sources, sources, sizeof(sources))),
			   &labels[count++]);
	return count;
}

static void put_total(struct pprof *w, const struct profile_total *t)
{
	Perftools__Profiles__Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT, *list = &sample;
	Message message = PERFTOOLS__PROFILES__PROFILE__INIT;
	Label labels[LABELS], *label_list[LABELS];
	int64_t *own = &w->values[2 * t->event];

	sample.n_location_id = take_stack(w, t->stack);
	sample.location_id = w->stack;
	sample.n_label = take_labels(w, t, labels);
	sample.label = label_list;
	for (size_t i = 0; i < sample.n_label; i++)
		label_list[i] = &labels[i];
	own[0] = (int64_t)t->samples;
	own[1] = (int64_t)t->weight;
	sample.n_value = 2 * w->profile->event_count;
	sample.value = w->values;
	message.n_sample = 1;
	message.sample = &list;
	put(w, &message);
	own[0] = own[1] = 0;
}

/* Strings of protocol buffers are valid UTF-8. */
static void put_string(struct pprof *w, const char *text)
{
	Message message = PERFTOOLS__PROFILES__PROFILE__INIT;
	char *clean = safe_text_copy(text);

	if (!clean) {
		w->error = -ENOMEM;
		return;
	}
	message.n_string_table = 1;
	message.string_table = &clean;
	put(w, &message);
	free(clean);
}

static void put_all(struct pprof *w)
{
	const struct profile *p = w->profile;

	put_head(w);
	for (size_t i = 0; i < p->mapping_count; i++)
		put_mapping(w, i);
	for (size_t i = 0; i < p->function_count; i++)
		put_function(w, i);
	for (size_t i = 0; i < p->location_count; i++)
		put_location(w, i);
	for (size_t i = 0; i < p->total_count; i++)
		put_total(w, &p->totals[i]);
	for (size_t i = 0; i < w->strings.count; i++)
		put_string(w, w->strings.texts[i]);
}

int pprof_write(const struct profile *profile, FILE *out)
{
	struct pprof w = {.buffer = {.append = append}, .profile = profile, .out = out};

	w.values = calloc(2 * profile->event_count + 1, sizeof(*w.values));
	if (!w.values)
		return -ENOMEM;
	w.error = text_table_init(&w.strings);
	if (!w.error)
		put_all(&w);
	text_table_fini(&w.strings);
	free(w.values);
	free(w.stack);
	free(w.lines);
	free(w.line_list);
	return w.error;
}
