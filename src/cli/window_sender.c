/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/window_sender.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/otlp_client.h"
#include "base/clock.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/profile_builder.h"
#include "cli/top.h"
#include "export/otlp.h"
#include "export/profile_format.h"
#include "profile/session.h"
#include "symbol/symbolizer.h"

/* Between two attempts, in seconds: at first, and at most; and what a server may ask for. */
#define FIRST_WAIT 1
#define MOST_WAIT 60
#define MOST_ASKED 3600
/* Files that are read for names, which mostly are those of the recording before; and all of names. */
#define FILES_MEMORY ((size_t)64 << 20)
#define NAMES_MEMORY (2 * FILES_MEMORY)

/* What is to be sent again, as it was made. */
struct kept_request {
	char *path; /* of its recording; NULL: there is none */
	char *bytes;
	size_t size;
};

struct window_sender {
	struct window_sender_options options;
	struct kept_request kept;
	struct process_reader *reader;
	struct symbolizer *symbolizer; /* NULL: not yet */
	struct otlp_client *client;
	pthread_t thread;
	volatile sig_atomic_t stop; /* at once */
	uint64_t wait;              /* of the next failure, in seconds */
	bool failing;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t woken;
	uint64_t news; /* of the folder, counted */
	bool closing;
	uint64_t end; /* clock_now(), if it is closing */
	struct window_sender_stats stats;
};

/* names */

static void close_names(struct window_sender *s)
{
	symbolizer_close(s->symbolizer);
	s->symbolizer = NULL;
	process_reader_close(s->reader);
	s->reader = NULL;
}

static int open_names(struct window_sender *s)
{
	const struct arguments *a = s->options.arguments;
	struct symbolizer_options options = a->naming;
	int r = process_reader_open(a->unwind.deadline_ms, &s->reader);

	options.memory_limit = FILES_MEMORY;
	return r ? r
		 : naming_symbolizer_open(&options, s->reader, a->unwind.debug_path,
					  &s->symbolizer);
}

/* For one more recording.  Names are kept as long as there is room for them. */
static int prepare_names(struct window_sender *s)
{
	struct symbolizer_stats stats = {0};
	int r;

	if (s->symbolizer)
		symbolizer_get_stats(s->symbolizer, &stats);
	if (stats.memory > NAMES_MEMORY)
		close_names(s);
	if (s->symbolizer) {
		symbolizer_refresh(s->symbolizer);
		return 0;
	}
	r = open_names(s);
	if (r)
		close_names(s);
	return r;
}

/* a request */

static int write_request(const struct window_sender *s, struct session *session, FILE *out,
			 struct bobbin_error *err)
{
	const struct otlp_pairs *pairs = &s->options.settings->attributes;
	struct otlp_attribute attributes[OTLP_PAIRS_MAX];
	struct profile_builder *builder;
	int r = profile_builder_open(session, false, &builder);

	if (r)
		return r;
	for (size_t i = 0; i < pairs->count; i++)
		attributes[i] = (struct otlp_attribute){pairs->list[i].key, pairs->list[i].value};
	r = session_run(session, &profile_builder_sink, builder, err);
	if (!r)
		r = otlp_write_request(profile_builder_profile(builder), attributes, pairs->count,
				       out);
	profile_builder_close(builder);
	return r;
}

static int write_zipped(const struct window_sender *s, struct session *session, FILE *out,
			struct bobbin_error *err)
{
	FILE *zipped = gzip_stream(out);

	return zipped ? stream_close(zipped, write_request(s, session, zipped, err)) : -ENOMEM;
}

/* The bytes of a request; free() them. */
static int make_request(struct window_sender *s, const char *path, char **bytes, size_t *size,
			struct bobbin_error *err)
{
	const struct arguments *a = s->options.arguments;
	struct session_options options = {
		.unwind = a->unwind, .infer = a->infer, .naming = a->naming};
	struct session *session;
	int r = prepare_names(s);
	FILE *out;

