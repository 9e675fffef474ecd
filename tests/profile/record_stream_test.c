/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording that comes through a pipe in pieces of any size is read as it was written.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile/perf_reader.h"
#include "profile/perf_writer.h"
#include "profile/record_stream.h"

#define SAMPLES 200
#define PIPE_BYTES (1 << 20)

static const uint64_t ids[] = {10};
static const struct sample_event cpu_clock = {
	.attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK},
	.name = "cpu-clock",
	.ids = ids,
	.nr_ids = 1,
};

/* What a recorder writes to a pipe, rounds among it. */
static size_t write_recording(uint8_t *ret)
{
	struct perf_event sample = {.type = PERF_RECORD_SAMPLE, .pid = 1, .tid = 2, .id = 10};
	struct perf_writer *writer;
	size_t size = 0;
	char path[32];
	int ends[2];
	ssize_t n;

	assert_int_equal(pipe(ends), 0);
	assert_true(fcntl(ends[0], F_SETPIPE_SZ, PIPE_BYTES) > 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[1]);
	assert_int_equal(perf_writer_open(path, &cpu_clock, 1, &writer), 0);
	close(ends[1]);
	for (uint64_t i = 0; i < SAMPLES; i++) {
		uint64_t chain[8] = {PERF_CONTEXT_USER};

		sample.time = 1000 + i;
		sample.sample.callchain = chain;
		sample.sample.callchain_nr = 1 + i % 7;
		assert_int_equal(perf_writer_put(writer, &sample), 0);
		if (i % 10 == 9)
			assert_int_equal(perf_writer_round(writer), 0);
	}
	assert_int_equal(perf_writer_finish(writer, NULL), 0);
	while ((n = read(ends[0], ret + size, PIPE_BYTES - size)) > 0)
		size += (size_t)n;
	close(ends[0]);
	return size;
}

/* The end to read from of a pipe that a child writes so many bytes to at once. */
static int write_in_pieces(const uint8_t *bytes, size_t size, size_t piece)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	if (!fork()) {
		for (size_t at = 0; at < size; at += piece) {
			size_t n = size - at < piece ? size - at : piece;

			if (write(ends[1], bytes + at, n) != (ssize_t)n)
				_exit(1);
		}
		_exit(0);
	}
	close(ends[1]);
	return ends[0];
}

/* The samples of a piece come in order; so many were seen before. */
static void read_piece(const void *data, size_t size, uint64_t *seen)
{
	struct perf_reader *reader;
	struct perf_event event;

	assert_int_equal(perf_reader_open_bytes(data, size, NULL, &reader), 0);
	assert_false(perf_reader_truncated(reader));
	while (perf_reader_next(reader, NULL, &event) > 0) {
		assert_int_equal(event.type, PERF_RECORD_SAMPLE);
		assert_string_equal(event.attr->name, "cpu-clock");
		assert_int_equal(event.time, 1000 + *seen);
		assert_int_equal(event.sample.callchain_nr, 1 + *seen % 7);
		++*seen;
	}
	perf_reader_close(reader);
}

static void all_records_arrive_whatever_the_size_of_the_pieces(void **state)
{
	uint8_t *bytes = malloc(PIPE_BYTES);
	size_t size = write_recording(bytes);

	for (size_t piece = 1; piece < 2 * size; piece = piece * 3 + 1) {
		struct record_stream stream = {.fd = write_in_pieces(bytes, size, piece)};
		const void *data;
		uint64_t seen = 0;
		size_t got;
		int r;

		while ((r = record_stream_next(&stream, &data, &got)) > 0)
			read_piece(data, got, &seen);
		assert_int_equal(r, 0);
		assert_int_equal(seen, SAMPLES);
		close(stream.fd);
		record_stream_fini(&stream);
		wait(NULL);
	}
	free(bytes);
}

static int read_all(const void *bytes, size_t size)
{
	struct record_stream stream = {.fd = write_in_pieces(bytes, size, size)};
	const void *data;
	size_t got;
	int r;

	while ((r = record_stream_next(&stream, &data, &got)) > 0)
		;
	close(stream.fd);
	record_stream_fini(&stream);
	wait(NULL);
	return r;
}

static void what_is_no_recording_is_refused(void **state)
{
	uint8_t *bytes = malloc(PIPE_BYTES);
	size_t size = write_recording(bytes);
	const uint16_t nothing = 0;

	assert_int_equal(read_all("no recording at all", 19), -EBADMSG);
	/* the size of the first record */
	memcpy(bytes + 16 + 6, &nothing, sizeof(nothing));
	assert_int_equal(read_all(bytes, size), -EBADMSG);
	free(bytes);
}

static void a_stream_that_ends_early_has_no_records(void **state)
{
	uint8_t *bytes = malloc(PIPE_BYTES);

	write_recording(bytes);
	assert_int_equal(read_all(bytes, 15), 0);
	assert_int_equal(read_all(bytes, 40), 0);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_records_arrive_whatever_the_size_of_the_pieces),
		cmocka_unit_test(what_is_no_recording_is_refused),
		cmocka_unit_test(a_stream_that_ends_early_has_no_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
