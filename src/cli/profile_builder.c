/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/profile_builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash_index.h"
#include "base/memory_origin.h"
#include "cli/known_stacks.h"
#include "cli/named_stack.h"
#include "cli/stack_prefix.h"
#include "cli/wall_clock.h"
#include "profile/cgroup_table.h"
#include "profile/perf_format.h"
#include "profile/perf_reader.h"
#include "profile/process_table.h"
#include "symbol/naming.h"
#include "unwind/space.h"

#define PLACE_BITS 16

/**
 * struct known_place - a place in a file, and its location
 * @file: number of the file and 1; 0 for the kernel
 * @offset: in it, or the kernel's address
 */
struct known_place {
	uint64_t file, offset;
	uint32_t location;
	bool known;
};

struct profile_builder {
	struct session *session;
	struct naming *naming;
	struct profile *profile;
	uint32_t *events; /* by their numbers in the session */
	struct known_place places[1u << PLACE_BITS];
	/* by numbers of stacks */
	struct stack_prefix last;
	struct known_stacks stacks;
};

/* As of our own recordings of heaps. */
static bool is_of_bytes(const char *name)
{
	size_t length = strlen(name), suffix = strlen("-bytes");

	return length > suffix && !strcmp(name + length - suffix, "-bytes");
}

/* Weights of clocks and of waits are times. */
static const char *unit_of(const struct perf_reader_attr *event)
{
	if (is_of_bytes(event->name))
		return "bytes";
	return perf_attr_is_clock(&event->attr) || wall_clock_is_wait(event->name) ? "nanoseconds"
										   : "count";
}

/* Of a clock that was asked for by its frequency, too. */
static uint64_t period_of(const struct perf_event_attr *attr, const char *unit)
{
	if (!attr->freq)
		return attr->sample_period > 1 ? attr->sample_period : 0;
	return attr->sample_freq && !strcmp(unit, "nanoseconds") ? NS_PER_SECOND / attr->sample_freq
								 : 0;
}

static int add_events(struct profile_builder *b)
{
	const struct perf_reader *reader = session_reader(b->session);
	const struct perf_reader_attr *attr;
	const size_t count = perf_reader_event_count(reader);
	int r = 0;

	b->events = calloc(count + 1, sizeof(*b->events));
	if (!b->events)
		return -ENOMEM;
	for (size_t i = 0; i < count && !r; i++) {
		struct profile_event event = {0};

		attr = perf_reader_event(reader, i);
		event.name = attr->name;
		event.unit = unit_of(attr);
		event.period = period_of(&attr->attr, event.unit);
		r = profile_event(b->profile, &event, &b->events[i]);
	}
	return r;
}

static int add_host(struct profile_builder *b)
{
	const struct perf_reader *reader = session_reader(b->session);
	const char *host;

	if (perf_feature_string(perf_reader_feature(reader, PERF_FILE_HOSTNAME), &host))
		return 0;
	return profile_set_host(b->profile, host);
}

int profile_builder_open(struct session *session, bool timed, struct profile_builder **ret)
{
	struct profile_builder *b = calloc(1, sizeof(*b));
	int r;

	if (!b)
		return -ENOMEM;
	b->session = session;
	b->naming = session_naming(session);
	b->stacks.seed = hash_seed();
	r = profile_open(timed, &b->profile);
	if (!r)
		r = add_events(b);
	if (!r)
		r = add_host(b);
	if (r)
		profile_builder_close(b);
	else
		*ret = b;
	return r;
}

void profile_builder_close(struct profile_builder *builder)
{
	if (!builder)
		return;
	profile_close(builder->profile);
	free(builder->events);
	stack_prefix_fini(&builder->last);
	known_stacks_fini(&builder->stacks);
	free(builder);
}

struct profile *profile_builder_profile(struct profile_builder *builder)
{
	return builder->profile;
}

/*
 * What is mapped where the frame is; PROFILE_NONE: nothing.  @address: where it is there, as
 * struct profile_location has it.
 */
