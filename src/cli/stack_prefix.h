/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stack_prefix.h - the frames that a sample's stack shares with the one before, from the outermost on.
 *
 *	before   _start main parse lex		kept: _start main parse
 *	now      _start main parse emit		to be looked up: emit
 *
 * Mostly that is more than half of them, and looking a frame up takes longer than comparing it.
 */
#ifndef BOBBIN_CLI_STACK_PREFIX_H
#define BOBBIN_CLI_STACK_PREFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/process_table.h"
#include "profile/stack_sample.h"

/**
 * struct prefix_frame - a frame of the sample before
 * @pc, @kernel, @exact, @left_out: of it
 * @lasting: this code can be nothing else the next time
 * @value: what was found out about it
 */
struct prefix_frame {
	uint64_t pc;
	uint32_t value;
	bool kernel, exact, left_out, lasting;
};

/* The sample before, outermost frame first; starts as all zero. */
struct stack_prefix {
	struct prefix_frame *frames;
	size_t count, room;
	uint64_t program, generation; /* of its process, see process_table.h */
};

void stack_prefix_fini(struct stack_prefix *prefix);

/* Forget what @sample does not begin with.  How many frames are left. */
size_t stack_prefix_keep(struct stack_prefix *prefix, const struct stack_sample *sample);

/* Add the next one.  0 or -ENOMEM. */
int stack_prefix_add(struct stack_prefix *prefix, const struct bobbin_frame *frame, bool lasting,
		     uint32_t value);

#endif
