/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * alternate_stack.h - stacks for signal handlers of threads whose own stack may have overflowed.
 */
#ifndef BOBBIN_CRASH_ALTERNATE_STACK_H
#define BOBBIN_CRASH_ALTERNATE_STACK_H

#include <stdbool.h>
#include <stddef.h>

/* What a thread brings to the one that it creates, at the top of its alternate stack. */
struct thread_begin {
	void *(*start)(void *);
	void *argument;
};

/* Whether a thread has been given one: a handler is there, or will be. */
bool alternate_stack_is_wanted(void);

/* Memory for one; NULL: there is none.  alternate_stack_unmap() gives it back, or the thread's end. */
void *alternate_stack_map(void);
void alternate_stack_unmap(void *stack);

/* Its upper end. */
void *alternate_stack_top(void *stack);

/* Where a new thread finds how it begins. */
struct thread_begin *alternate_stack_begin(void *stack);

/* Handlers of the calling thread run on it; the caller keeps it.  -EPERM: it is on another one. */
int alternate_stack_set(void *stack);

/* The calling thread's from now on, until it ends.  -EPERM. */
int alternate_stack_use(void *stack);

/* Give the calling thread one, unless it has a large one.  -ENOMEM, -EPERM. */
int alternate_stack_give(void);

#endif
