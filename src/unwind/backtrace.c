/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The calls of <bobbin/backtrace.h>, and the state that they share: which objects
 * this module has put into the process's code map.
 */
#include <bobbin/backtrace.h>
#include <errno.h>
#include <pthread.h>

#include "codemap/own_map.h"
#include "unwind/fiber_start.h"
#include "unwind/follower.h"
#include "unwind/here_regs.h"
#include "unwind/loaded_objects.h"
#include "unwind/own_walk.h"

static struct {
	pthread_mutex_t lock; /* taken before the registrar's and the loader's */
	struct loaded_objects objects;
	struct follower follower;
	bool knows_forks;
	_Atomic uint64_t fiber_start, fiber_end; /* as in struct own_code; the end is set last */
} own = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void before_fork(void)
{
	pthread_mutex_lock(&own.lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&own.lock);
}

static void after_fork_in_child(void)
{
	follower_forked(&own.follower);
	pthread_mutex_unlock(&own.lock);
}

/* Handlers run in the reverse order before a fork: ours is later than the map's. */
static int learn_of_forks(void)
{
	if (!own.knows_forks && pthread_atfork(before_fork, after_fork, after_fork_in_child))
		return -ENOMEM;
	own.knows_forks = true;
	return 0;
}

/* The function that fibers return to, from start to end as its table says. */
static void learn_of_fibers(struct registrar *registrar)
{
	uint64_t start = fiber_start(), bias;
	const struct loaded_object *object;
	const struct code *code;
	struct bobbin_error error;
	enum bobbin_source source;
	struct bobbin_row row = {0};

	if (!start || own.fiber_end)
		return;
	registrar_lock(registrar);
	code = code_map_find(registrar_map(registrar), start, NULL);
	object = code && code->kind == CODE_OBJECT ? code->object : NULL;
	if (object && object->module && object->image.stays) {
		bias = object->image.bias;
		module_ask(object->module, false, start - bias, &error, &row, &source);
		if (row.function == start - bias) {
			own.fiber_start = start;
			own.fiber_end = row.end + bias;
		}
	}
	registrar_unlock(registrar);
}

/* With the lock held.  1: something has changed; 0; -ENOMEM. */
static int sync_objects(void)
{
	struct registrar *registrar;
	int r = own_map_open(&registrar);

	if (!r)
		r = learn_of_forks();
	if (!r)
		r = loaded_objects_sync(&own.objects, registrar);
	if (r >= 0)
		learn_of_fibers(registrar);
	return r;
}

static bool sync_for_walks(void)
{
	int r;

	pthread_mutex_lock(&own.lock);
	r = sync_objects();
	pthread_mutex_unlock(&own.lock);
	return r > 0;
}

BOBBIN_API int bobbin_backtrace_prepare(void)
{
	int r;

	pthread_mutex_lock(&own.lock);
	r = sync_objects();
	pthread_mutex_unlock(&own.lock);
	return r < 0 ? r : 0;
}

BOBBIN_API int bobbin_backtrace_follow(void)
{
	int r;

	pthread_mutex_lock(&own.lock);
	r = sync_objects();
	if (r >= 0)
		r = follower_start(&own.follower, sync_for_walks);
	pthread_mutex_unlock(&own.lock);
	return r;
}

BOBBIN_API void bobbin_backtrace_unfollow(void)
{
	/* it may wait for the lock */
	follower_stop(&own.follower);
}

static struct own_code own_code(void)
{
	struct own_code code = {.registrar = own_map(), .fiber_end = own.fiber_end};

	code.fiber_start = code.fiber_end ? own.fiber_start : 0;
	return code;
}

/* The call chain of a caller; at least its return address is known.  As own_walk(). */
static bool walk_here(const struct bobbin_regs *here, void *ra, struct bobbin_trace *trace)
{
	const struct own_code code = own_code();
	bool stale = own_walk(&code, here, 1, trace);

	if (!trace->count && trace->max)
		trace->frames[trace->count++] = (struct bobbin_frame){.pc = (uint64_t)ra};
	return stale;
}

BOBBIN_API void bobbin_backtrace(const struct bobbin_regs *regs, struct bobbin_trace *trace)
{
	const struct own_code code = own_code();
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs here;
	bool stale;

	here_regs(gpr, &here);
	if (regs)
		stale = own_walk(&code, regs, 0, trace);
	else
		stale = walk_here(&here, __builtin_return_address(0), trace);
	if (stale && follower_idle(&own.follower))
		follower_call(&own.follower);
}

BOBBIN_API void bobbin_backtrace_here(struct bobbin_trace *trace)
{
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs here;
	int r;

	here_regs(gpr, &here);
	if (!walk_here(&here, __builtin_return_address(0), trace) ||
	    pthread_mutex_trylock(&own.lock))
		return;
	r = sync_objects();
	pthread_mutex_unlock(&own.lock);
	if (r >= 0)
		walk_here(&here, __builtin_return_address(0), trace);
}
