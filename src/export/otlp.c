/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * otlp.c - a profile for OpenTelemetry's collector, and for what it sends profiles to.
 *
 * The length of a message precedes it in the one that it is part of, so all is made twice: first to
 * count bytes, which also fills the tables of strings and attributes, then to write.  In memory is
 * one element at a time, and what the tables and stacks are numbered by.
 *
 * There is a resource for each service and each container.  One is a series of its own in Pyroscope,
 * with a label for each attribute, and another message with its own samples for the collector.
 * Processes are attributes of samples, as OpenTelemetry's profiler has them.
 *
 * Samples have no times, so those that differ in nothing else are one, and the message does not
 * grow with the time that was recorded.
 */
#include "export/otlp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/vector.h"
#include "export/otlp.pb-c.h"
#include "export/otlp_resource.h"
#include "export/profile_format.h"
#include "export/safe_text.h"
#include "export/text_table.h"

/* Attributes of a sample: process.pid, thread.id, thread.name, bobbin.stack_end, .unwound_by. */
#define SAMPLE_ATTRIBUTES 5
#define SOURCES_SIZE 256
#define ID_SIZE 16
#define SPAN_ID_SIZE 8
/* of protocol buffers: what has its length before it, and the bits of a number in a byte */
#define LENGTH_DELIMITED 2
#define VARINT_BITS 7

/* Numbers of fields that are messages of unknown length; see otlp.proto. */
enum {
	REQUEST_RESOURCE_PROFILES = 1,
	REQUEST_DICTIONARY = 2,
	RESOURCE = 1,
	RESOURCE_SCOPE_PROFILES = 2,
	SCOPE_PROFILES = 2,
};

typedef Otlp__ProfilesDictionary Dictionary;

/* An attribute in the table: a text that the table of strings keeps, or NULL and a number. */
struct attribute {
	uint32_t key;
	const char *text;
	int64_t number;
};

/* Things of a profile in their order in a table, where the first one has number 1. */
struct numbering {
	uint32_t *numbers; /* of each thing of the profile; 0: it is not in the table */
	uint32_t *things;
	size_t count;
};

/* Of the messages of a resource. */
struct resource_sizes {
	uint64_t all, resource, scope;
};

/**
 * struct otlp - a request that is being made
 * @profile: which one; @resources: what is told apart in it
 * @given: what the caller says of all of it
 * @out: where, or NULL while bytes are counted
 * @size: those that were counted
 * @dictionary_size, @sizes, @profile_sizes: of messages, of each resource and profile; 0: not known yet
 * @functions: those of the profile that differ here, where files of code do not count
 * @stacks: that samples have; others are only parts of these
 * @first, @next: totals of each profile, as a list of their numbers and one; profiles are the events of
 *	each resource
 * @are_counts: for each event: all samples have the weight of a period
 * @indices, @lines: of the element that is made
 */
struct otlp {
	ProtobufCBuffer buffer;
	const struct profile *profile;
	const struct otlp_attribute *given;
	size_t given_count;
	struct otlp_resources resources;
	FILE *out;
	uint64_t size, dictionary_size, *profile_sizes;
	struct resource_sizes *sizes;
	struct text_table strings;
	struct attribute *attributes;
	size_t attribute_count, attribute_room;
	struct hash_index attribute_index;
	struct numbering functions, stacks;
	uint32_t *first, *next;
	bool *are_counts;
	int32_t *indices;
	size_t index_room;
	Otlp__Line *lines, **line_list;
	size_t line_room, line_list_room;
	int error;
};

static void append(ProtobufCBuffer *buffer, size_t size, const uint8_t *bytes)
{
	struct otlp *w = (struct otlp *)buffer;

	w->size += size;
	if (w->out)
		fwrite(bytes, 1, size, w->out);
}

/* Add fields to the message that is open. */
static void put(struct otlp *w, const ProtobufCMessage *message)
{
	protobuf_c_message_pack_to_buffer(message, &w->buffer);
}

static void put_varint(struct otlp *w, uint64_t value)
{
	uint8_t bytes[10];
	size_t count = 0;

	for (; value >> VARINT_BITS; value >>= VARINT_BITS)
		bytes[count++] = (uint8_t)(value | 1u << VARINT_BITS);
	bytes[count++] = (uint8_t)value;
	append(&w->buffer, count, bytes);
}

