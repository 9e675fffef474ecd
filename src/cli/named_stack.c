/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/named_stack.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"

/* Code of files stays what it is; memory can be another function the next time. */
static bool is_lasting(enum frame_kind kind)
{
	return kind == FRAME_USER || kind == FRAME_INLINED || kind == FRAME_KERNEL;
}

static int add_frame(struct named_stack *stack, struct naming *naming,
		     const struct stack_sample *sample, const struct bobbin_frame *frame)
{
	const struct naming_moment moment = moment_of(sample);
	const bool mark = frame->source == BOBBIN_SOURCE_LEFT_OUT;
	struct named_frame named[NAMING_MAX_INLINES];
	size_t n = naming_frame(naming, sample->process->space, &moment, frame, named);
	const bool lasting = is_lasting(named[0].kind) &&
			     !(frame->kernel &&
			       loaded_programs_find(naming_programs(naming), frame->pc));

	if (vector_reserve(&stack->frames, &stack->room, stack->count + n, sizeof(*stack->frames)))
		return -ENOMEM;
	while (n--)
		stack->frames[stack->count++] = (struct call_frame){
			.name = mark ? "[frames left out]" : named[n].symbol.name,
			.dso = mark ? "" : named[n].dso,
			.kind = named[n].kind,
		};
	return stack_prefix_add(&stack->last, frame, lasting, (uint32_t)stack->count);
}

int named_stack_make(struct named_stack *stack, struct naming *naming,
		     const struct stack_sample *sample)
{
	const size_t common = stack_prefix_keep(&stack->last, sample);
	int r = 0;

	stack->count = common ? stack->last.frames[common - 1].value : 0;
	for (size_t i = sample->count - common; i-- > 0 && !r;)
		r = add_frame(stack, naming, sample, &sample->frames[i]);
	return r;
}

void named_stack_fini(struct named_stack *stack)
{
	stack_prefix_fini(&stack->last);
	free(stack->frames);
	*stack = (struct named_stack){0};
}
