/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/top.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"

/* Whether somebody wants to quit is asked that often. */
#define LOOK_NS (NS_PER_SECOND / 5)

struct live_recorder {
	pthread_t thread;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t opened;
	struct recorder_options options;
	bool is_ready, stop;
	int error;
	enum recorder_stage stage;
	struct recorder_stats stats;
};

static void tell_opened(struct live_recorder *live, int error, enum recorder_stage stage)
{
	pthread_mutex_lock(&live->lock);
	live->is_ready = true;
	live->error = error;
	live->stage = stage;
	pthread_cond_signal(&live->opened);
	pthread_mutex_unlock(&live->lock);
}

/* Whether to go on. */
static bool exchange(struct live_recorder *live, const struct recorder *recorder, int error)
{
	bool stop;

	pthread_mutex_lock(&live->lock);
	live->stats = *recorder_stats(recorder);
	live->error = error;
	stop = live->stop;
	pthread_mutex_unlock(&live->lock);
	return !error && !stop;
}

static void record(struct live_recorder *live, struct recorder *recorder)
{
	int error;

	do {
		size_t count;
		int timeout;
		struct pollfd *fds = recorder_pollfds(recorder, &count, &timeout);

		poll(fds, count, timeout);
		error = recorder_sweep(recorder);
	} while (exchange(live, recorder, error));
}

/* What fails at the end has failed before. */
static void finish(struct live_recorder *live, struct recorder *recorder)
{
	struct recorder_stats stats;

	recorder_finish(recorder, &stats);
	pthread_mutex_lock(&live->lock);
	live->stats = stats;
	pthread_mutex_unlock(&live->lock);
}

static void *run(void *ctx)
{
	struct live_recorder *live = ctx;
	struct recorder *recorder;
	enum recorder_stage stage;
	int error = recorder_open(&live->options, &stage, &recorder);

	tell_opened(live, error, stage);
	if (error)
		return NULL;
	record(live, recorder);
	finish(live, recorder);
	return NULL;
}

static int wait_until_open(struct live_recorder *live, enum recorder_stage *stage)
{
	int error;

	pthread_mutex_lock(&live->lock);
	while (!live->is_ready && !top_signals.end) {
		uint64_t time = clock_ns(CLOCK_REALTIME) + LOOK_NS;
		const struct timespec until = {
			.tv_sec = (time_t)(time / NS_PER_SECOND),
			.tv_nsec = (long)(time % NS_PER_SECOND),
		};

		pthread_cond_timedwait(&live->opened, &live->lock, &until);
	}
	*stage = live->stage;
	error = live->is_ready ? live->error : -EINTR;
	pthread_mutex_unlock(&live->lock);
	return error;
}

int live_recorder_open(const struct recorder_options *options, enum recorder_stage *stage,
		       struct live_recorder **ret)
{
	struct live_recorder *live = calloc(1, sizeof(*live));
	int error = live ? 0 : -ENOMEM;

	*stage = RECORDER_MEMORY;
	if (!error) {
		pthread_mutex_init(&live->lock, NULL);
		pthread_cond_init(&live->opened, NULL);
		live->options = *options;
		error = top_signals_thread(&live->thread, run, live);
	}
	if (error) {
		free(live);
		return error;
	}
	error = wait_until_open(live, stage);
	if (!error)
		*ret = live;
	else if (error != -EINTR)
		live_recorder_close(live, NULL);
	return error;
}

void live_recorder_stats(struct live_recorder *recorder, struct recorder_stats *ret)
{
	pthread_mutex_lock(&recorder->lock);
	*ret = recorder->stats;
	pthread_mutex_unlock(&recorder->lock);
}

int live_recorder_failure(struct live_recorder *recorder)
{
	int error;

	pthread_mutex_lock(&recorder->lock);
	error = recorder->error;
	pthread_mutex_unlock(&recorder->lock);
	return error;
}

void live_recorder_close(struct live_recorder *recorder, struct recorder_stats *stats)
{
	if (!recorder)
		return;
	pthread_mutex_lock(&recorder->lock);
	recorder->stop = true;
	pthread_mutex_unlock(&recorder->lock);
	pthread_join(recorder->thread, NULL);
	if (stats)
		*stats = recorder->stats;
	pthread_cond_destroy(&recorder->opened);
	pthread_mutex_destroy(&recorder->lock);
	free(recorder);
}
