/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/profile_builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash_index.h"
#include "base/memory_origin.h"
#include "base/vector.h"
#include "cli/named_stack.h"
#include "profile/perf_format.h"
#include "profile/perf_reader.h"
#include "profile/process_table.h"
#include "profile/recorder.h"
#include "symbol/naming.h"
#include "unwind/space.h"

#define PLACE_BITS 16

/**
 * struct known_place - a frame in a file, and its location
 * @program, @generation: of the process when it was there; 0 for the kernel
 * @pc: the frame's, and @exact
 */
struct known_place {
	uint64_t program, generation, pc;
	uint32_t location;
	bool exact, known;
};

/**
 * struct known_frame - a frame of the sample before
 * @pc, @kernel, @exact, @left_out: of it
 * @lasting: this code can be nothing else the next time
 * @stack: of it and its callers
 */
struct known_frame {
	uint64_t pc;
	uint32_t stack;
	bool kernel, exact, left_out, lasting;
};

/* The stack of the sample before, outermost frame first: the next one mostly begins alike. */
struct known_stack {
	struct known_frame *frames;
	size_t count, room;
	uint64_t program, generation; /* of the process */
};

struct profile_builder {
	struct session *session;
	struct naming *naming;
	struct profile *profile;
	uint32_t *events; /* by their numbers in the session */
	struct known_place places[1u << PLACE_BITS];
	struct known_stack last;
};

/* Weights of clocks and of waits are times. */
static const char *unit_of(const struct perf_reader_attr *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (attr->type == PERF_TYPE_SOFTWARE &&
	    (attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_TASK_CLOCK))
		return "nanoseconds";
	return !strcmp(event->name, RECORDER_WAIT_EVENT) || !strcmp(event->name, "preempted-time")
		       ? "nanoseconds"
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
	size_t count = 0;
	int r = 0;

	while (perf_reader_event(reader, count))
		count++;
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
	free(builder->last.frames);
	free(builder);
}

struct profile *profile_builder_profile(struct profile_builder *builder)
{
	return builder->profile;
}

/* What is mapped where the frame is; PROFILE_NONE: nothing. */
static int mapping_of(struct profile_builder *b, const struct stack_sample *sample,
		      const struct bobbin_frame *frame, struct profile_mapping *ret, uint32_t *id)
{
	struct bobbin_place_info place;

	*ret = (struct profile_mapping){.path = "[kernel.kallsyms]", .end = UINT64_MAX};
	*id = PROFILE_NONE;
	if (frame->kernel)
		return profile_mapping(b->profile, ret, id);
	if (!sample->process ||
	    bobbin_space_find(sample->process->space, bobbin_frame_lookup_pc(frame), &place))
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
	return profile_mapping(b->profile, ret, id);
}

static int take_line(struct profile_builder *b, const struct named_frame *named,
		     struct profile_line *ret)
{
	const struct symbol *symbol = &named->symbol;
	const bool has_name = symbol->name && *symbol->name;
	const struct profile_function function = {
		.name = has_name ? symbol->name : "[unknown]",
		.system_name = symbol->mangled ? symbol->mangled
			       : has_name      ? symbol->name
					       : "[unknown]",
		.dso = named->dso,
		.src_file = symbol->src_file,
		.kind = named->kind,
	};

	ret->line = symbol->line;
	return profile_function(b->profile, &function, &ret->function);
}

