/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/profile.h"

#include <bobbin/frame.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "export/sample_spool.h"

_Static_assert(SAMPLE_CHUNK == sizeof(((struct profile_samples *)0)->samples) /
				       sizeof(struct profile_sample),
	       "a chunk is read at once");

int profile_open(bool timed, struct profile **ret)
{
	struct profile *p = calloc(1, sizeof(*p));
	int r = p ? 0 : -ENOMEM;

	if (r)
		return r;
	name_pool_init(&p->names);
	r = vector_push(p->stacks, p->stack_count, p->stack_room,
			(struct profile_stack){.caller = PROFILE_NONE, .location = PROFILE_NONE});
	if (!r && timed)
		r = sample_spool_open(&p->spool);
	if (r)
		profile_close(p);
	else
		*ret = p;
	return r;
}

void profile_close(struct profile *profile)
{
	if (!profile)
		return;
	sample_spool_close(profile->spool);
	name_pool_fini(&profile->names);
	hash_index_fini(&profile->thread_index);
	hash_index_fini(&profile->mapping_index);
	hash_index_fini(&profile->function_index);
	hash_index_fini(&profile->location_index);
	hash_index_fini(&profile->stack_index);
	hash_index_fini(&profile->total_index);
	free(profile->events);
	free(profile->threads);
	free(profile->mappings);
	free(profile->functions);
	free(profile->lines);
	free(profile->locations);
	free(profile->stacks);
	free(profile->totals);
	free(profile);
}

static int intern(struct profile *p, const char **text)
{
	return name_pool_intern(&p->names, *text ? *text : "", text);
}

static uint64_t hash_address(const struct profile *p, const void *pointer, uint64_t more)
{
	return hash_words((uintptr_t)pointer, more, p->names.seed);
}

int profile_event(struct profile *profile, const struct profile_event *event, uint32_t *ret)
{
	struct profile_event own = *event;
	int r = intern(profile, &own.name);

	if (!r)
		r = intern(profile, &own.unit);
	own.samples = own.weight = 0;
	if (!r)
		r = vector_push(profile->events, profile->event_count, profile->event_room, own);
	if (!r)
		*ret = (uint32_t)profile->event_count - 1;
	return r;
}

int profile_set_host(struct profile *profile, const char *host)
{
	return name_pool_intern(&profile->names, host, &profile->host);
}

static bool same_thread(const struct profile_thread *a, const struct profile_thread *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->comm == b->comm && a->cgroup == b->cgroup;
}

int profile_thread(struct profile *profile, const struct profile_thread *thread, uint32_t *ret)
{
	struct profile_thread own = {.pid = thread->pid,
				     .tid = thread->tid,
				     .comm = thread->comm,
				     .cgroup = thread->cgroup,
				     .process = thread->process};
	size_t at = 0;
	uint64_t hash;
	int r = intern(profile, &own.comm);

	if (!r)
		r = intern(profile, &own.cgroup);
	if (r)
		return r;
	hash = hash_address(profile, own.comm,
			    (uint64_t)(uint32_t)own.pid << 32 | (uint32_t)own.tid);
	while (hash_index_next(&profile->thread_index, hash, &at, ret))
		if (same_thread(&profile->threads[*ret], &own))
			return 0;
	r = intern(profile, &own.process);
	if (!r)
		r = hash_index_push(&profile->thread_index, hash, profile->threads,
				    profile->thread_count, profile->thread_room, own);
	if (!r)
		*ret = (uint32_t)profile->thread_count - 1;
	return r;
}

static bool same_mapping(const struct profile_mapping *a, const struct profile_mapping *b)
{
	return a->path == b->path && a->start == b->start && a->end == b->end &&
	       a->offset == b->offset && a->is_file == b->is_file &&
	       a->build_id_len == b->build_id_len &&
	       !memcmp(a->build_id, b->build_id, a->build_id_len);
}