	if (r)
		return r;
	options.symbolizer = s->symbolizer;
	r = session_open(path, &options, err, &session);
	if (r)
		return r;
	out = open_memstream(bytes, size);
	if (!out)
		r = -ENOMEM;
	else if (s->options.settings->plain)
		r = write_request(s, session, out, err);
	else
		r = write_zipped(s, session, out, err);
	if (out)
		r = stream_close(out, r);
	if (out && r)
		free(*bytes);
	session_close(session);
	return r;
}

static void forget_request(struct window_sender *s)
{
	free(s->kept.path);
	free(s->kept.bytes);
	s->kept = (struct kept_request){0};
}

static int keep_request(struct window_sender *s, const char *path, struct bobbin_error *err)
{
	int r;

	if (s->kept.path && !strcmp(s->kept.path, path))
		return 0;
	forget_request(s);
	r = make_request(s, path, &s->kept.bytes, &s->kept.size, err);
	if (r) {
		s->kept = (struct kept_request){0};
		return r;
	}
	s->kept.path = strdup(path);
	if (s->kept.path)
		return 0;
	forget_request(s);
	return -ENOMEM;
}

/* one recording */

static void count_end(struct window_sender *s, const char *path, uint64_t samples, bool accepted,
		      uint64_t rejected)
{
	window_folder_sent(s->options.folder, path);
	pthread_mutex_lock(&s->lock);
	s->stats.windows += accepted;
	s->stats.samples += accepted ? samples : 0;
	s->stats.refused += !accepted;
	s->stats.refused_samples += accepted ? 0 : samples;
	s->stats.rejected += rejected;
	pthread_mutex_unlock(&s->lock);
}

static uint64_t next_wait(struct window_sender *s, const struct otlp_answer *answer)
{
	const uint64_t wait = s->wait;

	s->wait = 2 * wait < MOST_WAIT ? 2 * wait : MOST_WAIT;
	if (!answer->retry_after)
		return wait;
	return answer->retry_after < MOST_ASKED ? answer->retry_after : MOST_ASKED;
}

/* What is asked of the server changes: that is worth a line. */
static void note_failure(struct window_sender *s, const struct otlp_answer *answer)
{
	if (!s->failing)
		complain_use("profiles cannot be sent now, and wait: %s", answer->text);
	s->failing = true;
	pthread_mutex_lock(&s->lock);
	s->stats.failures++;
	pthread_mutex_unlock(&s->lock);
}

static void note_answer(struct window_sender *s, const struct otlp_answer *answer)
{
	if (s->failing && answer->outcome == OTLP_ACCEPTED)
		complain_use("profiles are sent again");
	s->failing = false;
	s->wait = FIRST_WAIT;
	if (answer->outcome == OTLP_REFUSED)
		complain_use("a profile was refused: %s", answer->text);
	else if (answer->rejected || *answer->text)
		complain_use("a profile was accepted, but: %s", answer->text);
}

/* Seconds until it is worth another try; 0: it is done with. */
static uint64_t send_window(struct window_sender *s, const char *path, uint64_t samples)
{
	struct otlp_answer answer;
	struct bobbin_error err = {0};
	int r = keep_request(s, path, &err);

	if (r) {
		complain_file(path, r, &err);
		count_end(s, path, samples, false, 0);
		return 0;
	}
	otlp_client_post(s->client, s->kept.bytes, s->kept.size, &answer);
	if (answer.outcome == OTLP_LATER) {
		note_failure(s, &answer);
		return next_wait(s, &answer);
	}
	forget_request(s);
	note_answer(s, &answer);
	count_end(s, path, samples, answer.outcome == OTLP_ACCEPTED, answer.rejected);
	return 0;
}

/* the thread */

