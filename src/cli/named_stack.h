/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * named_stack.h - a sample's stack as the writers of src/export take it.
 */
#ifndef BOBBIN_CLI_NAMED_STACK_H
#define BOBBIN_CLI_NAMED_STACK_H

#include "cli/stack_prefix.h"
#include "export/call_tree.h"
#include "profile/process_table.h"
#include "profile/stack_sample.h"
#include "symbol/naming.h"

/* The frames of one sample after another, outermost first; starts as all zero. */
struct named_stack {
	struct call_frame *frames;
	size_t count, room;
	struct stack_prefix last; /* by the number of @frames up to and with each */
};

/* Name a sample; valid until the next call.  0, -ENOMEM. */
int named_stack_make(struct named_stack *stack, struct naming *naming,
		     const struct stack_sample *sample);
void named_stack_fini(struct named_stack *stack);

/* When and in whose memory the code of a sample ran. */
static inline struct naming_moment moment_of(const struct stack_sample *sample)
{
	return (struct naming_moment){sample->pid, sample->code_time, &sample->process->lineage};
}

#endif