static int mapping_of(struct profile_builder *b, const struct stack_sample *sample,
		      const struct bobbin_frame *frame, struct profile_mapping *ret, uint32_t *id,
		      uint64_t *address)
{
	struct bobbin_place_info place;

	*ret = (struct profile_mapping){.path = "[kernel.kallsyms]", .end = UINT64_MAX};
	*id = PROFILE_NONE;
	*address = bobbin_frame_lookup_pc(frame);
	if (frame->kernel)
		return profile_mapping(b->profile, ret, id);
	if (!sample->process || bobbin_space_find(sample->process->space, *address, &place))
		return 0;
	*ret = (struct profile_mapping){
		.path = *place.mapping.path ? place.mapping.path : "//anon",
		.start = place.mapping.start,
		.end = place.mapping.end,
		.offset = place.mapping.offset,
		.build_id_len = place.mapping.build_id_len,
		.is_file = memory_origin(place.mapping.path) == MEMORY_FILE,
	};
	memcpy(ret->build_id, place.mapping.build_id, sizeof(ret->build_id));
	if (ret->is_file) { /* all processes have it in the same place then */
		ret->start = ret->offset = 0;
		ret->end = UINT64_MAX;
		*address = place.file_offset;
	}
	return profile_mapping(b->profile, ret, id);
}

static int take_line(struct profile_builder *b, const struct named_frame *named,
		     struct profile_line *ret)
{
	const struct symbol *symbol = &named->symbol;
	const bool has_name = symbol->name && *symbol->name;
	const struct profile_function function = {
		.name = has_name ? symbol->name : PROFILE_UNKNOWN,
		.system_name = symbol->mangled ? symbol->mangled
			       : has_name      ? symbol->name
					       : PROFILE_UNKNOWN,
		.dso = named->dso,
		.src_file = symbol->src_file,
		.kind = named->kind,
	};

	ret->line = symbol->line;
	return profile_function(b->profile, &function, &ret->function);
}

/* @named: the function that holds the code. */
static struct profile_extent extent_of(const struct named_frame *named,
				       const struct bobbin_frame *frame)
{
	const struct symbol *symbol = &named->symbol;
	const uint64_t past = frame->pc - bobbin_frame_lookup_pc(frame);

	if (!symbol->name || symbol->offset < past)
		return (struct profile_extent){0};
	return (struct profile_extent){
		.before = symbol->offset - past,
		.size = symbol->guessed ? 0 : symbol->size,
		.known = true,
	};
}

/* A frame that was named: its location, by itself if nothing is known of it. */
static int new_location(struct profile_builder *b, const struct stack_sample *sample,
			const struct bobbin_frame *frame, uint32_t *ret)
{
	const struct naming_moment moment = moment_of(sample);
	struct named_frame named[NAMING_MAX_INLINES];
	struct profile_line lines[NAMING_MAX_INLINES];
	struct profile_mapping mapping;
	uint64_t address;
	uint32_t id;
	size_t count = naming_frame(b->naming, sample->process->space, &moment, frame, named);
	int r = mapping_of(b, sample, frame, &mapping, &id, &address);

	for (size_t i = 0; i < count && !r; i++)
		r = take_line(b, &named[i], &lines[i]);
	if (!r)
		r = profile_location(b->profile, address, id, lines, (uint32_t)count, ret);
	if (!r)
		b->profile->locations[*ret].extent = extent_of(&named[count - 1], frame);
	return r;
}

static int gap_location(struct profile_builder *b, uint32_t *ret)
{
	const struct profile_function function = {.name = "[frames left out]",
						  .system_name = "[frames left out]",
						  .kind = FRAME_UNKNOWN};
	struct profile_line line = {0};
	int r = profile_function(b->profile, &function, &line.function);

	return r ? r : profile_location(b->profile, 0, PROFILE_NONE, &line, 1, ret);
}

/*
 * What the cache knows a frame by; @path: of the file, of which there may be copies, or NULL.  false:
 * it may be another function the next time.
 */
static bool place_of(const struct profile_builder *b, const struct stack_sample *sample,
		     const struct bobbin_frame *frame, struct known_place *ret, const char **path)
{
	const uint64_t pc = bobbin_frame_lookup_pc(frame);
	const struct mapping *m;

	*ret = (struct known_place){.offset = pc, .known = true};
	*path = NULL;
	if (frame->kernel)
		return !loaded_programs_find(naming_programs(b->naming), pc);
	m = sample->process ? space_find(sample->process->space, pc) : NULL;
	if (!m || memory_origin(m->path) != MEMORY_FILE)
		return false;
	ret->file = (uint64_t)m->file->number + 1;
	ret->offset = mapping_offset(m, pc);
	*path = m->path;
	return true;
}

