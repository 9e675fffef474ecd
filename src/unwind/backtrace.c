/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The calls of <bobbin/backtrace.h>, and the state that they share: which objects
 * this module has put into the process's code map.
 */
#include <bobbin/backtrace.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/native_arch.h"
#include "codemap/own_registry.h"
#include "unwind/assembly.h"
#include "unwind/fiber_start.h"
#include "unwind/loaded_object.h"
#include "unwind/own_walk.h"
#include "unwind/walk_slot.h"

/* After a wake-up with nothing to do, ignore further ones for this long. */
#define PAUSE_NS 10000000

enum worker_state {
	ABSENT,
	CALLED,
	IDLE,
	ENDING,
};

/* A thread that signal handlers, too, can wake to do some work.  Zero: there is no thread. */
struct worker {
	_Atomic unsigned int state; /* enum worker_state */
	bool (*work)(void);         /* false: there was nothing to do */
	pthread_t thread;
	bool running;
};

static void wake(struct worker *w)
{
	raw_syscall(SYS_futex, (long)&w->state, FUTEX_WAKE_PRIVATE, INT_MAX, 0);
}

/* Whether a call would wake a thread: there is one, and it is idle. */
static bool worker_idle(const struct worker *worker)
{
	return atomic_load_explicit(&worker->state, memory_order_relaxed) == IDLE;
}

/* Wake the thread.  Async-signal-safe; a system call if it is idle, else nothing. */
static void worker_call(struct worker *worker)
{
	unsigned int idle = IDLE;

	if (atomic_compare_exchange_strong(&worker->state, &idle, CALLED))
		wake(worker);
}

/* false: the thread must end. */
static bool wait_for_call(struct worker *w)
{
	unsigned int state = CALLED;

	atomic_compare_exchange_strong(&w->state, &state, IDLE);
	while ((state = atomic_load(&w->state)) == IDLE)
		raw_syscall(SYS_futex, (long)&w->state, FUTEX_WAIT_PRIVATE, IDLE, 0);
	return state == CALLED;
}

static void *run(void *arg)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	struct worker *w = arg;

	while (wait_for_call(w))
		if (!w->work())
			nanosleep(&pause, NULL);
	return NULL;
}

/* 0, also if it runs already; the errno of creating a thread. */
static int worker_start(struct worker *worker, bool (*work)(void))
{
	sigset_t all, before;
	int r;

	if (worker->running)
		return 0;
	worker->work = work;
	atomic_store(&worker->state, CALLED);
	/* signals are for the program's own threads */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&worker->thread, NULL, run, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	worker->running = !r;
	if (r)
		atomic_store(&worker->state, ABSENT);
	return -r;
}

/* In a forked child, where the thread does not exist. */
static void worker_forked(struct worker *worker)
{
	worker->running = false;
	atomic_store(&worker->state, ABSENT);
}

/* Wait for its end. */
static void worker_stop(struct worker *worker)
{
	if (!worker->running)
		return;
	atomic_store(&worker->state, ENDING);
	wake(worker);
	pthread_join(worker->thread, NULL);
	worker_forked(worker);
}

static struct {
	pthread_mutex_t following; /* the worker's beginning and end; taken before all others */
	pthread_mutex_t lock;      /* taken before the registry's and the loader's */
	struct loaded_objects objects;
	struct worker worker;
	bool knows_forks;
	struct walk_slots *_Atomic slots; /* NULL: there is no memory for them */
	_Atomic uint64_t fiber_negated,
		fiber_size; /* as in struct own_code; the size is set last */
} own = {.following = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};

static void before_fork(void)
{
	pthread_mutex_lock(&own.following);
	pthread_mutex_lock(&own.lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&own.lock);
	pthread_mutex_unlock(&own.following);
}

/* Also where no handlers run, and another thread had the locks. */
static void forget_parent(void)
{
	struct walk_slots *slots = atomic_load(&own.slots);

	worker_forked(&own.worker);
	if (slots)
		walk_slots_forked(slots);
	pthread_mutex_init(&own.lock, NULL);
	pthread_mutex_init(&own.following, NULL);
}

/* Handlers run in the reverse order before a fork: ours is later than the map's. */
static int learn_of_forks(void)
{
	if (own.knows_forks)
		return 0;
	/* first, for a fork in between */
	own_registry_tell_children(forget_parent);
	if (pthread_atfork(before_fork, after_fork, NULL))
		return -ENOMEM;
	own.knows_forks = true;
	return 0;
}

