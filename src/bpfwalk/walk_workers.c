/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/walk_workers.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define WORKERS_MAX 8
/* What interrupts jobs: a signal that is ignored where nobody asks for it. */
#define INTERRUPT SIGURG
/* How often: what is interrupted may be tried again. */
#define INTERRUPT_NS 1000000

/**
 * struct walk_workers - jobs in the order in which they were asked for
 * @lock: for what follows
 * @changed: there is one more job, or one more is done
 * @first, @end: all that were not taken; where the next one goes
 * @has_large: a large one is run
 * @stop: no more are begun
 */
struct walk_workers {
	pthread_t threads[WORKERS_MAX];
	unsigned int thread_count;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct walk_job *first, **end;
	bool has_large, stop;
};

/* The first that can be begun, or NULL. */
static struct walk_job *find_next(const struct walk_workers *w)
{
	struct walk_job *job = w->first;

	while (job && (job->begun || (job->large && w->has_large)))
		job = job->next;
	return job;
}

/* NULL: the end. */
static struct walk_job *begin_next(struct walk_workers *w)
{
	struct walk_job *job = NULL;

	while (!w->stop && !(job = find_next(w)))
		pthread_cond_wait(&w->changed, &w->lock);
	if (w->stop)
		return NULL;
	job->begun = true;
	w->has_large |= job->large;
	return job;
}

static void on_interrupt(int signal)
{
}

static void run(struct walk_job *job)
{
	sigset_t interrupt;

	sigemptyset(&interrupt);
	sigaddset(&interrupt, INTERRUPT);
	if (job->interruptible)
		pthread_sigmask(SIG_UNBLOCK, &interrupt, NULL);
	job->run(job);
	pthread_sigmask(SIG_BLOCK, &interrupt, NULL);
}

static void *work(void *ctx)
{
	struct walk_workers *w = ctx;
	struct walk_job *job;

	pthread_mutex_lock(&w->lock);
	while ((job = begin_next(w))) {
		pthread_mutex_unlock(&w->lock);
		run(job);
		pthread_mutex_lock(&w->lock);
		job->done = true;
		if (job->large)
			w->has_large = false;
		pthread_cond_broadcast(&w->changed);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* As many as can run; one is enough.  Signals are the recorder's. */
static int start(struct walk_workers *w)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const struct sigaction interrupt = {.sa_handler = on_interrupt};
	sigset_t all, before;
	int r = 0;

	sigaction(INTERRUPT, &interrupt, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	do {
		r = pthread_create(&w->threads[w->thread_count], NULL, work, w);
		w->thread_count += !r;
	} while (!r && w->thread_count < WORKERS_MAX && w->thread_count < cpus);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return w->thread_count ? 0 : -r;
}

int walk_workers_open(struct walk_workers **ret)
{
	struct walk_workers *w = calloc(1, sizeof(*w));
	pthread_condattr_t attr;
	int r;

	if (!w)
		return -ENOMEM;
	w->end = &w->first;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->changed, &attr);
	pthread_condattr_destroy(&attr);
	r = start(w);
	if (r)
		free(w);
	else
		*ret = w;
	return r;
}

static void join(pthread_t thread)
{
	struct timespec until;

	do {
		pthread_kill(thread, INTERRUPT);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += INTERRUPT_NS;
		until.tv_sec += until.tv_nsec / (long)NS_PER_SECOND;
		until.tv_nsec %= (long)NS_PER_SECOND;
	} while (pthread_timedjoin_np(thread, NULL, &until) == ETIMEDOUT);
}

void walk_workers_close(struct walk_workers *workers)
{
	if (!workers)
		return;
	pthread_mutex_lock(&workers->lock);
	workers->stop = true;
	pthread_cond_broadcast(&workers->changed);
	pthread_mutex_unlock(&workers->lock);
	for (unsigned int i = 0; i < workers->thread_count; i++)
		join(workers->threads[i]);
	while (workers->first) {
		struct walk_job *job = workers->first;

		workers->first = job->next;
		job->drop(job);
	}
	pthread_cond_destroy(&workers->changed);
	pthread_mutex_destroy(&workers->lock);
	free(workers);
}

void walk_workers_ask(struct walk_workers *workers, struct walk_job *job)
{
	job->begun = job->done = false;
	job->next = NULL;
	pthread_mutex_lock(&workers->lock);
	*workers->end = job;
	workers->end = &job->next;
	pthread_cond_signal(&workers->changed);
	pthread_mutex_unlock(&workers->lock);
}

struct walk_job *walk_workers_take(struct walk_workers *workers, bool wait)
{
	struct walk_job *job = workers->first;

	if (!job)
		return NULL;
	pthread_mutex_lock(&workers->lock);
	while (wait && !job->done)
		pthread_cond_wait(&workers->changed, &workers->lock);
	if (!job->done)
		job = NULL;
	else if (!(workers->first = job->next))
		workers->end = &workers->first;
	pthread_mutex_unlock(&workers->lock);
	return job;
}

bool walk_workers_have_done(struct walk_workers *workers, uint64_t until)
{
	const struct timespec at = {.tv_sec = (time_t)(until / NS_PER_SECOND),
				    .tv_nsec = (long)(until % NS_PER_SECOND)};
	const struct walk_job *job = workers->first;
	bool done;

	if (!job)
		return false;
	pthread_mutex_lock(&workers->lock);
	while (!job->done && clock_now() < until)
		pthread_cond_timedwait(&workers->changed, &workers->lock, &at);
	done = job->done;
	pthread_mutex_unlock(&workers->lock);
	return done;
}

/* The threads do not change it. */
bool walk_workers_are_busy(const struct walk_workers *workers)
{
	return workers->first;
}
