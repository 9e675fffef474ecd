/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/record_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/perf_format.h"

/* The records behind those that were given out go to the front. */
static void drop_given(struct record_stream *s)
{
	if (s->whole <= s->front)
		return;
	memmove(s->bytes + s->front, s->bytes + s->whole, s->used - s->whole);
	s->used -= s->whole - s->front;
	s->whole = s->front;
}

/* Whether a record says what the others are. */
static bool is_front(uint32_t type)
{
	return type == PERF_FILE_ATTR || type == PERF_FILE_FEATURE ||
	       type == PERF_FILE_EVENT_UPDATE;
}

/* The size of a record that is there; 0: not all of it is; -EBADMSG. */
static int next_record(const struct record_stream *s, struct perf_event_header *ret)
{
	if (s->used - s->whole < sizeof(*ret))
		return 0;
	memcpy(ret, s->bytes + s->whole, sizeof(*ret));
	if (ret->size < sizeof(*ret))
		return -EBADMSG;
	return s->used - s->whole < ret->size ? 0 : ret->size;
}

/* The header of the stream, and the records up to the first one that is an event. */
static int find_front(struct record_stream *s)
{
	struct perf_event_header header;
	uint64_t words[2];
	int size;

	if (s->used < PERF_FILE_PIPE_HEADER_SIZE)
		return 0;
	memcpy(words, s->bytes, sizeof(words));
	if (words[0] != PERF_FILE_MAGIC || words[1] != PERF_FILE_PIPE_HEADER_SIZE)
		return -EBADMSG;
	if (!s->whole)
		s->whole = PERF_FILE_PIPE_HEADER_SIZE;
	while ((size = next_record(s, &header)) > 0 && is_front(header.type))
		s->whole += (size_t)size;
	if (size > 0)
		s->front = s->whole;
	return size < 0 ? size : 0;
}

static int find_records(struct record_stream *s)
{
	struct perf_event_header header;
	int size = s->front ? 0 : find_front(s);

	if (size < 0 || !s->front)
		return size;
	while ((size = next_record(s, &header)) > 0)
		s->whole += (size_t)size;
	return size;
}

int record_stream_next(struct record_stream *stream, const void **ret, size_t *size)
{
	ssize_t n;
	int r;

	if (!stream->bytes)
		stream->bytes = malloc(RECORD_STREAM_PIECE);
	if (!stream->bytes)
		return -ENOMEM;
	if (stream->front)
		drop_given(stream);
	do {
		/* a front that fills all of it is none of ours */
		if (stream->used == RECORD_STREAM_PIECE)
			return -EBADMSG;
		n = read(stream->fd, stream->bytes + stream->used,
			 RECORD_STREAM_PIECE - stream->used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		stream->used += (size_t)n;
		r = find_records(stream);
		if (r < 0)
			return r;
	} while (!stream->front || stream->whole == stream->front);
	*ret = stream->bytes;
	*size = stream->whole;
	return 1;
}

void record_stream_fini(struct record_stream *stream)
{
	free(stream->bytes);
	*stream = (struct record_stream){.fd = -1};
}
