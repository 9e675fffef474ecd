/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/table_maker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/vector.h"
#include "table/compile_cfi.h"

/**
 * struct table_maker - tables in the order in which they are wanted
 * @lock: for what follows
 * @changed: one more is wanted, or made
 * @queue, @count: all that were ever wanted
 * @made: of them, those that are made
 * @stop: no more are made
 * @taken: of @made, the caller's
 */
struct table_maker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct wanted_table *queue;
	size_t count, room, made;
	bool stop;
	size_t taken;
};

static void make(struct wanted_table *w)
{
	struct bobbin_cfi_view views[CALL_FRAMES_SECTIONS];

	w->error = module_compiled(w->module, w->limit, &w->data, &w->size);
	if (w->error != -ENODATA || !call_frames_views(&w->module->image, views))
		return;
	/* the file has more sections */
	w->error = compile_cfi_within(views, 1, NULL, 0, w->limit, &w->own, &w->size);
	w->data = w->own;
}

/* The next that is wanted; false: the end. */
static bool next_wanted(struct table_maker *m, struct wanted_table *ret)
{
	while (!m->stop && m->made == m->count)
		pthread_cond_wait(&m->changed, &m->lock);
	if (m->stop)
		return false;
	*ret = m->queue[m->made];
	return true;
}

static void *run(void *ctx)
{
	struct table_maker *m = ctx;
	struct wanted_table w;

	pthread_mutex_lock(&m->lock);
	while (next_wanted(m, &w)) {
		pthread_mutex_unlock(&m->lock);
		make(&w);
		pthread_mutex_lock(&m->lock);
		m->queue[m->made++] = w;
		pthread_cond_signal(&m->changed);
	}
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

/* Signals are the recorder's. */
static int start(struct table_maker *m)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&m->thread, NULL, run, m);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}

int table_maker_open(struct table_maker **ret)
{
	struct table_maker *m = calloc(1, sizeof(*m));
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

void table_maker_close(struct table_maker *maker)
{
	if (!maker)
		return;
	pthread_mutex_lock(&maker->lock);
	maker->stop = true;
	pthread_cond_signal(&maker->changed);
	pthread_mutex_unlock(&maker->lock);
	pthread_join(maker->thread, NULL);
	for (size_t i = maker->taken; i < maker->made; i++)
		free(maker->queue[i].own);
	pthread_cond_destroy(&maker->changed);
	pthread_mutex_destroy(&maker->lock);
	free(maker->queue);
	free(maker);
}

int table_maker_ask(struct table_maker *maker, const struct wanted_table *wanted)
{
	int r;

	pthread_mutex_lock(&maker->lock);
	r = vector_push(maker->queue, maker->count, maker->room, *wanted);
	pthread_cond_signal(&maker->changed);
	pthread_mutex_unlock(&maker->lock);
	return r;
}

bool table_maker_take(struct table_maker *maker, bool wait, struct wanted_table *ret)
{
	bool found;

	if (!table_maker_is_busy(maker))
		return false;
	pthread_mutex_lock(&maker->lock);
	while (wait && maker->taken == maker->made)
		pthread_cond_wait(&maker->changed, &maker->lock);
	found = maker->taken < maker->made;
	if (found)
		*ret = maker->queue[maker->taken++];
	pthread_mutex_unlock(&maker->lock);
	return found;
}

/* The thread changes neither number. */
bool table_maker_is_busy(const struct table_maker *maker)
{
	return maker->taken < maker->count;
}
