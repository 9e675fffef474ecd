/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/sample_spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file_range.h"
#include "base/spool_file.h"
#include "base/vector.h"

#define CHUNK_BYTES (SAMPLE_CHUNK * sizeof(struct profile_sample))

/* The samples of one thread: the numbers of its chunks in the file, and those that come after. */
struct thread_samples {
	uint32_t *chunks;
	size_t chunk_count, chunk_room;
	struct profile_sample *last; /* SAMPLE_CHUNK of them, or NULL */
	size_t last_count;
};

struct sample_spool {
	int fd;
	uint32_t chunks; /* that were written */
	struct thread_samples *threads;
	size_t thread_count, thread_room;
};

int sample_spool_open(struct sample_spool **ret)
{
	struct sample_spool *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->fd = spool_file_open();
	if (s->fd < 0) {
		r = s->fd;
		free(s);
		return r;
	}
	*ret = s;
	return 0;
}

void sample_spool_close(struct sample_spool *spool)
{
	if (!spool)
		return;
	for (size_t i = 0; i < spool->thread_count; i++) {
		free(spool->threads[i].chunks);
		free(spool->threads[i].last);
	}
	free(spool->threads);
	close(spool->fd);
	free(spool);
}

static int write_chunk(struct sample_spool *s, struct thread_samples *t)
{
	int r;

	if (s->chunks == UINT32_MAX)
		return -E2BIG;
	r = vector_push(t->chunks, t->chunk_count, t->chunk_room, s->chunks);
	if (r)
		return r;
	r = file_append(s->fd, t->last, CHUNK_BYTES);
	if (r)
		return r;
	s->chunks++;
	t->last_count = 0;
	return 0;
}

int sample_spool_add(struct sample_spool *spool, const struct profile_sample *sample)
{
	struct thread_samples *t;

	if (vector_reserve(&spool->threads, &spool->thread_room, (size_t)sample->thread + 1,
			   sizeof(*spool->threads)))
		return -ENOMEM;
	while (spool->thread_count <= sample->thread)
		spool->threads[spool->thread_count++] = (struct thread_samples){0};
	t = &spool->threads[sample->thread];
	if (!t->last && !(t->last = malloc(CHUNK_BYTES)))
		return -ENOMEM;
	t->last[t->last_count++] = *sample;
	return t->last_count < SAMPLE_CHUNK ? 0 : write_chunk(spool, t);
}

int sample_spool_read(const struct sample_spool *spool, uint32_t thread, size_t chunk,
		      struct profile_sample samples[SAMPLE_CHUNK])
{
	const struct thread_samples *t = spool->threads + thread;
	int r;

	if (thread >= spool->thread_count || chunk > t->chunk_count)
		return 0;
	if (chunk == t->chunk_count) {
		if (!t->last_count)
			return 0;
		memcpy(samples, t->last, t->last_count * sizeof(*samples));
		return (int)t->last_count;
	}
	r = file_range_read(spool->fd, t->chunks[chunk] * (uint64_t)CHUNK_BYTES, samples,
			    CHUNK_BYTES);
	return r ? r : SAMPLE_CHUNK;
}