/* @news: of the folder, when it was looked at.  @seconds: to wait whatever is new; or 0. */
static void wait_for(struct window_sender *s, uint64_t news, uint64_t seconds)
{
	const uint64_t until = clock_now() + seconds * NS_PER_SECOND;
	const struct timespec time = {.tv_sec = (time_t)(until / NS_PER_SECOND),
				      .tv_nsec = (long)(until % NS_PER_SECOND)};
	int r = 0;

	pthread_mutex_lock(&s->lock);
	while (!s->closing && seconds && r != ETIMEDOUT)
		r = pthread_cond_timedwait(&s->woken, &s->lock, &time);
	while (!s->closing && !seconds && s->news == news)
		pthread_cond_wait(&s->woken, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

/* Whether it is the end; *@late: and there is no time for more. */
static bool is_closing(struct window_sender *s, bool *late, uint64_t *news)
{
	bool closing;

	pthread_mutex_lock(&s->lock);
	closing = s->closing;
	*late = closing && clock_now() >= s->end;
	*news = s->news;
	pthread_mutex_unlock(&s->lock);
	return closing;
}

static void *run(void *ctx)
{
	struct window_sender *s = ctx;
	bool late;

	for (;;) {
		uint64_t samples, news, wait = 0;
		bool closing = is_closing(s, &late, &news);
		char *path = late ? NULL : window_folder_unsent(s->options.folder, &samples);
		const bool had = path;

		if (path)
			wait = send_window(s, path, samples);
		free(path);
		if (had && !wait)
			continue;
		if (closing)
			break;
		wait_for(s, news, wait);
	}
	close_names(s);
	return NULL;
}

static int init_condition(pthread_cond_t *condition)
{
	pthread_condattr_t attr;
	int r = pthread_condattr_init(&attr);

	if (!r)
		r = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	return -(r ? r : pthread_cond_init(condition, &attr));
}

int window_sender_open(const struct window_sender_options *options, struct window_sender **ret)
{
	struct window_sender *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->options = *options;
	s->wait = FIRST_WAIT;
	pthread_mutex_init(&s->lock, NULL);
	r = init_condition(&s->woken);
	if (!r)
		r = otlp_client_open(options->settings, &s->stop, &s->client);
	if (!r)
		r = top_signals_thread(&s->thread, run, s);
	if (!r) {
		*ret = s;
		return 0;
	}
	otlp_client_close(s->client);
	free(s);
	return r;
}

void window_sender_wake(struct window_sender *sender)
{
	pthread_mutex_lock(&sender->lock);
	sender->news++;
	pthread_cond_signal(&sender->woken);
	pthread_mutex_unlock(&sender->lock);
}

void window_sender_stats(struct window_sender *sender, struct window_sender_stats *ret)
{
	pthread_mutex_lock(&sender->lock);
	*ret = sender->stats;
	pthread_mutex_unlock(&sender->lock);
}

/* A request that is under way ends when the time is over. */
static void join(struct window_sender *s, uint64_t end)
{
	const uint64_t now = clock_now(), left = end > now ? end - now : 0,
		       until = clock_ns(CLOCK_REALTIME) + left;
	const struct timespec time = {.tv_sec = (time_t)(until / NS_PER_SECOND),
				      .tv_nsec = (long)(until % NS_PER_SECOND)};

	if (!pthread_timedjoin_np(s->thread, NULL, &time))
		return;
	s->stop = 1;
	pthread_join(s->thread, NULL);
}

void window_sender_close(struct window_sender *sender, uint64_t ms)
{
	const uint64_t end = clock_now() + ms * (NS_PER_SECOND / 1000);

	if (!sender)
		return;
	pthread_mutex_lock(&sender->lock);
	sender->closing = true;
	sender->end = end;
	pthread_cond_signal(&sender->woken);
	pthread_mutex_unlock(&sender->lock);
	join(sender, end);
	forget_request(sender);
	otlp_client_close(sender->client);
	pthread_cond_destroy(&sender->woken);
	pthread_mutex_destroy(&sender->lock);
	free(sender);
}