/* A message in the one that is open: @put_fields(@number); its length goes to @size. */
static void nest(struct otlp *w, uint32_t field, uint64_t *size,
		 void (*put_fields)(struct otlp *w, size_t number), size_t number)
{
	uint64_t before;

	put_varint(w, (uint64_t)field << 3 | LENGTH_DELIMITED);
	if (w->out) {
		put_varint(w, *size);
		put_fields(w, number);
		return;
	}
	before = w->size;
	w->size = 0;
	put_fields(w, number);
	*size = w->size;
	put_varint(w, *size);
	w->size += before;
}

/* The number of a string that is one of the profile's, or a literal. */
static int32_t string(struct otlp *w, const char *text)
{
	uint32_t id = 0;
	int r = text_table_number(&w->strings, text, &id);

	if (r)
		w->error = r;
	return (int32_t)id;
}

static int32_t attribute(struct otlp *w, const struct attribute *wanted)
{
	const uint64_t hash = hash_words((uintptr_t)wanted->text ^ (uint64_t)wanted->number,
					 wanted->key, w->strings.pool.seed);
	size_t at = 0;
	uint32_t id;
	int r;

	while (hash_index_next(&w->attribute_index, hash, &at, &id)) {
		const struct attribute *known = &w->attributes[id];

		if (known->key == wanted->key && known->text == wanted->text &&
		    known->number == wanted->number)
			return (int32_t)id + 1;
	}
	r = w->attribute_count < INT32_MAX - 1
		    ? hash_index_push(&w->attribute_index, hash, w->attributes, w->attribute_count,
				      w->attribute_room, *wanted)
		    : -E2BIG;
	if (!r)
		return (int32_t)w->attribute_count;
	w->error = r;
	return 0;
}

/* @key is a literal; @text may pass. */
static int32_t text_attribute(struct otlp *w, const char *key, const char *text)
{
	struct attribute wanted = {.key = (uint32_t)string(w, key), .text = ""};
	int r = text_table_keep(&w->strings, text, &wanted.text);

	if (r)
		w->error = r;
	return attribute(w, &wanted);
}

static int32_t number_attribute(struct otlp *w, const char *key, int64_t number)
{
	const struct attribute wanted = {.key = (uint32_t)string(w, key), .number = number};

	return attribute(w, &wanted);
}

static void take_type(struct otlp *w, const char *type, const char *unit, Otlp__ValueType *ret)
{
	otlp__value_type__init(ret);
	ret->type_strindex = string(w, type);
	ret->unit_strindex = string(w, unit);
}

/* What was asked for; of a frequency, what came of it. */
static int64_t period_of(const struct profile_event *event)
{
	if (event->period || !event->samples)
		return (int64_t)event->period;
	return (int64_t)(event->weight / event->samples);
}

/*
 * Types are those of OpenTelemetry's profiler, by which back ends know CPU time, samples that count
 * for a period each, and waits, which have none.
 */
static void take_types(struct otlp *w, size_t number, Otlp__Profile *ret,
		       Otlp__ValueType *sample_type, Otlp__ValueType *period_type)
{
	const struct profile_event *event = &w->profile->events[number];
	const char *type = profile_is_clock(event) ? "cpu" : event->name;

	ret->sample_type = sample_type;
	if (!strcmp(event->name, "offcpu-time")) {
		take_type(w, "off_cpu", event->unit, sample_type);
		return;
	}
	if (w->are_counts[number])
		take_type(w, "samples", "count", sample_type);
	else
		take_type(w, type, event->unit, sample_type);
	take_type(w, type, event->unit, period_type);
	ret->period_type = period_type;
	ret->period = period_of(event);
}

/* An ID of all zeros is none. */
static void take_id(struct otlp *w, uint8_t id[ID_SIZE], Otlp__Profile *ret)
{
	if (getrandom(id, ID_SIZE, 0) != ID_SIZE)
		w->error = -EIO;
	ret->profile_id.len = ID_SIZE;
	ret->profile_id.data = id;
}

/* @number: of the event */
static void put_profile_head(struct otlp *w, size_t number)
{
	const struct profile *p = w->profile;
	Otlp__Profile message = OTLP__PROFILE__INIT;
	Otlp__ValueType sample_type, period_type;
	int32_t event = text_attribute(w, "bobbin.event", p->events[number].name);
	uint8_t id[ID_SIZE];

	take_types(w, number, &message, &sample_type, &period_type);
	take_id(w, id, &message);
	message.time_unix_nano = p->start;
	message.duration_nano = p->last - p->first;
	message.n_attribute_indices = 1;
	message.attribute_indices = &event;
	put(w, &message.base);
}

