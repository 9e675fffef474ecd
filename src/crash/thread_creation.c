/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pthread_create(3) and thrd_create(3) of libbobbin-crash.so: each thread begins with an alternate
 * signal stack.
 *
 * On that stack a handler runs when the thread's own has overflowed.  The thread's function is called
 * by a jump, so stacks are as without this.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <threads.h>

#include "core/deps.h"
#include "crash/alternate_stack.h"

typedef int (*create_function)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int (*c_create_function)(thrd_t *, thrd_start_t, void *);

/* The function that would have been called. */
static void *next_function(_Atomic(void *) *known, const char *name)
{
	void *function = atomic_load(known);

	if (!function) {
		function = dlsym(RTLD_NEXT, name);
		atomic_store(known, function);
	}
	return function;
}

static struct thread_begin begin_on(void *stack)
{
	const struct thread_begin begin = *alternate_stack_begin(stack);

	if (alternate_stack_use(stack))
		alternate_stack_unmap(stack);
	return begin;
}

static void *begin_thread(void *stack)
{
	const struct thread_begin begin = begin_on(stack);

	return begin.start(begin.argument);
}

static int begin_c_thread(void *stack)
{
	const struct thread_begin begin = begin_on(stack);

	return ((thrd_start_t)(uintptr_t)begin.start)(begin.argument);
}

BOBBIN_API int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			      void *(*start)(void *), void *argument)
{
	static _Atomic(void *) known;
	const create_function next = (create_function)(uintptr_t)next_function(&known,
									       "pthread_create");
	void *stack;
	int r;

	if (!next)
		return EAGAIN;
	stack = alternate_stack_is_wanted() ? alternate_stack_map() : NULL;
	if (!stack)
		return next(thread, attributes, start, argument);
	*alternate_stack_begin(stack) = (struct thread_begin){start, argument};
	r = next(thread, attributes, begin_thread, stack);
	if (r)
		alternate_stack_unmap(stack);
	return r;
}

BOBBIN_API int thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
	static _Atomic(void *) known;
	const c_create_function next = (c_create_function)(uintptr_t)next_function(&known,
										   "thrd_create");
	void *stack;
	int r;

	if (!next)
		return thrd_error;
	stack = alternate_stack_is_wanted() ? alternate_stack_map() : NULL;
	if (!stack)
		return next(thread, start, argument);
	*alternate_stack_begin(stack) = (struct thread_begin){(void *(*)(void *))(uintptr_t)start,
							      argument};
	r = next(thread, begin_c_thread, stack);
	if (r != thrd_success)
		alternate_stack_unmap(stack);
	return r;
}
