/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Orders: a reader counts itself in, then loads pointers; a writer stores pointers,
 * then sums the counters.  All four are sequentially consistent, so that a reader
 * that a sum has missed finds what was stored before the sum was made.  Those that
 * left are summed before those that entered: a reader that comes and goes in
 * between can make the sums differ, never agree.
 *
 * A reader may be interrupted between looking at the phase and counting itself, and
 * then counts under a phase that is over.  It has loaded no pointer yet, so the
 * running wait need not see it; the next one waits for that phase first.
 */
#include "codemap/reader_epochs.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/rseq.h>
#include <time.h>
#include <unistd.h>

#define SPINS 200
#define NAP_NS 50000

void reader_epochs_init(struct reader_epochs *r)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	memset(r, 0, sizeof(*r));
	r->count = cpus > 0 && cpus < READ_SLOTS ? (unsigned int)cpus : READ_SLOTS;
}

/* Any slot is right, one that no other CPU writes is fast. */
static struct read_slot *own_slot(struct reader_epochs *r)
{
	const char *self = __builtin_thread_pointer();
	unsigned int number;

	if (__rseq_size)
		number = ((const volatile struct rseq *)(self + __rseq_offset))->cpu_id_start;
	else
		number = (unsigned int)((uintptr_t)self >> 12);
	return &r->slots[number < r->count ? number : number % r->count];
}

unsigned int read_enter(struct reader_epochs *r)
{
	unsigned int phase = atomic_load_explicit(&r->phase, memory_order_relaxed) & 1;

	atomic_fetch_add(&own_slot(r)->entered[phase], 1);
	return phase;
}

void read_leave(struct reader_epochs *r, unsigned int token)
{
	atomic_fetch_add(&own_slot(r)->left[token], 1);
}

static bool phase_is_empty(struct reader_epochs *r, unsigned int phase)
{
	unsigned long left = 0, entered = 0;

	for (unsigned int i = 0; i < r->count; i++)
		left += atomic_load(&r->slots[i].left[phase]);
	for (unsigned int i = 0; i < r->count; i++)
		entered += atomic_load(&r->slots[i].entered[phase]);
	return left == entered;
}

bool read_grace_over(struct reader_epochs *r, struct read_grace *grace)
{
	unsigned int phase = atomic_load_explicit(&r->phase, memory_order_relaxed) & 1;

	if (!grace->flipped) {
		if (!phase_is_empty(r, !phase))
			return false;
		atomic_store(&r->phase, !phase);
		phase = !phase;
		grace->flipped = true;
	}
	return phase_is_empty(r, !phase);
}

void read_wait(struct reader_epochs *r)
{
	struct read_grace grace = {false};

	for (unsigned int i = 0; !read_grace_over(r, &grace); i++) {
		if (i < SPINS)
			sched_yield();
		else
			nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
	}
}

/* A handler that reads in the middle of this would be counted in and not out. */
void read_forget(struct reader_epochs *r)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (unsigned int i = 0; i < r->count; i++)
		for (unsigned int phase = 0; phase < 2; phase++) {
			atomic_store(&r->slots[i].entered[phase], 0);
			atomic_store(&r->slots[i].left[phase], 0);
		}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
