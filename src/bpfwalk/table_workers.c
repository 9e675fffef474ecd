/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/table_workers.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/vector.h"

#define MAKERS_MAX 8

struct queued_table {
	struct wanted_table table;
	bool made;
};

/**
 * struct table_workers - tables in the order in which they are wanted
 * @lock: for what follows
 * @changed: one more is wanted, or made
 * @queue, @count: what is wanted, and before it what was since the queue was empty
 * @begun: of them, those that are made or in the making
 * @stop: no more are made
 * @taken: of them, the caller's
 */
struct table_workers {
	pthread_t threads[MAKERS_MAX];
	unsigned int thread_count;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct queued_table *queue;
	size_t count, room, begun;
	bool stop;
	size_t taken;
};

static void make(struct wanted_table *w)
{
	if (w->section)
		w->error = section_tables_init_bare(&w->section->section, w->limit, &w->made);
	else
		w->error = section_tables_init(w->module, w->limit, &w->made);
}

/* The next that is wanted; false: the end. */
static bool next_wanted(struct table_workers *m, size_t *ret)
{
	while (!m->stop && m->begun == m->count)
		pthread_cond_wait(&m->changed, &m->lock);
	if (m->stop)
		return false;
	*ret = m->begun++;
	return true;
}

static void *run(void *ctx)
{
	struct table_workers *m = ctx;
	struct wanted_table w;
	size_t at;

	pthread_mutex_lock(&m->lock);
	while (next_wanted(m, &at)) {
		w = m->queue[at].table;
		pthread_mutex_unlock(&m->lock);
		make(&w);
		pthread_mutex_lock(&m->lock);
		m->queue[at] = (struct queued_table){w, true};
		pthread_cond_broadcast(&m->changed);
	}
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

/* As many as can run; one is enough.  Signals are the recorder's. */
static int start(struct table_workers *m)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	sigset_t all, before;
	int r = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	do {
		r = pthread_create(&m->threads[m->thread_count], NULL, run, m);
		m->thread_count += !r;
	} while (!r && m->thread_count < MAKERS_MAX && m->thread_count < cpus);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return m->thread_count ? 0 : -r;
}

int table_workers_open(struct table_workers **ret)
{
	struct table_workers *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return -ENOMEM;
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->changed, NULL);
	r = start(m);
	if (r)
		free(m);
	else
		*ret = m;
	return r;
}

void table_workers_close(struct table_workers *maker)
{
	if (!maker)
		return;
	pthread_mutex_lock(&maker->lock);
	maker->stop = true;
	pthread_cond_broadcast(&maker->changed);
	pthread_mutex_unlock(&maker->lock);
	for (unsigned int i = 0; i < maker->thread_count; i++)
		pthread_join(maker->threads[i], NULL);
	for (size_t i = maker->taken; i < maker->count; i++) {
		section_tables_fini(&maker->queue[i].table.made);
		remote_table_release(maker->queue[i].table.section);
	}
	pthread_cond_destroy(&maker->changed);
	pthread_mutex_destroy(&maker->lock);
	free(maker->queue);
	free(maker);
}

int table_workers_ask(struct table_workers *maker, const struct wanted_table *wanted)
{
	int r;

	pthread_mutex_lock(&maker->lock);
	if (maker->taken == maker->count)
		maker->taken = maker->begun = maker->count = 0;
	r = vector_push(maker->queue, maker->count, maker->room,
			(struct queued_table){*wanted, false});
	pthread_cond_signal(&maker->changed);
	pthread_mutex_unlock(&maker->lock);
	return r;
}

bool table_workers_take(struct table_workers *maker, bool wait, struct wanted_table *ret)
{
	bool found;

	if (!table_workers_is_busy(maker))
		return false;
	pthread_mutex_lock(&maker->lock);
	while (wait && !maker->queue[maker->taken].made)
		pthread_cond_wait(&maker->changed, &maker->lock);
	found = maker->queue[maker->taken].made;
	if (found)
		*ret = maker->queue[maker->taken++].table;
	pthread_mutex_unlock(&maker->lock);
	return found;
}

/* The threads change neither number. */
bool table_workers_is_busy(const struct table_workers *maker)
{
	return maker->taken < maker->count;
}
