/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which event a sample is of: by what its recording says however it ended, and by the values of
 * counters that a group's leader carries.
 */
#include <errno.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile/perf_event.h"
#include "profile/perf_writer.h"
#include "read_image.h"

#define LEADER 100
#define OTHER 200
#define UNKNOWN 300

static const uint64_t leader_ids[] = {LEADER}, other_ids[] = {OTHER};

static void assert_name(const struct perf_event_attr *attr, const char *expected)
{
	char name[EVENT_NAME_SIZE];

	event_name_of(attr, name);
	assert_string_equal(name, expected);
}

static void event_without_a_name_is_called_as_perf_calls_it(void **state)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE};

	assert_name(&attr, "cycles");
	attr.exclude_user = 1;
	assert_name(&attr, "cycles:k");
	attr.exclude_kernel = 1;
	assert_name(&attr, "cycles");
	attr.exclude_user = 0;
	attr.config = 1000;
	assert_name(&attr, "hardware:0x3e8:u");
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	assert_name(&attr, "page-faults:u");
	attr.type = PERF_TYPE_TRACEPOINT;
	assert_name(&attr, "tracepoint:2");
	attr.type = 77;
	attr.exclude_kernel = 0;
	assert_name(&attr, "type-77:0x2");
}

/* The file of a recording that has not ended. */
static void open_unfinished(const char *folder, struct perf_reader **reader)
{
	char pattern[64];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/.data.*", folder);
	assert_int_equal(glob(pattern, GLOB_PERIOD, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 1);
	assert_int_equal(perf_reader_open(found.gl_pathv[0], NULL, reader), 0);
	globfree(&found);
}

static void names_are_there_before_a_recording_has_ended(void **state)
{
	/* nothing else tells these apart: times of waiting */
	const struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
					     .config = PERF_COUNT_SW_CONTEXT_SWITCHES,
					     .sample_period = 1};
	const struct sample_event events[] = {
		{.attr = attr, .name = "offcpu-time", .ids = leader_ids, .nr_ids = 1},
		{.attr = attr, .name = "preempted-time", .ids = other_ids, .nr_ids = 1},
	};
	char folder[] = "/tmp/event_identity_test.XXXXXX", path[64];
	struct perf_writer *writer;
	struct perf_reader *reader;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/data", folder);
	assert_int_equal(perf_writer_open(path, events, 2, &writer), 0);
	open_unfinished(folder, &reader);
	assert_true(perf_reader_truncated(reader));
	assert_string_equal(perf_reader_event(reader, 0)->name, "offcpu-time");
	assert_string_equal(perf_reader_event(reader, 1)->name, "preempted-time");
	assert_int_equal(perf_reader_event(reader, 1)->number, 1);
	assert_null(perf_reader_event(reader, 2));
	perf_reader_close(reader);
	perf_writer_abort(writer);
	assert_int_equal(rmdir(folder), 0);
}

/* A pipe's recording, which need not say how long it is. */
static struct perf_image begin_stream(void)
{
	struct perf_image image = {0};

	byte_buffer_native64(&image.file, PERF_FILE_MAGIC);
	byte_buffer_native64(&image.file, PERF_FILE_PIPE_HEADER_SIZE);
	return image;
}

static void put_event(struct perf_image *image, uint64_t config, uint64_t format, bool inherit,
		      uint64_t id)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = config,
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_READ,
		.read_format = format,
		.inherit = inherit,
	};

	perf_image_record(image, PERF_FILE_ATTR, 0);
	byte_buffer_put(&image->file, &attr, sizeof(attr));
	perf_image_u64(image, id);
	perf_image_record_end(image);
}

static void put_update(struct perf_image *image, uint64_t what, uint64_t id, const char *name,
		       size_t size)
{
	perf_image_record(image, PERF_FILE_EVENT_UPDATE, 0);
	perf_image_u64(image, what);
	perf_image_u64(image, id);
	byte_buffer_put(&image->file, name, size);
	perf_image_record_end(image);
}

static void name_that_makes_no_sense_is_none(void **state)
{
	struct perf_image image = begin_stream();
	struct perf_reader *reader;

	put_event(&image, PERF_COUNT_SW_CPU_CLOCK, 0, false, LEADER);
	put_update(&image, PERF_FILE_UPDATE_NAME, LEADER, "no end  ", 8);
	put_update(&image, PERF_FILE_UPDATE_NAME + 1, LEADER, "no name", 8);
	put_update(&image, PERF_FILE_UPDATE_NAME, UNKNOWN, "of none", 8);
	put_update(&image, PERF_FILE_UPDATE_NAME, LEADER, "\0\0\0\0\0\0\0", 8);
	reader = open_image(&image);
	assert_string_equal(perf_reader_event(reader, 0)->name, "cpu-clock");
	close_all(reader, &image);
}

static void put_words(struct perf_image *image, uint32_t tid, const uint64_t *words, size_t count)
{
	perf_image_record(image, PERF_RECORD_SAMPLE, 0);
	perf_image_u64(image, LEADER);
	byte_buffer_native32(&image->file, 1);
	byte_buffer_native32(&image->file, tid);
	perf_image_u64(image, 77);
	byte_buffer_put(&image->file, words, count * sizeof(*words));
	perf_image_record_end(image);
}

