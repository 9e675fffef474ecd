/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "crash/alternate_stack.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

/* What the report uses, several times: a crash within it has a frame of its own. */
#define ROOM 65536

static atomic_bool wanted;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* its destructor runs at a thread's end */
static int key_error;

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Of the stack alone, whole pages. */
static size_t stack_size(void)
{
	const size_t page = page_size(), size = ROOM + getauxval(AT_MINSIGSTKSZ);

	return (size + page - 1) / page * page;
}

void *alternate_stack_map(void)
{
	const size_t size = stack_size(), page = page_size();
	char *guard = mmap(NULL, page + size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);

	if (guard == MAP_FAILED)
		return NULL;
	if (mprotect(guard, page, PROT_NONE)) {
		munmap(guard, page + size);
		return NULL;
	}
	return guard + page;
}

void alternate_stack_unmap(void *stack)
{
	const size_t page = page_size();

	munmap((char *)stack - page, page + stack_size());
}

void *alternate_stack_top(void *stack)
{
	return (char *)stack + stack_size();
}

struct thread_begin *alternate_stack_begin(void *stack)
{
	return (struct thread_begin *)alternate_stack_top(stack) - 1;
}

/* The thread may have set another one meanwhile. */
static void thread_ends(void *stack)
{
	const stack_t none = {.ss_flags = SS_DISABLE};
	stack_t now;

	if (!sigaltstack(NULL, &now) && now.ss_sp == stack && !(now.ss_flags & SS_DISABLE) &&
	    sigaltstack(&none, NULL))
		return;
	alternate_stack_unmap(stack);
}

static void make_key(void)
{
	key_error = pthread_key_create(&key, thread_ends);
}

/* The one that the thread has been given, which it may have left, or NULL. */
static void *given_stack(void)
{
	pthread_once(&once, make_key);
	return key_error ? NULL : pthread_getspecific(key);
}

int alternate_stack_set(void *stack)
{
	const stack_t use = {.ss_sp = stack, .ss_size = stack_size()};

	return sigaltstack(&use, NULL) ? -errno : 0;
}

int alternate_stack_use(void *stack)
{
	void *given = given_stack();
	int r;

	if (key_error || pthread_setspecific(key, stack))
		return -ENOMEM;
	r = alternate_stack_set(stack);
	if (r)
		pthread_setspecific(key, given);
	return r;
}

int alternate_stack_give(void)
{
	void *given = given_stack(), *stack;
	stack_t now;
	int r;

	atomic_store(&wanted, true);
	if (!sigaltstack(NULL, &now) && !(now.ss_flags & SS_DISABLE) && now.ss_size >= stack_size())
		return 0;
	stack = given ? given : alternate_stack_map();
	if (!stack)
		return -ENOMEM;
	r = alternate_stack_use(stack);
	if (r && !given)
		alternate_stack_unmap(stack);
	return r;
}

bool alternate_stack_is_wanted(void)
{
	return atomic_load(&wanted);
}
