/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/sample_queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_buffer.h"

#define ALIGN 8

/* Before a struct stack_sample and its frames, or a struct perf_event and its text. */
struct item {
	uint32_t size; /* of all of it, a multiple of ALIGN */
	bool is_sample;
};

struct sample_queue {
	char **names; /* of events, by number */
	size_t name_count, name_room;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t given, taken;
	struct byte_buffer items;
	bool ended; /* nothing more is given */
	bool left;  /* nothing more is taken */
};

int sample_queue_open(struct sample_queue **ret)
{
	struct sample_queue *q = calloc(1, sizeof(*q));

	if (!q)
		return -ENOMEM;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->given, NULL);
	pthread_cond_init(&q->taken, NULL);
	*ret = q;
	return 0;
}

void sample_queue_close(struct sample_queue *queue)
{
	if (!queue)
		return;
	for (size_t i = 0; i < queue->name_count; i++)
		free(queue->names[i]);
	free(queue->names);
	byte_buffer_fini(&queue->items);
	pthread_cond_destroy(&queue->taken);
	pthread_cond_destroy(&queue->given);
	pthread_mutex_destroy(&queue->lock);
	free(queue);
}

/* The source may be gone when its last samples are taken. */
static int copy_names(void *ctx, const struct sample_source *source)
{
	struct sample_queue *q = ctx;

	if (vector_reserve(&q->names, &q->name_room, source->event_count, sizeof(*q->names)))
		return -ENOMEM;
	for (size_t i = 0; i < source->event_count; i++) {
		const char *name = source->events[i].name;

		q->names[i] = strdup(name ? name : "");
		if (!q->names[i])
			return -ENOMEM;
		q->name_count++;
	}
	return 0;
}

/* @body: a structure; @tail: what it points to. */
static int put(struct sample_queue *q, bool is_sample, const void *body, size_t body_size,
	       const void *tail, size_t tail_size)
{
	size_t size = sizeof(struct item) + body_size + tail_size;
	const struct item item = {(uint32_t)((size + ALIGN - 1) & ~(size_t)(ALIGN - 1)), is_sample};
	int error = 0;

	pthread_mutex_lock(&q->lock);
	while (q->items.size >= SAMPLE_QUEUE_BYTES && !q->left) {
		pthread_cond_signal(&q->given);
		pthread_cond_wait(&q->taken, &q->lock);
	}
	if (q->left) {
		error = -EPIPE;
	} else if (!byte_buffer_room(&q->items, item.size)) {
		error = -ENOMEM;
	} else {
		byte_buffer_put(&q->items, &item, sizeof(item));
		byte_buffer_put(&q->items, body, body_size);
		byte_buffer_put(&q->items, tail, tail_size);
		byte_buffer_align(&q->items, ALIGN);
	}
	pthread_mutex_unlock(&q->lock);
	return error;
}

static int give_sample(void *ctx, const struct stack_sample *sample)
{
	return put(ctx, true, sample, sizeof(*sample), sample->frames,
		   sample->count * sizeof(*sample->frames));
}

/* Where a record has its text, or NULL. */
static const char **text_of(struct perf_event *event)
{
	switch (event->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return &event->mmap.filename;
	case PERF_RECORD_COMM:
		return &event->comm.comm;
	case PERF_RECORD_KSYMBOL:
		return &event->ksymbol.name;
	default:
		return NULL;
	}
}

static int give_record(void *ctx, const struct perf_event *event)
{
	struct perf_event copy = *event;
	const char **text = text_of(&copy);

	copy.attr = NULL;
	return put(ctx, false, &copy, sizeof(copy), text ? *text : NULL,
		   text ? strlen(*text) + 1 : 0);
}

static int give_round(void *ctx)
{
	struct sample_queue *q = ctx;
	bool left;

	pthread_mutex_lock(&q->lock);
	if (q->items.size)
		pthread_cond_signal(&q->given);
	left = q->left;
	pthread_mutex_unlock(&q->lock);
	return left ? -EPIPE : 0;
}

void sample_queue_end(struct sample_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->ended = true;
	pthread_cond_signal(&queue->given);
	pthread_mutex_unlock(&queue->lock);
}

static int give_end(void *ctx, int error)
{
	(void)error;
	sample_queue_end(ctx);
	return 0;
}

const struct sample_sink sample_queue_sink = {
	.begin = copy_names,
	.sample = give_sample,
	.record = give_record,
	.round = give_round,
	.end = give_end,
	.abort = NULL,
};

bool sample_queue_fills_up(struct sample_queue *queue)
{
	bool fills_up;

	pthread_mutex_lock(&queue->lock);
	fills_up = queue->items.size >= SAMPLE_QUEUE_BYTES / 2;
	pthread_mutex_unlock(&queue->lock);
	return fills_up;
}

/* All that was given, in exchange for an empty buffer.  false: there is no more. */
static bool take(struct sample_queue *q, struct byte_buffer *ret)
{
	struct byte_buffer empty = *ret;

	empty.size = 0;
	pthread_mutex_lock(&q->lock);
	while (!q->items.size && !q->ended)
		pthread_cond_wait(&q->given, &q->lock);
	*ret = q->items;
	q->items = empty;
	pthread_cond_signal(&q->taken);
	pthread_mutex_unlock(&q->lock);
	return ret->size;
}

static int take_sample(const struct sample_queue *q, const uint8_t *body,
		       const struct sample_sink *sink, void *ctx)
{
	struct stack_sample sample;

	memcpy(&sample, body, sizeof(sample));
	sample.event = q->names[sample.event_number];
	sample.comm = NULL;
	sample.cgroup = NULL;
	sample.process = NULL;
	sample.frames = (const void *)(body + sizeof(sample));
	return sink->sample(ctx, &sample);
}

static int take_record(const uint8_t *body, const struct sample_sink *sink, void *ctx)
{
	struct perf_event event;
	const char **text;

	memcpy(&event, body, sizeof(event));
	text = text_of(&event);
	if (text)
		*text = (const char *)body + sizeof(event);
	return sink->record(ctx, &event);
}

static int hand_on(const struct sample_queue *q, const struct byte_buffer *items,
		   const struct sample_sink *sink, void *ctx)
{
	struct item item;
	int error = 0;

	for (size_t at = 0; at < items->size && !error; at += item.size) {
		const uint8_t *body = items->data + at + sizeof(item);

		memcpy(&item, items->data + at, sizeof(item));
		error = item.is_sample ? take_sample(q, body, sink, ctx)
				       : take_record(body, sink, ctx);
	}
	return error ? error : sink->round(ctx);
}

int sample_queue_run(struct sample_queue *queue, const struct sample_sink *sink, void *ctx)
{
	struct byte_buffer items = {0};
	int error = 0;

	while (!error && take(queue, &items))
		error = hand_on(queue, &items, sink, ctx);
	byte_buffer_fini(&items);
	pthread_mutex_lock(&queue->lock);
	queue->left = true;
	pthread_cond_signal(&queue->taken);
	pthread_mutex_unlock(&queue->lock);
	return error;
}
