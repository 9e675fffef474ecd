/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/follower.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

#include "unwind/raw_syscall.h"

/* Who calls in vain is not heard again at once. */
#define PAUSE_NS 10000000

enum follower_state {
	ABSENT,
	CALLED,
	IDLE,
	ENDING,
};

static void wake(struct follower *f)
{
	raw_syscall(SYS_futex, (long)&f->state, FUTEX_WAKE_PRIVATE, INT_MAX, 0);
}

bool follower_idle(const struct follower *follower)
{
	return atomic_load_explicit(&follower->state, memory_order_relaxed) == IDLE;
}

void follower_call(struct follower *follower)
{
	unsigned int idle = IDLE;

	if (atomic_compare_exchange_strong(&follower->state, &idle, CALLED))
		wake(follower);
}

/* false: it is to end. */
static bool wait_for_call(struct follower *f)
{
	unsigned int state = CALLED;

	atomic_compare_exchange_strong(&f->state, &state, IDLE);
	while ((state = atomic_load(&f->state)) == IDLE)
		raw_syscall(SYS_futex, (long)&f->state, FUTEX_WAIT_PRIVATE, IDLE, 0);
	return state == CALLED;
}

static void *follow(void *arg)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	struct follower *f = arg;

	while (wait_for_call(f))
		if (!f->work())
			nanosleep(&pause, NULL);
	return NULL;
}

int follower_start(struct follower *follower, bool (*work)(void))
{
	sigset_t all, before;
	int r;

	if (follower->running)
		return 0;
	follower->work = work;
	atomic_store(&follower->state, CALLED);
	/* signals are for the program's own threads */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&follower->thread, NULL, follow, follower);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	follower->running = !r;
	if (r)
		atomic_store(&follower->state, ABSENT);
	return -r;
}

void follower_stop(struct follower *follower)
{
	if (!follower->running)
		return;
	atomic_store(&follower->state, ENDING);
	wake(follower);
	pthread_join(follower->thread, NULL);
	follower_forked(follower);
}

void follower_forked(struct follower *follower)
{
	follower->running = false;
	atomic_store(&follower->state, ABSENT);
}