int profile_mapping(struct profile *profile, const struct profile_mapping *mapping, uint32_t *ret)
{
	struct profile_mapping own = *mapping;
	size_t at = 0;
	uint64_t hash;
	int r = intern(profile, &own.path);

	if (r)
		return r;
	hash = hash_address(profile, own.path, own.start);
	while (hash_index_next(&profile->mapping_index, hash, &at, ret))
		if (same_mapping(&profile->mappings[*ret], &own))
			return 0;
	r = hash_index_push(&profile->mapping_index, hash, profile->mappings,
			    profile->mapping_count, profile->mapping_room, own);
	if (!r)
		*ret = (uint32_t)profile->mapping_count - 1;
	return r;
}

static int intern_function(struct profile *p, struct profile_function *own)
{
	int r = intern(p, &own->name);

	if (!r)
		r = intern(p, &own->system_name);
	if (!r)
		r = intern(p, &own->dso);
	return r ? r : intern(p, &own->src_file);
}

static bool same_function(const struct profile_function *a, const struct profile_function *b)
{
	return a->name == b->name && a->system_name == b->system_name && a->dso == b->dso &&
	       a->src_file == b->src_file && a->kind == b->kind;
}

int profile_function(struct profile *profile, const struct profile_function *function,
		     uint32_t *ret)
{
	struct profile_function own = *function;
	size_t at = 0;
	uint64_t hash;
	int r = intern_function(profile, &own);

	if (r)
		return r;
	hash = hash_address(profile, own.name,
			    hash_address(profile, own.dso, (uintptr_t)own.src_file));
	while (hash_index_next(&profile->function_index, hash, &at, ret))
		if (same_function(&profile->functions[*ret], &own))
			return 0;
	r = hash_index_push(&profile->function_index, hash, profile->functions,
			    profile->function_count, profile->function_room, own);
	if (!r)
		*ret = (uint32_t)profile->function_count - 1;
	return r;
}

static bool is_location(const struct profile *p, uint32_t id, uint64_t address, uint32_t mapping,
			const struct profile_line *lines, uint32_t line_count)
{
	const struct profile_location *l = &p->locations[id];

	return l->address == address && l->mapping == mapping && l->line_count == line_count &&
	       !memcmp(&p->lines[l->lines], lines, line_count * sizeof(*lines));
}

static int add_location(struct profile *p, uint64_t hash, struct profile_location own,
			const struct profile_line *lines)
{
	int r;

	if (p->line_count + own.line_count >= UINT32_MAX)
		return -E2BIG;
	r = vector_reserve(&p->lines, &p->line_room, p->line_count + own.line_count,
			   sizeof(*lines));
	if (!r)
		r = hash_index_push(&p->location_index, hash, p->locations, p->location_count,
				    p->location_room, own);
	if (r)
		return r;
	memcpy(p->lines + p->line_count, lines, own.line_count * sizeof(*lines));
	p->line_count += own.line_count;
	return 0;
}

int profile_location(struct profile *profile, uint64_t address, uint32_t mapping,
		     const struct profile_line *lines, uint32_t line_count, uint32_t *ret)
{
	const struct profile_location own = {
		.address = address,
		.mapping = mapping,
		.lines = (uint32_t)profile->line_count,
		.line_count = line_count,
	};
	const uint64_t hash = hash_words(address, (uint64_t)mapping << 32 | lines[0].function,
					 profile->names.seed);
	size_t at = 0;
	int r;

	while (hash_index_next(&profile->location_index, hash, &at, ret))
		if (is_location(profile, *ret, address, mapping, lines, line_count))
			return 0;
	r = add_location(profile, hash, own, lines);
	if (!r)
		*ret = (uint32_t)profile->location_count - 1;
	return r;
}

