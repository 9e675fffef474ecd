/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/stack_prefix.h"

#include <stdlib.h>

#include "base/vector.h"
#include "unwind/space.h"

void stack_prefix_fini(struct stack_prefix *prefix)
{
	free(prefix->frames);
	*prefix = (struct stack_prefix){0};
}

static bool is_same(const struct prefix_frame *known, const struct bobbin_frame *frame)
{
	return known->lasting && known->pc == frame->pc && known->kernel == frame->kernel &&
	       known->exact == frame->exact &&
	       known->left_out == (frame->source == BOBBIN_SOURCE_LEFT_OUT);
}

size_t stack_prefix_keep(struct stack_prefix *prefix, const struct stack_sample *sample)
{
	const uint64_t program = sample->process ? sample->process->program : 0;
	const uint64_t generation = sample->process ? sample->process->space->generation : 0;
	const bool same = prefix->program == program && prefix->generation == generation;
	size_t common = 0;

	while (same && common < prefix->count && common < sample->count &&
	       is_same(&prefix->frames[common], &sample->frames[sample->count - 1 - common]))
		common++;
	prefix->program = program;
	prefix->generation = generation;
	prefix->count = common;
	return common;
}

int stack_prefix_add(struct stack_prefix *prefix, const struct bobbin_frame *frame, bool lasting,
		     uint32_t value)
{
	return vector_push(prefix->frames, prefix->count, prefix->room,
			   (struct prefix_frame){
				   .pc = frame->pc,
				   .value = value,
				   .kernel = frame->kernel,
				   .exact = frame->exact,
				   .left_out = frame->source == BOBBIN_SOURCE_LEFT_OUT,
				   .lasting = lasting,
			   });
}
