/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stack_view.h - a sample's stack as a picture shows it: below its process and its thread, and with
 * what the thread did with the time.
 *
 *	main parse lex ──► [process 4711] [thread 4713] main parse lex [on CPU]
 */
#ifndef BOBBIN_CLI_STACK_VIEW_H
#define BOBBIN_CLI_STACK_VIEW_H

#include <stdbool.h>

#include "cli/named_stack.h"
#include "cli/wall_clock.h"

#define STACK_VIEW_NAME 32

/**
 * struct stack_view - which frames are added, and the last stack with them
 * @by_process, @by_thread: one for each process, and each thread
 * @sides_first: what a thread did with the time begins the stack, instead of ending it
 */
struct stack_view {
	bool by_process, by_thread, sides_first;
	char process[STACK_VIEW_NAME], thread[STACK_VIEW_NAME];
	struct call_frame *frames;
	size_t count, room;
};

/*
 * The frames of a sample, outermost first, in *@ret; valid until the next call, as long as those of
 * @stack are.  @side: WALL_NONE for none.  Their number, or -ENOMEM.
 */
ssize_t stack_view_make(struct stack_view *view, const struct stack_sample *sample,
			const struct named_stack *stack, enum wall_side side,
			const struct call_frame **ret);
void stack_view_fini(struct stack_view *view);

#endif