int profile_stack(struct profile *profile, uint32_t caller, uint32_t location, uint32_t *ret)
{
	const uint64_t hash = hash_words(caller, location, profile->names.seed);
	size_t at = 0;
	int r;

	while (hash_index_next(&profile->stack_index, hash, &at, ret)) {
		const struct profile_stack *known = &profile->stacks[*ret];

		if (known->caller == caller && known->location == location)
			return 0;
	}
	r = hash_index_push(
		&profile->stack_index, hash, profile->stacks, profile->stack_count,
		profile->stack_room,
		(struct profile_stack){caller, location, profile->stacks[caller].depth + 1});
	if (!r)
		*ret = (uint32_t)profile->stack_count - 1;
	return r;
}

static bool is_total(const struct profile_total *t, const struct profile_sample *s, uint32_t cpu)
{
	return t->cpu == cpu && t->stack == s->stack && t->thread == s->thread &&
	       t->event == s->event && t->sources == s->sources && t->reason == s->reason &&
	       t->traced == s->traced;
}

static int find_total(struct profile *p, const struct profile_sample *s, uint32_t *ret)
{
	const uint32_t cpu = p->by_cpu ? s->cpu : 0;
	const uint64_t hash = hash_words((uint64_t)s->stack << 32 | s->thread,
					 (uint64_t)s->event << 8 | s->reason | (uint64_t)cpu << 40,
					 p->names.seed);
	size_t at = 0;
	int r;

	while (hash_index_next(&p->total_index, hash, &at, ret))
		if (is_total(&p->totals[*ret], s, cpu))
			return 0;
	r = hash_index_push(&p->total_index, hash, p->totals, p->total_count, p->total_room,
			    (struct profile_total){.event = s->event,
						   .thread = s->thread,
						   .stack = s->stack,
						   .sources = s->sources,
						   .cpu = cpu,
						   .reason = s->reason,
						   .traced = s->traced});
	if (!r)
		*ret = (uint32_t)p->total_count - 1;
	return r;
}

static void note_time(struct profile *p, struct profile_thread *t, uint64_t time)
{
	if (!t->samples || time < t->first)
		t->first = time;
	if (!t->samples || time > t->last)
		t->last = time;
	if (!p->total_count || time < p->first)
		p->first = time;
	if (!p->total_count || time > p->last)
		p->last = time;
}

int profile_add(struct profile *profile, const struct profile_sample *sample)
{
	struct profile_event *event = &profile->events[sample->event];
	struct profile_thread *thread = &profile->threads[sample->thread];
	uint32_t id;
	int r;

	if (event->weight + sample->weight < sample->weight)
		return -EOVERFLOW;
	note_time(profile, thread, sample->time);
	r = find_total(profile, sample, &id);
	if (!r && profile->spool)
		r = sample_spool_add(profile->spool, sample);
	if (r)
		return r;
	profile->totals[id].samples++;
	profile->totals[id].weight += sample->weight;
	event->samples++;
	event->weight += sample->weight;
	thread->samples++;
	return 0;
}

int profile_samples_next(struct profile_samples *samples, const struct profile_sample **ret)
{
	int r;

	if (samples->at == samples->count) {
		if (!samples->profile->spool)
			return 0;
		r = sample_spool_read(samples->profile->spool, samples->thread, samples->chunk++,
				      samples->samples);
		if (r <= 0)
			return r;
		samples->count = (size_t)r;
		samples->at = 0;
	}
	*ret = &samples->samples[samples->at++];
	return 1;
}

#define SOURCE_TEXT(name, text) text,
const char *profile_sources(uint32_t sources, char *text, size_t size)
{
	static const char *const texts[] = {BOBBIN_SOURCES(SOURCE_TEXT)};
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < BOBBIN_SOURCE_COUNT; i++) {
		const size_t length = strlen(texts[i]);

		if (!(sources >> i & 1) || used + length + 3 > size)
			continue;
		if (used) {
			memcpy(text + used, ", ", 2);
			used += 2;
		}
		memcpy(text + used, texts[i], length + 1);
		used += length;
	}
	return text;
}
#undef SOURCE_TEXT
