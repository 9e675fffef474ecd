/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/inference_queue.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "base/vector.h"

/*
 * A recording's first samples wait for the thread.  After this much of its CPU time the recorded
 * program has priority: the thread gets a quarter of a CPU that both want.
 */
#define HURRY_NS (4 * NS_PER_SECOND)
#define NICENESS 5

/* How often somebody who waits looks for a signal. */
#define LOOK_NS 20000000ull

/**
 * struct inference_queue - who waits for what
 * @lock: for what follows, but for what is the thread's
 * @changed: a request was added or is done, or the thread is to end
 * @requests, @count: in the order in which they were wanted
 * @left: of them, those that are not done
 * @late: nobody walks any more
 * @share: of a processor that the thread may take, above 0, in the long run; 1: all
 * @budget: the thread's, but for @stop
 * @missed: the asker's: walks that went on without
 * @waited_since, @waited: the asker's: time that was waited in the second that began then
 */
struct inference_queue {
	pthread_t thread;
	bool running;
	infer_work *work;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct infer_request **requests;
	size_t count, room, left;
	bool late;
	double share;
	struct infer_budget budget;
	uint64_t missed, waited_since, waited;
};

static struct infer_request *most_wanted(const struct inference_queue *q)
{
	struct infer_request *most = NULL;
	uint64_t most_hits = 0;

	for (size_t i = 0; i < q->count; i++) {
		uint64_t hits = atomic_load_explicit(&q->requests[i]->hits, memory_order_relaxed);

		if (q->requests[i]->begun || (most && hits <= most_hits))
			continue;
		most = q->requests[i];
		most_hits = hits;
	}
	return most;
}

/* The next request; NULL: the end. */
static struct infer_request *next_request(struct inference_queue *q)
{
	struct infer_request *request;

	while (!(request = most_wanted(q)) && !atomic_load(&q->budget.stop))
		pthread_cond_wait(&q->changed, &q->lock);
	if (!request || atomic_load(&q->budget.stop))
		return NULL;
	if (q->late && q->budget.bytes > INFERENCE_QUEUE_BYTES_LATE)
		q->budget.bytes = INFERENCE_QUEUE_BYTES_LATE;
	request->begun = true;
	return request;
}

/* Until something changes, or a time has come. */
static void wait_until(struct inference_queue *q, uint64_t then)
{
	const struct timespec at = {.tv_sec = (time_t)(then / NS_PER_SECOND),
				    .tv_nsec = (long)(then % NS_PER_SECOND)};

	pthread_cond_timedwait(&q->changed, &q->lock, &at);
}

/* After so much CPU time: none is used until it was no more than the thread's share. */
static void rest(struct inference_queue *q, uint64_t used)
{
	const uint64_t until = clock_now() + (uint64_t)((double)used * (1 / q->share - 1));

	while (!q->late && !atomic_load(&q->budget.stop) && clock_now() < until)
		wait_until(q, until);
}

static void *run(void *ctx)
{
	struct inference_queue *q = ctx;
	struct infer_request *request;
	uint64_t used = 0, before;
	bool hurries = true;

	pthread_mutex_lock(&q->lock);
	while ((request = next_request(q))) {
		pthread_mutex_unlock(&q->lock);
		before = used;
		q->work(request, &q->budget);
		used = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		if (hurries && used >= HURRY_NS) {
			hurries = false;
			/* on Linux this is one of the thread, not of the process */
			setpriority(PRIO_PROCESS, 0, NICENESS);
		}
		pthread_mutex_lock(&q->lock);
		atomic_store_explicit(&request->done, true, memory_order_release);
		q->left--;
		pthread_cond_broadcast(&q->changed);
		rest(q, used - before);
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

int inference_queue_open(const char *cache_path, infer_work *work, struct inference_queue **ret)
{
	struct inference_queue *q = calloc(1, sizeof(*q));
	pthread_condattr_t attr;

	if (!q)
		return -ENOMEM;
	q->work = work;
	q->share = 1;
	q->budget.bytes = INFERENCE_QUEUE_BYTES;
	/* without it everything is done each time */
	if (cache_path && *cache_path)
		table_cache_open(cache_path, 0, NULL, &q->budget.cache);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->changed, &attr);
	pthread_condattr_destroy(&attr);
	*ret = q;
	return 0;
}

void inference_queue_close(struct inference_queue *queue)
{
	if (!queue)
		return;
	pthread_mutex_lock(&queue->lock);
	atomic_store(&queue->budget.stop, true);
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
	if (queue->running)
		pthread_join(queue->thread, NULL);
	pthread_cond_destroy(&queue->changed);
	pthread_mutex_destroy(&queue->lock);
	table_cache_close(queue->budget.cache);
	free(queue->requests);
	free(queue);
}

void inference_queue_share(struct inference_queue *queue, double share)
{
	queue->share = share;
}

/* Signals are the asker's. */
static int start(struct inference_queue *q)
{
	sigset_t all, before;
	int r;

	if (q->running)
		return 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&q->thread, NULL, run, q);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	q->running = !r;
	return -r;
}

int inference_queue_ask(struct inference_queue *queue, struct infer_request *request)
{
	int r = start(queue);

	if (r)
		return r;
	pthread_mutex_lock(&queue->lock);
	r = vector_push(queue->requests, queue->count, queue->room, request);
	queue->left += !r;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
	return r;
}

static bool is_done(const struct infer_request *request)
{
	return atomic_load_explicit(&request->done, memory_order_acquire);
}

static bool await(struct inference_queue *queue, struct infer_request *request)
{
	uint64_t began, end;

	if (is_done(request))
		return true;
	if (atomic_fetch_add_explicit(&request->hits, 1, memory_order_relaxed))
		return false;
	began = clock_now();
	if (began - queue->waited_since > NS_PER_SECOND) {
		queue->waited_since = began;
		queue->waited = 0;
	}
	if (queue->waited >= INFERENCE_QUEUE_WAIT_NS)
		return false;
	end = began + INFERENCE_QUEUE_WAIT_NS - queue->waited;
	pthread_mutex_lock(&queue->lock);
	while (!is_done(request) && clock_now() < end)
		wait_until(queue, end);
	pthread_mutex_unlock(&queue->lock);
	queue->waited += clock_now() - began;
	return is_done(request);
}

bool inference_queue_await(struct inference_queue *queue, struct infer_request *request)
{
	bool done = await(queue, request);

	queue->missed += !done;
	return done;
}

uint64_t inference_queue_missed(const struct inference_queue *queue)
{
	return queue->missed;
}

uint64_t inference_queue_done(struct inference_queue *queue)
{
	uint64_t done;

	pthread_mutex_lock(&queue->lock);
	done = queue->count - queue->left;
	pthread_mutex_unlock(&queue->lock);
	return done;
}

bool inference_queue_next(struct inference_queue *queue, uint64_t until)
{
	bool changed;
	size_t left;

	pthread_mutex_lock(&queue->lock);
	left = queue->left;
	while (left && queue->left == left && clock_now() < until)
		wait_until(queue, until);
	changed = queue->left != left;
	pthread_mutex_unlock(&queue->lock);
	return changed;
}

bool inference_queue_finish(struct inference_queue *queue, const volatile sig_atomic_t *interrupted)
{
	bool left;

	pthread_mutex_lock(&queue->lock);
	queue->late = true;
	pthread_cond_broadcast(&queue->changed);
	left = queue->left;
	while (queue->left && !(interrupted && *interrupted))
		wait_until(queue, clock_now() + LOOK_NS);
	pthread_mutex_unlock(&queue->lock);
	return left;
}
