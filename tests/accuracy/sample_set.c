/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sample_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/perf_reader.h"
#include "profile/stack_sample.h"
#include "unwind/space.h"

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static void hash_space(const struct bobbin_space *space, struct sample_layout *layout)
{
	for (size_t i = 0; i < space->maps.count; i++) {
		const struct mapping *m = &space->maps.list[i];
		uint64_t h = mix(mix(mix(m->start, m->end), m->offset), m->file->number);

		layout->hash = mix(layout->hash, h);
		if (m->file->kind != FILE_NONE)
			layout->files_hash = mix(layout->files_hash, h);
	}
}

static int find_layout(struct sample_set *set, const struct bobbin_space *space, uint32_t *ret)
{
	struct sample_layout layout = {0};
	int r;

	hash_space(space, &layout);
	for (size_t i = set->layout_count; i-- > 0;) {
		if (set->layouts[i].hash == layout.hash) {
			*ret = (uint32_t)i;
			return 0;
		}
	}
	if (set->layout_count == set->layout_room) {
		size_t room = set->layout_room ? 2 * set->layout_room : 64;
		struct sample_layout *layouts = realloc(set->layouts, room * sizeof(*layouts));

		if (!layouts)
			return -ENOMEM;
		set->layouts = layouts;
		set->layout_room = room;
	}
	r = bobbin_space_fork(space, &layout.space);
	if (r)
		return r;
	*ret = (uint32_t)set->layout_count;
	set->layouts[set->layout_count++] = layout;
	return 0;
}

static int make_room(struct sample_set *set)
{
	size_t room = set->room ? 2 * set->room : 1024;
	struct set_sample *samples;

	if (set->count < set->room)
		return 0;
	samples = realloc(set->samples, room * sizeof(*samples));
	if (!samples)
		return -ENOMEM;
	set->samples = samples;
	set->room = room;
	return 0;
}

static int take_sample(struct sample_set *set, struct process_table *processes,
		       const struct perf_event *event)
{
	const struct perf_sample *from = &event->sample;
	struct set_sample s = {0};
	struct thread *thread;
	uint8_t *stack;
	int r;

	if (!from->stack || !sample_regs(bobbin_arch_amd64(), from, s.gpr, &s.regs)) {
		set->without_user++;
		return 0;
	}
	r = process_table_thread(processes, (int)event->pid, (int)event->tid, &thread);
	if (!r)
		r = find_layout(set, thread->process->space, &s.layout);
	if (!r)
		r = make_room(set);
	if (r)
		return r;
	stack = malloc(from->dyn_size ? from->dyn_size : 1);
	if (!stack)
		return -ENOMEM;
	memcpy(stack, from->stack, from->dyn_size);
	memcpy(s.comm, thread->comm, COMM_SIZE);
	s.stack = (struct bobbin_stack_copy){
		.addr = s.regs.sp, .data = stack, .size = from->dyn_size};
	set->samples[set->count++] = s;
	return 0;
}

static int take_events(struct sample_set *set, struct perf_reader *reader,
		       struct process_table *processes, struct bobbin_error *err)
{
	struct perf_event event;
	int r;

	while ((r = perf_reader_next(reader, err, &event)) > 0) {
		r = event.type == PERF_RECORD_SAMPLE ? take_sample(set, processes, &event)
						     : process_table_event(processes, &event);
		if (r)
			return r;
	}
	for (size_t i = 0; i < set->count; i++)
		set->samples[i].regs.gpr = set->samples[i].gpr;
	return r;
}

int sample_set_load(const char *path, struct bobbin_unwinder *unwinder, struct bobbin_error *err,
		    struct sample_set *ret)
{
	struct process_table *processes = NULL;
	struct perf_reader *reader = NULL;
	int r;

	*ret = (struct sample_set){0};
	r = perf_reader_open(path, err, &reader);
	if (!r)
		r = process_table_open(unwinder, bobbin_arch_amd64(), false, &processes);
	if (!r)
		r = take_events(ret, reader, processes, err);
	process_table_close(processes);
	perf_reader_close(reader);
	return r;
}

void sample_set_fini(struct sample_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		free((void *)set->samples[i].stack.data);
	for (size_t i = 0; i < set->layout_count; i++)
		bobbin_space_close(set->layouts[i].space);
	free(set->samples);
	free(set->layouts);
	*set = (struct sample_set){0};
}
