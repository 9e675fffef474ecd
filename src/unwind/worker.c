/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/worker.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

#include "unwind/raw_syscall.h"

/* After a wake-up with nothing to do, ignore further ones for this long. */
#define PAUSE_NS 10000000

enum worker_state {
	ABSENT,
	CALLED,
	IDLE,
	ENDING,
};

static void wake(struct worker *w)
{
	raw_syscall(SYS_futex, (long)&w->state, FUTEX_WAKE_PRIVATE, INT_MAX, 0);
}

bool worker_idle(const struct worker *worker)
{
	return atomic_load_explicit(&worker->state, memory_order_relaxed) == IDLE;
}

void worker_call(struct worker *worker)
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

int worker_start(struct worker *worker, bool (*work)(void))
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

void worker_stop(struct worker *worker)
{
	if (!worker->running)
		return;
	atomic_store(&worker->state, ENDING);
	wake(worker);
	pthread_join(worker->thread, NULL);
	worker_forked(worker);
}

void worker_forked(struct worker *worker)
{
	worker->running = false;
	atomic_store(&worker->state, ABSENT);
}