/* A frame that was named: its location, by itself if nothing is known of it. */
static int new_location(struct profile_builder *b, const struct stack_sample *sample,
			const struct bobbin_frame *frame, bool *is_file, uint32_t *ret)
{
	const struct naming_moment moment = moment_of(sample);
	struct named_frame named[NAMING_MAX_INLINES];
	struct profile_line lines[NAMING_MAX_INLINES];
	struct profile_mapping mapping;
	uint32_t id;
	size_t count = naming_frame(b->naming, sample->process->space, &moment, frame, named);
	int r = mapping_of(b, sample, frame, &mapping, &id);

	for (size_t i = 0; i < count && !r; i++)
		r = take_line(b, &named[i], &lines[i]);
	*is_file = frame->kernel || mapping.is_file;
	return r ? r
		 : profile_location(b->profile, bobbin_frame_lookup_pc(frame), id, lines,
				    (uint32_t)count, ret);
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

/* What memory without a file holds can be another function the next time. */
static int location_of(struct profile_builder *b, const struct stack_sample *sample,
		       const struct bobbin_frame *frame, bool *is_file, uint32_t *ret)
{
	const bool kernel = frame->kernel;
	const uint64_t program = kernel ? 0 : sample->process->program;
	const uint64_t generation = kernel ? 0 : sample->process->space->generation;
	const uint64_t key = hash_words(program, frame->pc, generation);
	struct known_place *known = &b->places[key >> (64 - PLACE_BITS)];
	int r;

	*is_file = true;
	if (frame->source == BOBBIN_SOURCE_LEFT_OUT)
		return gap_location(b, ret);
	if (known->known && known->pc == frame->pc && known->program == program &&
	    known->generation == generation && known->exact == frame->exact) {
		*ret = known->location;
		return 0;
	}
	r = new_location(b, sample, frame, is_file, ret);
	if (!r && *is_file)
		*known = (struct known_place){.program = program,
					      .generation = generation,
					      .pc = frame->pc,
					      .location = *ret,
					      .exact = frame->exact,
					      .known = true};
	return r;
}

static struct known_frame known_frame_of(const struct bobbin_frame *frame)
{
	return (struct known_frame){
		.pc = frame->pc,
		.kernel = frame->kernel,
		.exact = frame->exact,
		.left_out = frame->source == BOBBIN_SOURCE_LEFT_OUT,
	};
}

static bool is_known(const struct known_frame *known, const struct bobbin_frame *frame)
{
	return known->lasting && known->pc == frame->pc && known->kernel == frame->kernel &&
	       known->exact == frame->exact &&
	       known->left_out == (frame->source == BOBBIN_SOURCE_LEFT_OUT);
}

/* Forget of the stack before what the sample does not begin with.  How many frames are left. */
static size_t keep_common(struct known_stack *last, const struct stack_sample *sample)
{
	const uint64_t program = sample->process ? sample->process->program : 0;
	const uint64_t generation = sample->process ? sample->process->space->generation : 0;
	const bool same = last->program == program && last->generation == generation;
	size_t common = 0;

	while (same && common < last->count && common < sample->count &&
	       is_known(&last->frames[common], &sample->frames[sample->count - 1 - common]))
		common++;
	last->program = program;
	last->generation = generation;
	last->count = common;
	return common;
}

static int add_frame(struct profile_builder *b, const struct stack_sample *sample,
		     const struct bobbin_frame *frame, uint32_t *stack)
{
	struct known_stack *last = &b->last;
	struct known_frame known = known_frame_of(frame);
	uint32_t location;
	int r = location_of(b, sample, frame, &known.lasting, &location);

	if (!r)
		r = profile_stack(b->profile, *stack, location, stack);
	if (r)
		return r;
	known.stack = *stack;
	return vector_push(last->frames, last->count, last->room, known);
}

static int stack_of(struct profile_builder *b, const struct stack_sample *sample, uint32_t *ret)
{
	const size_t common = keep_common(&b->last, sample);
	int r = 0;

	*ret = common ? b->last.frames[common - 1].stack : PROFILE_ROOT;
	for (size_t i = sample->count - common; i-- > 0 && !r;)
		r = add_frame(b, sample, &sample->frames[i], ret);
	return r;
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
	int r = profile_thread(p, sample->pid, sample->tid, sample->comm, &own.thread);

	if (!r)
		r = stack_of(builder, sample, &own.stack);
	if (!r && !p->total_count)
		p->start = session_day(builder->session, sample->time);
	return r ? r : profile_add(p, &own);
}