/* How many there are. */
static size_t take_attributes(struct otlp *w, const struct profile_total *t,
			      int32_t ret[SAMPLE_ATTRIBUTES])
{
	const struct profile_thread *thread = &w->profile->threads[t->thread];
	const char *reason = profile_reason(t->traced, t->reason);
	char sources[SOURCES_SIZE];
	size_t count = 0;

	ret[count++] = number_attribute(w, "process.pid", thread->pid);
	ret[count++] = number_attribute(w, "thread.id", thread->tid);
	ret[count++] = text_attribute(w, "thread.name", thread->comm);
	if (reason)
		ret[count++] = text_attribute(w, "bobbin.stack_end", reason);
	if (t->sources)
		ret[count++] =
			text_attribute(w, "bobbin.unwound_by",
				       profile_sources(t->sources, sources, sizeof(sources)));
	return count;
}

static void put_total(struct otlp *w, const struct profile_total *t)
{
	Otlp__Profile message = OTLP__PROFILE__INIT;
	Otlp__Sample sample = OTLP__SAMPLE__INIT, *list = &sample;
	int32_t attributes[SAMPLE_ATTRIBUTES];
	int64_t value = (int64_t)(w->are_counts[t->event] ? t->samples : t->weight);

	sample.stack_index = (int32_t)w->stacks.numbers[t->stack];
	sample.n_attribute_indices = take_attributes(w, t, attributes);
	sample.attribute_indices = attributes;
	sample.n_values = 1;
	sample.values = &value;
	message.n_samples = 1;
	message.samples = &list;
	put(w, &message.base);
}

static void put_profile(struct otlp *w, size_t number)
{
	put_profile_head(w, number % w->profile->event_count);
	for (uint32_t i = w->first[number]; i; i = w->next[i - 1])
		put_total(w, &w->profile->totals[i - 1]);
}

static void put_scope(struct otlp *w, size_t number)
{
	Otlp__ScopeProfiles message = OTLP__SCOPE_PROFILES__INIT;
	Otlp__InstrumentationScope scope = OTLP__INSTRUMENTATION_SCOPE__INIT;
	const size_t events = w->profile->event_count;

	scope.name = (char *)(uintptr_t)PROFILE_CREATOR;
	message.scope = &scope;
	put(w, &message.base);
	for (size_t i = 0; i < events; i++) {
		const size_t profile = number * events + i;

		/* of an event that nobody has samples of there is one all the same */
		if (w->first[profile] || w->resources.count == 1)
			nest(w, SCOPE_PROFILES, &w->profile_sizes[profile], put_profile, profile);
	}
}

/* Strings of protocol buffers are valid UTF-8.  NULL: there is no memory. */
static char *clean(struct otlp *w, const char *text)
{
	char *copy = safe_text_copy(text);

	if (!copy)
		w->error = -ENOMEM;
	return copy;
}

static void put_resource_attribute(struct otlp *w, const char *key, const char *text)
{
	Otlp__Resource message = OTLP__RESOURCE__INIT;
	Otlp__KeyValue pair = OTLP__KEY_VALUE__INIT, *list = &pair;
	Otlp__AnyValue value = OTLP__ANY_VALUE__INIT;

	pair.key = clean(w, key);
	pair.value = &value;
	value.value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	value.string_value = clean(w, text);
	message.n_attributes = 1;
	message.attributes = &list;
	if (pair.key && value.string_value)
		put(w, &message.base);
	free(pair.key);
	free(value.string_value);
}

static void put_known_attribute(struct otlp *w, const char *key, const char *text)
{
	if (text && !otlp_has_attribute(w->given, w->given_count, key))
		put_resource_attribute(w, key, text);
}

static void put_resource(struct otlp *w, size_t number)
{
	const struct otlp_resource *resource = &w->resources.list[number];

	put_known_attribute(w, OTLP_SERVICE, resource->service);
	put_known_attribute(w, OTLP_CONTAINER, resource->container);
	put_known_attribute(w, OTLP_POD, resource->pod);
	put_known_attribute(w, OTLP_HOST, w->profile->host);
	for (size_t i = 0; i < w->given_count; i++)
		put_resource_attribute(w, w->given[i].key, w->given[i].value);
}

static void put_resource_profiles(struct otlp *w, size_t number)
{
	nest(w, RESOURCE, &w->sizes[number].resource, put_resource, number);
	nest(w, RESOURCE_SCOPE_PROFILES, &w->sizes[number].scope, put_scope, number);
}

