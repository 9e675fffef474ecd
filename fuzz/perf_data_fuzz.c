/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The contract of perf_reader: whatever the bytes are, opening and reading end
 * in bounded time; a refusal says why, and where in the file; all that an event
 * points to is readable, aligned and as long as it says.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profile/perf_format.h"
#include "profile/perf_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void require_refusal(const struct bobbin_error *err, size_t size)
{
	require(err->reason != BOBBIN_REASON_NONE && err->reason < BOBBIN_REASON_COUNT);
	require(err->offset <= size);
}

/* Read all of it; the sum keeps the compiler from leaving it out. */
static uint64_t touch(const void *data, uint64_t size)
{
	const uint8_t *bytes = data;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < size; i++)
		sum += bytes[i];
	return sum;
}

static uint64_t touch_words(const uint64_t *words, uint64_t nr)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < nr; i++)
		sum += words[i];
	return sum;
}

static uint64_t touch_sample(const struct perf_sample *sample)
{
	uint64_t sum = touch_words(sample->callchain, sample->callchain_nr);
	uint64_t value;

	require(sample->dyn_size <= sample->stack_size);
	sum += touch(sample->raw, sample->raw_size) + touch(sample->stack, sample->stack_size);
	for (unsigned int i = 0; i < 65; i++)
		if (perf_sample_reg(sample, i, &value))
			sum += value;
	return sum;
}

static uint64_t touch_event(const struct perf_event *event)
{
	switch (event->type) {
	case PERF_RECORD_SAMPLE:
		return touch_sample(&event->sample);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		require(event->mmap.build_id_len <= sizeof(event->mmap.build_id));
		return strlen(event->mmap.filename);
	case PERF_RECORD_COMM:
		return strlen(event->comm.comm);
	case PERF_RECORD_CGROUP:
		return strlen(event->cgroup.path);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return event->task.ppid;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return event->lost;
	default:
		return 0;
	}
}

static bool any_values(const struct perf_reader *reader)
{
	const struct perf_reader_attr *attr;

	for (size_t i = 0; (attr = perf_reader_event(reader, i)); i++)
		if (attr->attr.sample_type & PERF_SAMPLE_READ)
			return true;
	return false;
}

static uint64_t touch_events(struct perf_reader *reader, size_t size)
{
	struct bobbin_error err = {0};
	struct perf_event event;
	uint64_t sum = 0, calls = 0, time = 0, values = 0;
	int r;

	while ((r = perf_reader_next(reader, &err, &event)) != 0) {
		calls++;
		if (r < 0) {
			require_refusal(&err, size);
			continue;
		}
		require(event.attr && event.offset < size && event.time >= time);
		require(event.attr == perf_reader_event(reader, event.attr->number));
		time = event.time;
		values += event.type == PERF_RECORD_SAMPLE && event.sample.values.words;
		sum += touch_event(&event) + strlen(event.attr->name);
	}
	/* a sample that carries values is delivered for each of them, or for none */
	require(calls - values <= perf_reader_stats(reader)->events);
	require(any_values(reader) || calls == perf_reader_stats(reader)->events);
	return sum;
}

static uint64_t touch_features(const struct perf_reader *reader)
{
	uint64_t sum = 0;
	const char *string;

	for (unsigned int i = 0; i <= PERF_FILE_FEATURES; i++) {
		struct perf_span feature = perf_reader_feature(reader, i);

		if (!feature.data)
			continue;
		sum += touch(feature.data, feature.size);
		if (!perf_feature_string(feature, &string))
			sum += strlen(string);
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bobbin_error err = {0};
	struct perf_reader *reader;
	volatile uint64_t sum;

	if (perf_reader_open_bytes(data, size, &err, &reader)) {
		require_refusal(&err, size);
		return 0;
	}
	sum = touch_events(reader, size) + touch_features(reader);
	(void)sum;
	perf_reader_close(reader);
	return 0;
}
