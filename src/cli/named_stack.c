/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/named_stack.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"

int named_stack_make(struct named_stack *stack, struct naming *naming,
		     const struct stack_sample *sample)
{
	const struct naming_moment moment = moment_of(sample);
	struct named_frame named[NAMING_MAX_INLINES];

	stack->count = 0;
	for (size_t i = sample->count; i-- > 0;) {
		bool mark = sample->frames[i].source == BOBBIN_SOURCE_LEFT_OUT;
		size_t n = naming_frame(naming, sample->process->space, &moment, &sample->frames[i],
					named);

		if (vector_reserve(&stack->frames, &stack->room, stack->count + n,
				   sizeof(*stack->frames)))
			return -ENOMEM;
		while (n--)
			stack->frames[stack->count++] = (struct call_frame){
				.name = mark ? "[frames left out]" : named[n].symbol.name,
				.dso = mark ? "" : named[n].dso,
				.kind = named[n].kind,
			};
	}
	return 0;
}

void named_stack_fini(struct named_stack *stack)
{
	free(stack->frames);
	*stack = (struct named_stack){0};
}