static void put_mapping(struct otlp *w, const struct profile_mapping *m)
{
	Dictionary message = OTLP__PROFILES_DICTIONARY__INIT;
	Otlp__Mapping mapping = OTLP__MAPPING__INIT, *list = &mapping;
	char id[2 * sizeof(m->build_id) + 1] = "";
	int32_t build_id;

	for (size_t k = 0; k < m->build_id_len; k++)
		snprintf(id + 2 * k, 3, "%02x", m->build_id[k]);
	mapping.memory_start = m->start;
	mapping.memory_limit = m->end;
	mapping.file_offset = m->offset;
	mapping.filename_strindex = string(w, m->path);
	if (m->build_id_len) {
		build_id = text_attribute(w, "process.executable.build_id.gnu", id);
		mapping.n_attribute_indices = 1;
		mapping.attribute_indices = &build_id;
	}
	message.n_mapping_table = 1;
	message.mapping_table = &list;
	put(w, &message.base);
}

static void put_mappings(struct otlp *w)
{
	Otlp__Mapping none = OTLP__MAPPING__INIT, *list = &none;
	Dictionary message = OTLP__PROFILES_DICTIONARY__INIT;

	message.n_mapping_table = 1;
	message.mapping_table = &list;
	put(w, &message.base);
	for (size_t i = 0; i < w->profile->mapping_count; i++)
		put_mapping(w, &w->profile->mappings[i]);
}

/* Of code that no file has, a name of our own; NULL: nobody knows. */
static const char *type_of_frame(const struct otlp *w, const struct profile_location *l)
{
	const struct profile_line *line = &w->profile->lines[l->lines + l->line_count - 1];

	switch (w->profile->functions[line->function].kind) {
	case FRAME_KERNEL:
		return "kernel";
	case FRAME_USER:
	case FRAME_INLINED:
		return "native";
	case FRAME_JIT:
		return "jit";
	default:
		return NULL;
	}
}

static int take_lines(struct otlp *w, const struct profile_location *l)
{
	if (vector_reserve(&w->lines, &w->line_room, l->line_count, sizeof(*w->lines)) ||
	    vector_reserve(&w->line_list, &w->line_list_room, l->line_count, sizeof(*w->line_list)))
		return -ENOMEM;
	for (size_t i = 0; i < l->line_count; i++) {
		const struct profile_line *line = &w->profile->lines[l->lines + i];

		otlp__line__init(&w->lines[i]);
		w->lines[i].function_index = (int32_t)w->functions.numbers[line->function];
		w->lines[i].line = line->line;
		w->line_list[i] = &w->lines[i];
	}
	return 0;
}

static void put_location(struct otlp *w, const struct profile_location *l)
{
	Dictionary message = OTLP__PROFILES_DICTIONARY__INIT;
	Otlp__Location location = OTLP__LOCATION__INIT, *list = &location;
	const char *type = type_of_frame(w, l);
	int32_t frame_type;

	if (take_lines(w, l)) {
		w->error = -ENOMEM;
		return;
	}
	location.mapping_index = l->mapping == PROFILE_NONE ? 0 : (int32_t)(l->mapping + 1);
	location.address = l->address;
	location.n_lines = l->line_count;
	location.lines = w->line_list;
	if (type) {
		frame_type = text_attribute(w, "profile.frame.type", type);
		location.n_attribute_indices = 1;
		location.attribute_indices = &frame_type;
	}
	message.n_location_table = 1;
	message.location_table = &list;
	put(w, &message.base);
}

static void put_locations(struct otlp *w)
{
	Otlp__Location none = OTLP__LOCATION__INIT, *list = &none;
	Dictionary message = OTLP__PROFILES_DICTIONARY__INIT;

	message.n_location_table = 1;
	message.location_table = &list;
	put(w, &message.base);
	for (size_t i = 0; i < w->profile->location_count; i++)
		put_location(w, &w->profile->locations[i]);
}

static void put_functions(struct otlp *w)
{
	for (size_t i = 0; i <= w->functions.count; i++) {
		Otlp__Function function = OTLP__FUNCTION__INIT, *list = &function;
		Dictionary message = OTLP__PROFILES_DICTIONARY__INIT;

		if (i) {
			const struct profile_function *f =
				&w->profile->functions[w->functions.things[i - 1]];

			function.name_strindex = string(w, f->name);
			function.system_name_strindex = string(w, f->system_name);
			function.filename_strindex = string(w, f->src_file);
		}
		message.n_function_table = 1;
		message.function_table = &list;
		put(w, &message.base);
	}
}

