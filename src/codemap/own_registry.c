/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fork(2) is told of by pthread_atfork(3): the lock is held over it, so that the
 * child's map is whole.  A child made by clone(2) itself is recognised by a page that
 * the kernel wipes in children with memory of their own, and only in them: what
 * vfork(2) makes uses its parent's map, as it uses all else of it.
 */
#include "codemap/own_registry.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codemap/linux_calls.h"

enum liveness {
	FORKED,
	LIVE,
	ADOPTING
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of whoever makes it */
static struct registry *_Atomic own;
static atomic_int *liveness;
static atomic_int never_wiped;
static atomic_int owner; /* the process that the map was last made fit for */
static int setup_error;
static void (*_Atomic tell_child)(void);

static void before_fork(void)
{
	struct registry *registry;

	pthread_mutex_lock(&lock);
	registry = atomic_load(&own);
	if (registry)
		registry_lock(registry);
}

static void after_fork_in_parent(void)
{
	struct registry *registry = atomic_load(&own);

	if (registry)
		registry_unlock(registry);
	pthread_mutex_unlock(&lock);
}

static void become_child(void)
{
	struct registry *registry = atomic_load(&own);
	void (*tell)(void) = atomic_load(&tell_child);

	if (tell)
		tell();
	if (registry)
		registry_forked(registry);
	pthread_mutex_init(&lock, NULL);
	atomic_store(&owner, getpid());
	atomic_store(liveness, LIVE);
}

/* In a child, unless somebody was here before. */
static void adopt(void)
{
	int forked = FORKED;

	if (atomic_compare_exchange_strong(liveness, &forked, ADOPTING))
		become_child();
	while (atomic_load(liveness) != LIVE)
		sched_yield();
}

static void after_fork_in_child(void)
{
	/*
	 * A handler that ran before this one may have used the map.  Emulators say that
	 * they wipe the page, and do not.
	 */
	if (liveness == &never_wiped || atomic_load(&owner) != getpid())
		become_child();
	else
		adopt();
}

static void set_up(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	liveness = &never_wiped;
	if (page != MAP_FAILED && !madvise(page, size, MADV_WIPEONFORK))
		liveness = page;
	else if (page != MAP_FAILED)
		munmap(page, size);
	atomic_store(&owner, getpid());
	atomic_store(liveness, LIVE);
	setup_error = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static int make(struct registry **ret)
{
	struct registry *registry;
	int r = 0;

	pthread_mutex_lock(&lock);
	registry = atomic_load(&own);
	if (!registry)
		r = registry_open(linux_calls_native(), &registry);
	if (!r) {
		atomic_store(&own, registry);
		*ret = registry;
	}
	pthread_mutex_unlock(&lock);
	return r;
}

int own_registry_open(struct registry **ret)
{
	struct registry *registry;

	pthread_once(&once, set_up);
	if (setup_error)
		return -setup_error;
	if (atomic_load_explicit(liveness, memory_order_acquire) != LIVE)
		adopt();
	registry = atomic_load_explicit(&own, memory_order_acquire);
	if (!registry)
		return make(ret);
	*ret = registry;
	return 0;
}

bool own_registry_is_free(void)
{
	struct registry *registry = own_registry();

	if (registry && !own_registry_open(&registry))
		return registry_is_free(registry);
	if (registry || pthread_mutex_trylock(&lock))
		return false;
	pthread_mutex_unlock(&lock);
	return true;
}

void own_registry_tell_children(void (*forgotten)(void))
{
	atomic_store(&tell_child, forgotten);
}

struct registry *own_registry(void)
{
	return atomic_load_explicit(&own, memory_order_acquire);
}
