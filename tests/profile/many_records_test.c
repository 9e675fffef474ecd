/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How perf_reader reads files with many records: in order, and in little memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "read_image.h"

static const struct perf_event_attr simple = {.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
					      .sample_id_all = 1};
static const uint8_t bulk[8000];

/* @more: bytes that nobody reads */
static void put_sample(struct perf_image *image, uint32_t tid, uint64_t time, size_t more)
{
	perf_image_record(image, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	byte_buffer_native32(&image->file, tid);
	byte_buffer_native32(&image->file, tid);
	perf_image_u64(image, time);
	byte_buffer_put(&image->file, bulk, more);
	perf_image_record_end(image);
}

static void assert_end(struct perf_reader *reader)
{
	struct perf_event event;

	assert_int_equal(perf_reader_next(reader, NULL, &event), 0);
}

/* Rounds of records that are in order among themselves; @late: the oldest one is the last one. */
static void assert_many_are_sorted(unsigned int rounds, bool late)
{
	const unsigned int each = 1000;
	struct perf_image image = perf_image_begin(&simple, sizeof(simple));
	struct perf_reader *reader;
	uint64_t last = 0;

	for (unsigned int i = 0; i < rounds * each; i++)
		put_sample(&image, 7, 2 + i / each * each + (i * 7) % each, 0);
	if (late)
		put_sample(&image, 8, 1, 0);
	perf_image_end(&image);
	reader = open_image(&image);
	if (late)
		assert_int_equal(next(reader).tid, 8);
	for (unsigned int i = 0; i < rounds * each; i++) {
		const uint64_t time = next(reader).time;

		assert_true(time > last);
		last = time;
	}
	assert_end(reader);
	close_all(reader, &image);
}

static void many_events_come_in_the_order_of_time(void **state)
{
	assert_many_are_sorted(300, false);
	assert_many_are_sorted(300, true);
}

/* Of files, and of those in memory, that are mapped here, in KiB. */
static unsigned long mapped_memory(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	unsigned long sum = 0, kib;
	char line[256];

	assert_non_null(status);
	while (fgets(line, sizeof(line), status))
		if (sscanf(line, "RssFile: %lu", &kib) == 1 ||
		    sscanf(line, "RssShmem: %lu", &kib) == 1)
			sum += kib;
	fclose(status);
	return sum;
}

static void what_was_read_of_a_file_takes_no_memory(void **state)
{
	const unsigned int nr = 12000, most = 64 << 10;
	struct perf_image image = perf_image_begin(&simple, sizeof(simple));
	FILE *file = tmpfile();
	struct perf_reader *reader;
	unsigned long before;
	char path[32];

	assert_non_null(file);
	for (unsigned int i = 0; i < nr; i++)
		put_sample(&image, i, i + 1, sizeof(bulk));
	perf_image_end(&image);
	assert_true(image.file.size > (size_t)most << 10);
	assert_int_equal(fwrite(image.file.data, image.file.size, 1, file), 1);
	assert_int_equal(fflush(file), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));

	before = mapped_memory();
	assert_int_equal(perf_reader_open(path, NULL, &reader), 0);
	assert_true(mapped_memory() < before + most);
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(next(reader).tid, i);
	assert_end(reader);
	assert_true(mapped_memory() < before + most);
	fclose(file);
	close_all(reader, &image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_events_come_in_the_order_of_time),
		cmocka_unit_test(what_was_read_of_a_file_takes_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