/* No sample is linked to anything.  Some readers want IDs of the right length even of none. */
static void put_links(struct otlp *w)
{
	static uint8_t zeros[ID_SIZE];
	Otlp__Link none = OTLP__LINK__INIT, *list = &none;
	Dictionary message = OTLP__PROFILES_DICTIONARY__INIT;

	none.trace_id = (ProtobufCBinaryData){ID_SIZE, zeros};
	none.span_id = (ProtobufCBinaryData){SPAN_ID_SIZE, zeros};
	message.n_link_table = 1;
	message.link_table = &list;
	put(w, &message.base);
}

/* Leaf first.  The number of its frames. */
static size_t take_frames(struct otlp *w, uint32_t stack)
{
	const struct profile *p = w->profile;
	const size_t depth = p->stacks[stack].depth;

	if (vector_reserve(&w->indices, &w->index_room, depth, sizeof(*w->indices))) {
		w->error = -ENOMEM;
		return 0;
	}
	for (size_t i = 0; i < depth; i++, stack = p->stacks[stack].caller)
		w->indices[i] = (int32_t)(p->stacks[stack].location + 1);
	return depth;
}

static void put_stacks(struct otlp *w)
{
	for (size_t i = 0; i <= w->stacks.count; i++) {
		Otlp__Stack stack = OTLP__STACK__INIT, *list = &stack;
		Dictionary message = OTLP__PROFILES_DICTIONARY__INIT;

		stack.n_location_indices = i ? take_frames(w, w->stacks.things[i - 1]) : 0;
		stack.location_indices = w->indices;
		message.n_stack_table = 1;
		message.stack_table = &list;
		put(w, &message.base);
	}
}

static void put_attribute(struct otlp *w, const struct attribute *a)
{
	Dictionary message = OTLP__PROFILES_DICTIONARY__INIT;
	Otlp__KeyValueAndUnit pair = OTLP__KEY_VALUE_AND_UNIT__INIT, *list = &pair;
	Otlp__AnyValue value = OTLP__ANY_VALUE__INIT;
	char *text = a->text ? clean(w, a->text) : NULL;

	pair.key_strindex = (int32_t)a->key;
	pair.value = &value;
	if (text) {
		value.value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
		value.string_value = text;
	} else {
		value.value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
		value.int_value = a->number;
	}
	message.n_attribute_table = 1;
	message.attribute_table = &list;
	put(w, &message.base);
	free(text);
}

static void put_attributes(struct otlp *w)
{
	Otlp__KeyValueAndUnit none = OTLP__KEY_VALUE_AND_UNIT__INIT, *list = &none;
	Dictionary message = OTLP__PROFILES_DICTIONARY__INIT;

	message.n_attribute_table = 1;
	message.attribute_table = &list;
	put(w, &message.base);
	for (size_t i = 0; i < w->attribute_count; i++)
		put_attribute(w, &w->attributes[i]);
}

static void put_string(struct otlp *w, const char *text)
{
	Dictionary message = OTLP__PROFILES_DICTIONARY__INIT;
	char *copy = clean(w, text);

	if (!copy)
		return;
	message.n_string_table = 1;
	message.string_table = &copy;
	put(w, &message.base);
	free(copy);
}

/* The others add to attributes, and all to strings. */
static void put_dictionary(struct otlp *w, size_t number)
{
	(void)number;
	put_mappings(w);
	put_locations(w);
	put_functions(w);
	put_links(w);
	put_stacks(w);
	put_attributes(w);
	for (size_t i = 0; i < w->strings.count; i++)
		put_string(w, w->strings.texts[i]);
}

static void put_request(struct otlp *w)
{
	for (size_t i = 0; i < w->resources.count; i++)
		nest(w, REQUEST_RESOURCE_PROFILES, &w->sizes[i].all, put_resource_profiles, i);
	nest(w, REQUEST_DICTIONARY, &w->dictionary_size, put_dictionary, 0);
}

static int numbering_init(struct numbering *numbering, size_t count)
{
	numbering->numbers = calloc(count + 1, sizeof(*numbering->numbers));
	numbering->things = calloc(count + 1, sizeof(*numbering->things));
	return numbering->numbers && numbering->things ? 0 : -ENOMEM;
}

static void number_thing(struct numbering *numbering, uint32_t thing)
{
	numbering->things[numbering->count++] = thing;
	numbering->numbers[thing] = (uint32_t)numbering->count;
}

static void numbering_fini(struct numbering *numbering)
{
	free(numbering->numbers);
	free(numbering->things);
}

