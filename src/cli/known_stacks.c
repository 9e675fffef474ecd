/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/known_stacks.h"

#include <stdlib.h>

#include "base/vector.h"
#include "profile/process_table.h"
#include "unwind/space.h"

/* Of all stacks; one of 16 bytes takes as much as a quarter of what is kept of a stack beside them. */
#define FRAMES_MAX ((size_t)1 << 21)
#define STACK_FRAMES 4

/**
 * struct known_stack - a stack that samples had
 * @program, @generation: of its process, see process_table.h
 * @hash: of all the others
 * @frames: where they begin among all frames
 * @value: what was found out about it
 */
struct known_stack {
	uint64_t program, generation, hash;
	size_t frames;
	uint32_t count, value;
};

void known_stacks_fini(struct known_stacks *stacks)
{
	hash_index_fini(&stacks->index);
	free(stacks->stacks);
	free(stacks->frames);
	*stacks = (struct known_stacks){.seed = stacks->seed};
}

static uint64_t how_of(const struct bobbin_frame *frame)
{
	return frame->source | (uint64_t)frame->exact << 8 | (uint64_t)frame->kernel << 9;
}

/* All of a sample's stack but the frames themselves. */
static struct known_stack stack_of(const struct known_stacks *s, const struct stack_sample *sample)
{
	const struct process *process = sample->process;
	struct known_stack own = {
		.program = process ? process->program : 0,
		.generation = process ? process->space->generation : 0,
		.count = (uint32_t)sample->count,
	};

	own.hash = hash_words(own.program, own.generation, s->seed);
	for (size_t i = 0; i < sample->count; i++) {
		const struct bobbin_frame *frame = &sample->frames[i];

		own.hash = hash_mix(own.hash ^ frame->pc, 0x9e3779b97f4a7c15 ^ how_of(frame));
	}
	return own;
}

static bool same_frames(const struct bobbin_frame *a, const struct bobbin_frame *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (a[i].pc != b[i].pc || how_of(&a[i]) != how_of(&b[i]))
			return false;
	return true;
}

static bool is_known(const struct known_stacks *s, const struct known_stack *known,
		     const struct known_stack *own, const struct bobbin_frame *frames)
{
	return known->hash == own->hash && known->program == own->program &&
	       known->generation == own->generation && known->count == own->count &&
	       same_frames(s->frames + known->frames, frames, own->count);
}

bool known_stacks_find(const struct known_stacks *stacks, const struct stack_sample *sample,
		       uint32_t *ret)
{
	const struct known_stack own = stack_of(stacks, sample);
	size_t at = 0;
	uint32_t i;

	while (hash_index_next(&stacks->index, own.hash, &at, &i)) {
		if (!is_known(stacks, &stacks->stacks[i], &own, sample->frames))
			continue;
		*ret = stacks->stacks[i].value;
		return true;
	}
	return false;
}

int known_stacks_add(struct known_stacks *stacks, const struct stack_sample *sample, uint32_t value)
{
	struct known_stack own = stack_of(stacks, sample);
	int r;

	if (stacks->frame_count + own.count + stacks->count * STACK_FRAMES > FRAMES_MAX)
		known_stacks_fini(stacks);
	own.frames = stacks->frame_count;
	own.value = value;
	r = vector_reserve(&stacks->frames, &stacks->frame_room, own.frames + own.count,
			   sizeof(*stacks->frames));
	if (!r)
		r = hash_index_push(&stacks->index, own.hash, stacks->stacks, stacks->count,
				    stacks->room, own);
	if (r)
		return r;
	memcpy(stacks->frames + own.frames, sample->frames, own.count * sizeof(*stacks->frames));
	stacks->frame_count += own.count;
	return 0;
}