/* The function that fibers return to, from start to end as its table says. */
static void learn_of_fibers(struct registry *registry)
{
	const uint64_t after = after_fiber_start();
	uint64_t bias, offset;
	const struct loaded_object *object;
	const struct code *code;
	struct table_answer answer;

	if (!after || own.fiber_size)
		return;
	registry_lock(registry);
	code = code_map_find(registry_map(registry), after, NULL);
	object = code ? loaded_object_of(code) : NULL;
	if (object && object->module && object->image.stays) {
		bias = object->image.bias;
		offset = after - bias - 1;
		table_set_row(&object->module->tables, offset, &answer);
		if (answer.row.function == offset) {
			own.fiber_negated = 1 - after;
			own.fiber_size = answer.row.end - offset;
		}
	}
	registry_unlock(registry);
}

/* Without memory for them walks are only slower. */
static void open_slots(void)
{
	struct walk_slots *slots = calloc(1, sizeof(*slots));

	if (slots)
		plain_forms_of(native_arch(), &slots->forms);
	own.slots = slots;
}

/* With the lock held.  1: something has changed; 0; -ENOMEM. */
static int sync_objects(struct registry *registry)
{
	int r = learn_of_forks();

	if (!r)
		r = loaded_objects_sync(&own.objects, registry);
	if (r >= 0) {
		learn_of_fibers(registry);
		if (!own.slots)
			open_slots();
	}
	return r;
}

/* The map is opened first: that is where a child finds out that it is one. */
static int sync_with_lock(void)
{
	struct registry *registry;
	int r = own_registry_open(&registry);

	if (r)
		return r;
	pthread_mutex_lock(&own.lock);
	r = sync_objects(registry);
	pthread_mutex_unlock(&own.lock);
	return r;
}

static bool sync_for_walks(void)
{
	return sync_with_lock() > 0;
}

/* false: somebody is changing the map, or there is no memory. */
static bool try_to_sync(void)
{
	struct registry *registry;
	int r;

	if (!own_registry_is_free() || own_registry_open(&registry) ||
	    pthread_mutex_trylock(&own.lock))
		return false;
	r = sync_objects(registry);
	pthread_mutex_unlock(&own.lock);
	return r >= 0;
}

BOBBIN_API int bobbin_backtrace_prepare(void)
{
	int r = sync_with_lock();

	return r < 0 ? r : 0;
}

BOBBIN_API int bobbin_backtrace_follow(void)
{
	int r = sync_with_lock();

	if (r < 0)
		return r;
	pthread_mutex_lock(&own.following);
	r = worker_start(&own.worker, sync_for_walks);
	pthread_mutex_unlock(&own.following);
	return r;
}

BOBBIN_API void bobbin_backtrace_unfollow(void)
{
	struct registry *registry;

	/* without a map there was nothing to follow */
	if (!own_registry() || own_registry_open(&registry))
		return;
	pthread_mutex_lock(&own.following);
	/* it may wait for the other lock */
	worker_stop(&own.worker);
	pthread_mutex_unlock(&own.following);
}

struct own_code read_own_code(void)
{
	struct own_code code = {
		.registry = own_registry(), .fiber_size = own.fiber_size, .slots = own.slots};

	code.fiber_negated = code.fiber_size ? own.fiber_negated : 0;
	return code;
}

/* The call chain of a caller; at least its return address is known.  As walk_own_stack(). */
static BOBBIN_ALWAYS_INLINE bool walk_here(const struct own_code *code,
					   const struct bobbin_regs *here, void *ra,
					   struct bobbin_trace *trace)
{
	const struct bobbin_regs caller = here_caller();
	bool stale = walk_own_stack(code, here, &caller, trace);

	if (!trace->count && trace->max)
		trace->frames[trace->count++] = (struct bobbin_frame){.pc = (uint64_t)ra};
	return stale;
}

BOBBIN_API void bobbin_backtrace(const struct bobbin_regs *regs, struct bobbin_trace *trace)
{
	const struct own_code code = read_own_code();
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs here;
	bool stale;

	if (regs) {
		stale = walk_own_stack(&code, regs, NULL, trace);
	} else {
		here_regs(gpr, &here);
		stale = walk_here(&code, &here, __builtin_return_address(0), trace);
	}
	if (stale && worker_idle(&own.worker))
		worker_call(&own.worker);
}

BOBBIN_API void bobbin_backtrace_here(struct bobbin_trace *trace)
{
	struct own_code code = read_own_code();
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs here;

	here_regs(gpr, &here);
	if (!walk_here(&code, &here, __builtin_return_address(0), trace) || !try_to_sync())
		return;
	code = read_own_code();
	walk_here(&code, &here, __builtin_return_address(0), trace);
}