#define PUT(image, tid, ...) \
	put_words(image, tid, (const uint64_t[]){__VA_ARGS__}, \
		  sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

static void assert_sample(struct perf_reader *reader, uint64_t id, uint64_t period)
{
	struct perf_event event = next(reader);

	assert_int_equal(event.type, PERF_RECORD_SAMPLE);
	assert_int_equal(event.id, id);
	assert_int_equal(event.attr->number, id == OTHER);
	assert_int_equal(event.sample.period, period);
}

static void assert_end(struct perf_reader *reader)
{
	struct perf_event event;

	assert_int_equal(perf_reader_next(reader, NULL, &event), 0);
}

static void put_group(struct perf_image *image, uint64_t format, bool inherit)
{
	put_event(image, PERF_COUNT_SW_CPU_CLOCK, format, inherit, LEADER);
	put_event(image, PERF_COUNT_SW_PAGE_FAULTS, format, inherit, OTHER);
}

static void values_of_a_group_are_samples_of_its_events(void **state)
{
	struct perf_image image = begin_stream();
	struct perf_reader *reader;

	put_group(&image, PERF_FORMAT_GROUP | PERF_FORMAT_ID, false);
	PUT(&image, 1, 2, 1000, LEADER, 5, OTHER);
	/* what has counted nothing has no sample, nor has who is not known */
	PUT(&image, 2, 3, 2500, LEADER, 9, UNKNOWN, 5, OTHER);
	PUT(&image, 1, 2, 2500, LEADER, 12, OTHER);
	PUT(&image, 1, 0);
	/* set back */
	PUT(&image, 1, 2, 100, LEADER, 12, OTHER);
	reader = open_image(&image);
	assert_sample(reader, LEADER, 1000);
	assert_sample(reader, OTHER, 5);
	assert_sample(reader, LEADER, 1500);
	assert_sample(reader, OTHER, 7);
	assert_sample(reader, LEADER, 100);
	assert_end(reader);
	close_all(reader, &image);
}

static void times_and_losses_are_no_values(void **state)
{
	struct perf_image image = begin_stream();
	struct perf_reader *reader;

	put_group(&image,
		  PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST |
			  PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		  false);
	PUT(&image, 1, 2, 11, 12, 1000, LEADER, 13, 5, OTHER, 14);
	reader = open_image(&image);
	assert_sample(reader, LEADER, 1000);
	assert_sample(reader, OTHER, 5);
	assert_end(reader);
	close_all(reader, &image);
}

static void value_of_one_event_is_its_period(void **state)
{
	struct perf_image image = begin_stream();
	struct perf_reader *reader;

	put_group(&image, PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_LOST,
		  false);
	PUT(&image, 1, 1000, 11, LEADER, 13);
	PUT(&image, 1, 1700, 11, LEADER, 13);
	reader = open_image(&image);
	assert_sample(reader, LEADER, 1000);
	assert_sample(reader, LEADER, 700);
	assert_end(reader);
	close_all(reader, &image);
}

static void values_without_ids_are_passed_over(void **state)
{
	struct perf_image image = begin_stream();
	struct perf_reader *reader;

	put_group(&image, PERF_FORMAT_GROUP, false);
	PUT(&image, 1, 2, 1000, 5);
	reader = open_image(&image);
	assert_sample(reader, LEADER, 77);
	assert_end(reader);
	close_all(reader, &image);
}

static void threads_that_inherit_a_group_count_apart(void **state)
{
	struct perf_image image = begin_stream();
	struct perf_reader *reader;

	put_group(&image, PERF_FORMAT_GROUP | PERF_FORMAT_ID, true);
	PUT(&image, 1, 2, 1000, LEADER, 5, OTHER);
	PUT(&image, 2, 2, 1100, LEADER, 7, OTHER);
	PUT(&image, 1, 2, 1300, LEADER, 6, OTHER);
	reader = open_image(&image);
	assert_sample(reader, LEADER, 1000);
	assert_sample(reader, OTHER, 5);
	assert_sample(reader, LEADER, 1100);
	assert_sample(reader, OTHER, 7);
	assert_sample(reader, LEADER, 300);
	assert_sample(reader, OTHER, 1);
	assert_end(reader);
	close_all(reader, &image);
}

static void group_that_does_not_fit_its_record_is_refused(void **state)
{
	struct perf_image image = begin_stream();
	struct perf_reader *reader;
	struct perf_event event;

	put_group(&image, PERF_FORMAT_GROUP | PERF_FORMAT_ID, false);
	PUT(&image, 1, 3, 1000, LEADER, 5, OTHER);
	PUT(&image, 1, UINT64_MAX, 1000, LEADER, 5, OTHER);
	PUT(&image, 1, 2, 1000, LEADER, 5, OTHER);
	reader = open_image(&image);
	assert_int_equal(perf_reader_next(reader, NULL, &event), -EBADMSG);
	assert_int_equal(perf_reader_next(reader, NULL, &event), -EBADMSG);
	assert_sample(reader, LEADER, 1000);
	assert_sample(reader, OTHER, 5);
	assert_end(reader);
	close_all(reader, &image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(event_without_a_name_is_called_as_perf_calls_it),
		cmocka_unit_test(names_are_there_before_a_recording_has_ended),
		cmocka_unit_test(name_that_makes_no_sense_is_none),
		cmocka_unit_test(values_of_a_group_are_samples_of_its_events),
		cmocka_unit_test(times_and_losses_are_no_values),
		cmocka_unit_test(value_of_one_event_is_its_period),
		cmocka_unit_test(values_without_ids_are_passed_over),
		cmocka_unit_test(threads_that_inherit_a_group_count_apart),
		cmocka_unit_test(group_that_does_not_fit_its_record_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