static bool has_path(const struct profile *p, uint32_t location, const char *path)
{
	const uint32_t mapping = p->locations[location].mapping;

	return !path || (mapping != PROFILE_NONE && !strcmp(p->mappings[mapping].path, path));
}

static bool is_known(const struct profile_builder *b, const struct known_place *known,
		     const struct known_place *place, const char *path)
{
	return known->known && known->file == place->file && known->offset == place->offset &&
	       has_path(b->profile, known->location, path);
}

/* @lasts: it will have the same location. */
static int location_of(struct profile_builder *b, const struct stack_sample *sample,
		       const struct bobbin_frame *frame, bool *lasts, uint32_t *ret)
{
	struct known_place place, *known;
	const char *path;
	int r;

	*lasts = true;
	if (frame->source == BOBBIN_SOURCE_LEFT_OUT)
		return gap_location(b, ret);
	*lasts = place_of(b, sample, frame, &place, &path);
	known = &b->places[hash_words(place.file, place.offset, 0) >> (64 - PLACE_BITS)];
	if (*lasts && is_known(b, known, &place, path)) {
		*ret = known->location;
		return 0;
	}
	r = new_location(b, sample, frame, ret);
	if (r || !*lasts)
		return r;
	*known = place;
	known->location = *ret;
	return 0;
}

static int add_frame(struct profile_builder *b, const struct stack_sample *sample,
		     const struct bobbin_frame *frame, bool *lasting, uint32_t *stack)
{
	uint32_t location;
	bool lasts;
	int r = location_of(b, sample, frame, &lasts, &location);

	if (!r)
		r = profile_stack(b->profile, *stack, location, stack);
	*lasting &= lasts;
	return r ? r : stack_prefix_add(&b->last, frame, lasts, *stack);
}

static int stack_of(struct profile_builder *b, const struct stack_sample *sample, uint32_t *ret)
{
	bool lasting = true;
	size_t common;
	int r = 0;

	if (known_stacks_find(&b->stacks, sample, ret))
		return 0;
	common = stack_prefix_keep(&b->last, sample);
	*ret = common ? b->last.frames[common - 1].value : PROFILE_ROOT;
	for (size_t i = sample->count - common; i-- > 0 && !r;)
		r = add_frame(b, sample, &sample->frames[i], &lasting, ret);
	return r || !lasting ? r : known_stacks_add(&b->stacks, sample, *ret);
}

/* Those of user frames whose callers were found. */
static uint32_t sources_of(const struct stack_sample *sample)
{
	uint32_t sources = 0;

	for (size_t i = 0; i < sample->count; i++)
		if (!sample->frames[i].kernel && sample->frames[i].source &&
		    sample->frames[i].source != BOBBIN_SOURCE_LEFT_OUT)
			sources |= UINT32_C(1) << sample->frames[i].source;
	return sources;
}

int profile_builder_add(struct profile_builder *builder, const struct stack_sample *sample)
{
	struct profile *p = builder->profile;
	struct profile_sample own = {
		.time = sample->time,
		.weight = sample->period,
		.event = builder->events[sample->event_number],
		.cpu = sample->cpu,
		.sources = sources_of(sample),
		.reason = (uint8_t)sample->reason,
		.traced = sample->traced && sample->reason != BOBBIN_REASON_NO_USER,
	};
	const struct profile_thread thread = {
		.pid = sample->pid,
		.tid = sample->tid,
		.comm = sample->comm,
		.cgroup = sample->cgroup ? sample->cgroup->path : NULL,
		.process = sample->process ? sample->process->comm : NULL,
	};
	int r = profile_thread(p, &thread, &own.thread);

	if (!r)
		r = stack_of(builder, sample, &own.stack);
	if (!r && !p->total_count)
		p->start = session_day(builder->session, sample->time);
	return r ? r : profile_add(p, &own);
}

static int add_sample(void *ctx, const struct stack_sample *sample)
{
	return profile_builder_add(ctx, sample);
}

const struct sample_sink profile_builder_sink = {.sample = add_sample};