/* Strings of a profile are equal if their pointers are. */
static bool same_function(const struct profile_function *a, const struct profile_function *b)
{
	return a->name == b->name && a->system_name == b->system_name && a->src_file == b->src_file;
}

static int number_functions(struct otlp *w)
{
	const struct profile_function *all = w->profile->functions;
	struct hash_index index = {0};
	int r = numbering_init(&w->functions, w->profile->function_count);

	for (uint32_t i = 0; i < w->profile->function_count && !r; i++) {
		const uint64_t hash = hash_words((uintptr_t)all[i].name, (uintptr_t)all[i].src_file,
						 w->strings.pool.seed);
		size_t at = 0;
		uint32_t known;

		while (hash_index_next(&index, hash, &at, &known))
			if (same_function(&all[known], &all[i]))
				goto found;
		r = hash_index_add(&index, hash, i);
		number_thing(&w->functions, i);
		continue;
	found:
		w->functions.numbers[i] = w->functions.numbers[known];
	}
	hash_index_fini(&index);
	return r;
}

static int number_stacks(struct otlp *w)
{
	const struct profile *p = w->profile;
	int r = numbering_init(&w->stacks, p->stack_count);

	for (size_t i = 0; i < p->total_count && !r; i++)
		if (p->totals[i].stack != PROFILE_ROOT && !w->stacks.numbers[p->totals[i].stack])
			number_thing(&w->stacks, p->totals[i].stack);
	return r;
}

static int sort_totals(struct otlp *w)
{
	const struct profile *p = w->profile;
	const size_t profiles = w->resources.count * p->event_count;

	w->first = calloc(profiles + 1, sizeof(*w->first));
	w->next = calloc(p->total_count + 1, sizeof(*w->next));
	w->are_counts = calloc(p->event_count + 1, sizeof(*w->are_counts));
	w->profile_sizes = calloc(profiles + 1, sizeof(*w->profile_sizes));
	w->sizes = calloc(w->resources.count, sizeof(*w->sizes));
	if (!w->first || !w->next || !w->are_counts || !w->profile_sizes || !w->sizes)
		return -ENOMEM;
	for (size_t i = 0; i < p->event_count; i++)
		w->are_counts[i] = profile_is_clock(&p->events[i]) && p->events[i].period;
	for (size_t i = p->total_count; i-- > 0;) {
		const struct profile_total *t = &p->totals[i];
		uint32_t *first =
			&w->first[w->resources.of_threads[t->thread] * p->event_count + t->event];

		w->next[i] = *first;
		*first = (uint32_t)i + 1;
		if (t->weight / t->samples != p->events[t->event].period || t->weight % t->samples)
			w->are_counts[t->event] = false;
	}
	return 0;
}

static int prepare(struct otlp *w)
{
	const struct profile *p = w->profile;
	int r = text_table_init(&w->strings);

	if (!r && (p->mapping_count >= INT32_MAX || p->location_count >= INT32_MAX ||
		   p->function_count >= INT32_MAX || p->stack_count >= INT32_MAX))
		r = -EFBIG;
	if (!r)
		r = number_functions(w);
	if (!r)
		r = number_stacks(w);
	if (!r)
		r = otlp_resources_init(&w->resources, p, w->given, w->given_count);
	return r ? r : sort_totals(w);
}

static int count_and_write(struct otlp *w, FILE *out)
{
	int r = prepare(w);

	if (r)
		return r;
	put_request(w);
	if (w->error)
		return w->error;
	if (w->size > INT32_MAX)
		return -EFBIG;
	w->out = out;
	put_request(w);
	return w->error;
}

int otlp_write_request(const struct profile *profile, const struct otlp_attribute *attributes,
		       size_t count, FILE *out)
{
	struct otlp w = {.buffer = {.append = append},
			 .profile = profile,
			 .given = attributes,
			 .given_count = count};
	int r = count_and_write(&w, out);

	text_table_fini(&w.strings);
	hash_index_fini(&w.attribute_index);
	numbering_fini(&w.functions);
	numbering_fini(&w.stacks);
	otlp_resources_fini(&w.resources);
	free(w.sizes);
	free(w.profile_sizes);
	free(w.attributes);
	free(w.first);
	free(w.next);
	free(w.are_counts);
	free(w.indices);
	free(w.lines);
	free(w.line_list);
	return r;
}

int otlp_write(const struct profile *profile, FILE *out)
{
	return otlp_write_request(profile, NULL, 0, out);
}
