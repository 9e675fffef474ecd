/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How perf_reader reads files that perf cannot make here: rare fields, newer formats, damage.
 * The files are written by the tests.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#include "base/block_store.h"
#include "read_image.h"

#define SAMPLE_TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

static const struct perf_event_attr simple = {.sample_type = SAMPLE_TYPE, .sample_id_all = 1};

static void assert_refused(const struct perf_image *image, enum bobbin_reason reason,
			   uint64_t offset)
{
	struct bobbin_error err = {0};
	struct perf_reader *reader = NULL;

	assert_int_equal(perf_reader_open_bytes(image->file.data, image->file.size, &err, &reader),
			 -EBADMSG);
	assert_null(reader);
	assert_int_equal(err.reason, reason);
	assert_int_equal(err.offset, offset);
}

static void assert_end(struct perf_reader *reader)
{
	struct perf_event event;

	assert_int_equal(perf_reader_next(reader, NULL, &event), 0);
}

static void put_sample(struct perf_image *image, uint32_t tid, uint64_t time)
{
	perf_image_record(image, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	byte_buffer_native32(&image->file, tid);
	byte_buffer_native32(&image->file, tid);
	perf_image_u64(image, time);
	perf_image_record_end(image);
}

static void attributes_of_any_size_are_read(void **state)
{
	static const uint32_t sizes[] = {64, 72, 112, 136, 144, 4096};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct perf_image image = perf_image_begin(&simple, sizes[i]);
		struct perf_reader *reader;
		struct perf_event event;

		put_sample(&image, 7, 100);
		perf_image_end(&image);
		reader = open_image(&image);
		event = next(reader);
		assert_int_equal(event.attr->attr.sample_type, SAMPLE_TYPE);
		assert_int_equal(event.attr->attr.size, sizes[i]);
		assert_int_equal(event.tid, 7);
		assert_end(reader);
		assert_false(perf_reader_truncated(reader));
		close_all(reader, &image);
	}
}

static void too_small_an_attribute_is_refused(void **state)
{
	struct perf_image image = perf_image_begin(&simple, 56);

	perf_image_end(&image);
	assert_refused(&image, BOBBIN_REASON_PERF_ATTR, sizeof(struct perf_file_header));
	byte_buffer_fini(&image.file);
}

static void every_field_of_a_sample_is_parsed_in_its_place(void **state)
{
	const struct perf_event_attr attr = {
		.sample_type = (1ull << 25) - 1,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_LOST |
			       PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX | PERF_FILE_BRANCH_COUNTERS,
		.sample_regs_user = 0x8000000000000005,
		.sample_regs_intr = 3,
	};
	struct perf_image image = perf_image_begin(&attr, sizeof(attr));
	/* clang-format off */
	const uint64_t words[] = {
		0x10 /* identifier */, 0x11 /* ip */, 0x0000001300000012 /* pid, tid */,
		0x14 /* time */, 0x15 /* addr */, 0x10 /* id */, 0x16 /* stream */,
		0x17 /* cpu */, 0x18 /* period */,
		2, 0, 0, 0, 0, 0, 0 /* read: nr, two times, two of value and lost */,
		3, PERF_CONTEXT_USER, 0x21, 0x22 /* call chain */,
		0x313131310000000c, 0x3131313131313131 /* raw: u32 12, 12 bytes */,
		1, 0, 1, 2, 3, 4 /* branches: nr, index, from, to, flags, counter */,
		PERF_SAMPLE_REGS_ABI_64, 0x41, 0x42, 0x43 /* user registers */,
		16, 0x5151515151515151, 0x5252525252525252, 8 /* stack */,
		0 /* weight */, 0 /* source */, 0 /* transaction */,
		PERF_SAMPLE_REGS_ABI_64, 0, 0 /* registers at the interrupt */,
		0 /* physical */, 0x61 /* cgroup */, 0 /* data page */, 0 /* code page */,
		8, 0 /* aux */
	};
	/* clang-format on */
	struct perf_reader *reader;
	struct perf_event event;
	uint64_t value;

	perf_image_record(&image, PERF_RECORD_SAMPLE, 0);
	byte_buffer_put(&image.file, words, sizeof(words));
	perf_image_record_end(&image);
	/* The same, one word short. */
	perf_image_record(&image, PERF_RECORD_SAMPLE, 0);
	byte_buffer_put(&image.file, words, sizeof(words) - 8);
	perf_image_record_end(&image);
	perf_image_end(&image);

	reader = open_image(&image);
	event = next(reader);
	assert_int_equal(event.id, 0x10);
	assert_int_equal(event.sample.ip, 0x11);
	assert_int_equal(event.pid, 0x12);
	assert_int_equal(event.tid, 0x13);
	assert_int_equal(event.time, 0x14);
	assert_int_equal(event.cpu, 0x17);
	assert_int_equal(event.sample.period, 0x18);
	assert_int_equal(event.sample.callchain_nr, 3);
	assert_int_equal(event.sample.callchain[2], 0x22);
	assert_int_equal(event.sample.raw_size, 12);
	assert_memory_equal(event.sample.raw, "111111111111", 12);
	assert_int_equal(event.sample.regs_abi, PERF_SAMPLE_REGS_ABI_64);
	assert_true(perf_sample_reg(&event.sample, 2, &value));
	assert_int_equal(value, 0x42);
	assert_true(perf_sample_reg(&event.sample, 63, &value));
	assert_int_equal(value, 0x43);
	assert_false(perf_sample_reg(&event.sample, 1, &value));
	assert_int_equal(event.sample.stack_size, 16);
	assert_int_equal(event.sample.dyn_size, 8);
	assert_memory_equal(event.sample.stack, "QQQQQQQQRRRRRRRR", 16);
	assert_int_equal(event.sample.cgroup, 0x61);
	assert_int_equal(perf_reader_next(reader, NULL, &event), -EBADMSG);
	close_all(reader, &image);
}

static void sample_without_user_registers_has_none(void **state)
{
	const struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = 0xff,
	};
	struct perf_image image = perf_image_begin(&attr, sizeof(attr));
	struct perf_reader *reader;
	struct perf_event event;
	uint64_t value;

	perf_image_record(&image, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	perf_image_u64(&image, PERF_SAMPLE_REGS_ABI_NONE);
	perf_image_u64(&image, 0);
	perf_image_record_end(&image);
	perf_image_end(&image);
	reader = open_image(&image);
	event = next(reader);
	assert_null(event.sample.regs);
	assert_null(event.sample.stack);
	assert_false(perf_sample_reg(&event.sample, 0, &value));
	close_all(reader, &image);
}

static void stack_copy_cannot_hold_more_than_its_size(void **state)
{
	const struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_STACK_USER};
	struct perf_image image = perf_image_begin(&attr, sizeof(attr));
	struct perf_reader *reader;
	struct perf_event event;

	for (uint64_t dyn_size = 8; dyn_size < 10; dyn_size++) {
		perf_image_record(&image, PERF_RECORD_SAMPLE, 0);
		perf_image_u64(&image, 8);
		perf_image_u64(&image, 0);
		perf_image_u64(&image, dyn_size);
		perf_image_record_end(&image);
	}
	perf_image_end(&image);
	reader = open_image(&image);
	assert_int_equal(next(reader).sample.dyn_size, 8);
	assert_int_equal(perf_reader_next(reader, NULL, &event), -EBADMSG);
	close_all(reader, &image);
}

static void bad_record_is_named_and_passed_over(void **state)
{
	const struct perf_event_attr attr = {.sample_type = SAMPLE_TYPE | PERF_SAMPLE_CALLCHAIN};
	struct perf_image image = perf_image_begin(&attr, sizeof(attr));
	struct bobbin_error err = {0};
	struct perf_reader *reader;
	struct perf_event event;
	size_t bad;

	perf_image_record(&image, PERF_RECORD_SAMPLE, 0);
	perf_image_u64(&image, 0);
	perf_image_u64(&image, 5);
	perf_image_u64(&image, 1ull << 61); /* times eight is nothing */
	perf_image_record_end(&image);
	bad = image.record;
	perf_image_record(&image, PERF_RECORD_SAMPLE, 0);
	perf_image_u64(&image, 0);
	perf_image_u64(&image, 6);
	perf_image_u64(&image, 0);
	perf_image_record_end(&image);
	perf_image_end(&image);
	reader = open_image(&image);
	assert_int_equal(perf_reader_next(reader, &err, &event), -EBADMSG);
	assert_int_equal(err.reason, BOBBIN_REASON_PERF_RECORD);
	assert_int_equal(err.offset, bad);
	assert_int_equal(next(reader).time, 6);
	assert_end(reader);
	close_all(reader, &image);
}

static void record_smaller_than_its_header_is_refused(void **state)
{
	struct perf_image image = perf_image_begin(&simple, sizeof(simple));

	put_sample(&image, 1, 1);
	perf_image_record(&image, PERF_RECORD_SAMPLE, 0);
	put_sample(&image, 1, 2);
	perf_image_end(&image);
	assert_refused(&image, BOBBIN_REASON_PERF_RECORD, image.record - 8);
	byte_buffer_fini(&image.file);
}

static void events_come_in_the_order_of_time(void **state)
{
	/* One CPU after the other; events of the same time stay in order. */
	static const uint64_t times[] = {30, 40, 50, 10, 30, 60, 20};
	static const uint32_t order[] = {3, 6, 0, 4, 1, 2, 5};
	struct perf_image image = perf_image_begin(&simple, sizeof(simple));
	struct perf_reader *reader;

	for (uint32_t i = 0; i < 7; i++)
		put_sample(&image, i, times[i]);
	perf_image_end(&image);
	reader = open_image(&image);
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(next(reader).tid, order[i]);
	assert_end(reader);
	close_all(reader, &image);
}

static void put_comm(struct perf_image *image, const char name[8], uint64_t time)
{
	perf_image_record(image, PERF_RECORD_COMM, 0);
	perf_image_u64(image, 0);
	byte_buffer_put(&image->file, name, 8);
	perf_image_u64(image, 0);
	perf_image_u64(image, time);
	perf_image_record_end(image);
}

static void record_without_time_follows_its_predecessor(void **state)
{
	struct perf_image image = perf_image_begin(&simple, sizeof(simple));
	struct perf_reader *reader;
	struct perf_event event;

	put_comm(&image, "first\0\0", 0);
	put_sample(&image, 2, 70);
	put_comm(&image, "third\0\0", 0);
	put_sample(&image, 1, 60);
	perf_image_end(&image);
	reader = open_image(&image);
	event = next(reader);
	assert_string_equal(event.comm.comm, "first");
	assert_int_equal(event.time, 0);
	assert_int_equal(next(reader).time, 60);
	assert_int_equal(next(reader).time, 70);
	event = next(reader);
	assert_string_equal(event.comm.comm, "third");
	assert_int_equal(event.time, 70);
	close_all(reader, &image);
}

static void string_without_an_end_is_a_bad_record(void **state)
{
	struct perf_image image = perf_image_begin(&simple, sizeof(simple));
	struct perf_reader *reader;
	struct perf_event event;

	put_comm(&image, "eightchr", 5);
	perf_image_end(&image);
	reader = open_image(&image);
	assert_int_equal(perf_reader_next(reader, NULL, &event), -EBADMSG);
	close_all(reader, &image);
}

static void lost_records_are_counted_but_not_lost_samples(void **state)
{
	const struct perf_event_attr attr = {.sample_type = SAMPLE_TYPE};
	struct perf_image image = perf_image_begin(&attr, sizeof(attr));
	struct perf_reader *reader;

	perf_image_record(&image, PERF_RECORD_LOST, 0);
	perf_image_u64(&image, 0);
	perf_image_u64(&image, 11);
	perf_image_record_end(&image);
	perf_image_record(&image, PERF_RECORD_LOST_SAMPLES, 0);
	perf_image_u64(&image, 22);
	perf_image_record_end(&image);
	perf_image_end(&image);
	reader = open_image(&image);
	assert_int_equal(perf_reader_stats(reader)->lost, 11);
	assert_int_equal(next(reader).lost, 11);
	assert_int_equal(next(reader).lost, 22);
	close_all(reader, &image);
}

static void unknown_records_are_skipped(void **state)
{
	struct perf_image image = perf_image_begin(&simple, sizeof(simple));
	struct perf_reader *reader;

	perf_image_record(&image, 40, 0);
	perf_image_u64(&image, 1);
	perf_image_record_end(&image);
	perf_image_record(&image, 5000, 0);
	perf_image_record_end(&image);
	perf_image_record(&image, PERF_FILE_FINISHED_ROUND, 0);
	perf_image_record_end(&image);
	put_sample(&image, 3, 3);
	perf_image_end(&image);
	reader = open_image(&image);
	assert_int_equal(next(reader).tid, 3);
	assert_end(reader);
	close_all(reader, &image);
}

static void payload_after_a_record_is_skipped(void **state)
{
	struct perf_image image = perf_image_begin(&simple, sizeof(simple));
	struct perf_reader *reader;

	perf_image_record(&image, PERF_FILE_AUXTRACE, 0);
	perf_image_u64(&image, 100000);
	for (int i = 0; i < 4; i++)
		perf_image_u64(&image, 0);
	perf_image_record_end(&image);
	for (int i = 0; i < 100000 / 4; i++)
		byte_buffer_native32(&image.file, 0x00010001);
	perf_image_record(&image, PERF_FILE_TRACING_DATA, 0);
	perf_image_u64(&image, 5); /* five bytes and three of padding */
	perf_image_record_end(&image);
	perf_image_u64(&image, 0x0001000100010001);
	put_sample(&image, 3, 3);
	perf_image_end(&image);
	reader = open_image(&image);
	assert_int_equal(next(reader).tid, 3);
	assert_end(reader);
	assert_false(perf_reader_truncated(reader));
	close_all(reader, &image);
}

static void unaligned_records_are_delivered_aligned(void **state)
{
	const struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_CALLCHAIN};
	struct perf_image image = perf_image_begin(&attr, sizeof(attr));
	struct perf_reader *reader;
	struct perf_event event;

	perf_image_record(&image, 40, 0);
	byte_buffer_put(&image.file, "odd", 3);
	perf_image_record_end(&image);
	perf_image_record(&image, PERF_RECORD_SAMPLE, 0);
	perf_image_u64(&image, 2);
	perf_image_u64(&image, PERF_CONTEXT_USER);
	perf_image_u64(&image, 0x1234);
	perf_image_record_end(&image);
	perf_image_end(&image);
	reader = open_image(&image);
	event = next(reader);
	assert_int_equal((uintptr_t)event.sample.callchain % 8, 0);
	assert_int_equal(event.sample.callchain[1], 0x1234);
	close_all(reader, &image);
}

static void time_of_a_deferred_call_chain_is_read(void **state)
{
	struct perf_image image = perf_image_begin(&simple, sizeof(simple));
	struct perf_reader *reader;
	struct perf_event event;

	perf_image_record(&image, PERF_FILE_CALLCHAIN_DEFERRED, PERF_RECORD_MISC_USER);
	perf_image_u64(&image, 0xc00c1e);
	perf_image_u64(&image, 1);
	perf_image_u64(&image, 0x1234);
	byte_buffer_native32(&image.file, 4);
	byte_buffer_native32(&image.file, 5);
	perf_image_u64(&image, 6);
	perf_image_record_end(&image);
	perf_image_end(&image);
	reader = open_image(&image);
	event = next(reader);
	assert_int_equal(event.type, PERF_FILE_CALLCHAIN_DEFERRED);
	assert_int_equal(event.tid, 5);
	assert_int_equal(event.time, 6);
	close_all(reader, &image);
}

static void killed_recording_is_read_up_to_its_end(void **state)
{
	struct perf_image image = perf_image_begin(&simple, sizeof(simple));
	struct perf_reader *reader;
	uint64_t flags = ~0ull;

	put_sample(&image, 1, 1);
	put_sample(&image, 2, 2);
	image.file.size -= 4;
	memcpy(image.file.data + offsetof(struct perf_file_header, features), &flags, 8);
	reader = open_image(&image);
	assert_true(perf_reader_truncated(reader));
	assert_int_equal(perf_reader_stats(reader)->events, 1);
	assert_int_equal(next(reader).tid, 1);
	assert_end(reader);
	assert_null(perf_reader_feature(reader, PERF_FILE_HOSTNAME).data);
	close_all(reader, &image);
}

static void file_without_its_features_is_read(void **state)
{
	struct perf_image image = perf_image_begin(&simple, sizeof(simple));
	struct perf_reader *reader;
	uint64_t flags = 1 << PERF_FILE_HOSTNAME;

	put_sample(&image, 1, 1);
	perf_image_end(&image);
	memcpy(image.file.data + offsetof(struct perf_file_header, features), &flags, 8);
	reader = open_image(&image);
	assert_true(perf_reader_truncated(reader));
	assert_int_equal(next(reader).tid, 1);
	close_all(reader, &image);
}

static void what_is_no_recording_is_refused_by_name(void **state)
{
	struct perf_image image = perf_image_begin(&simple, sizeof(simple));
	uint64_t swapped = PERF_FILE_MAGIC_SWAPPED, size = 20;

	perf_image_end(&image);
	memcpy(image.file.data, &swapped, 8);
	assert_refused(&image, BOBBIN_REASON_PERF_ENDIAN, 0);
	memcpy(image.file.data, "PERFFILE", 8);
	assert_refused(&image, BOBBIN_REASON_PERF_MAGIC, 0);
	memcpy(image.file.data, "PERFILE2", 8);
	memcpy(image.file.data + 8, &size, 8);
	assert_refused(&image, BOBBIN_REASON_PERF_HEADER, 8);
	image.file.size = 8;
	assert_refused(&image, BOBBIN_REASON_TRUNCATED, 8);
	image.file.size = 0;
	assert_refused(&image, BOBBIN_REASON_PERF_MAGIC, 0);
	byte_buffer_fini(&image.file);
}

static void recording_without_events_is_refused(void **state)
{
	struct byte_buffer file = {0};
	struct perf_image image;

	byte_buffer_native64(&file, PERF_FILE_MAGIC);
	byte_buffer_native64(&file, PERF_FILE_PIPE_HEADER_SIZE);
	image = (struct perf_image){.file = file};
	assert_refused(&image, BOBBIN_REASON_PERF_ATTR, 16);
	byte_buffer_fini(&file);
}

static void directories_pipes_and_missing_files_are_refused(void **state)
{
	struct bobbin_error err = {.reason = BOBBIN_REASON_PERF_ATTR};
	struct perf_reader *reader;
	char path[32];
	int fds[2];

	assert_int_equal(perf_reader_open("/", &err, &reader), -EISDIR);
	assert_int_equal(err.reason, BOBBIN_REASON_NONE);
	assert_int_equal(perf_reader_open("/nowhere/at/all", NULL, &reader), -ENOENT);
	assert_int_equal(pipe(fds), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	assert_int_equal(perf_reader_open(path, NULL, &reader), -ESPIPE);
	assert_int_equal(perf_reader_open("/dev/null", NULL, &reader), -ESPIPE);
	close(fds[0]);
	close(fds[1]);
	perf_reader_close(NULL);
}

/* pipes */

static void put_pipe_attr(struct byte_buffer *file, uint64_t sample_type, uint64_t id)
{
	struct perf_event_header header = {.type = PERF_FILE_ATTR};
	struct perf_event_attr attr = {.size = sizeof(attr), .sample_type = sample_type};

	header.size = sizeof(header) + sizeof(attr) + 8;
	byte_buffer_put(file, &header, sizeof(header));
	byte_buffer_put(file, &attr, sizeof(attr));
	byte_buffer_native64(file, id);
}

static void put_id_sample(struct perf_image *image, uint64_t id)
{
	perf_image_record(image, PERF_RECORD_SAMPLE, 0);
	perf_image_u64(image, id);
	perf_image_record_end(image);
}

static void samples_of_a_pipe_are_told_apart_by_id(void **state)
{
	struct perf_image image = {0};
	const struct perf_reader_attr *second;
	struct perf_reader *reader;

	byte_buffer_native64(&image.file, PERF_FILE_MAGIC);
	byte_buffer_native64(&image.file, PERF_FILE_PIPE_HEADER_SIZE);
	put_pipe_attr(&image.file, PERF_SAMPLE_IDENTIFIER, 100);
	put_pipe_attr(&image.file, PERF_SAMPLE_IDENTIFIER, 200);
	put_id_sample(&image, 200);
	put_id_sample(&image, 300);
	put_id_sample(&image, 100);
	put_id_sample(&image, 0);
	reader = open_image(&image);
	second = next(reader).attr;
	assert_ptr_equal(next(reader).attr, second - 1);
	assert_ptr_equal(next(reader).attr, second - 1);
	assert_end(reader);
	close_all(reader, &image);
}

static void events_that_cannot_be_told_apart_are_refused(void **state)
{
	struct perf_image image = {0};

	byte_buffer_native64(&image.file, PERF_FILE_MAGIC);
	byte_buffer_native64(&image.file, PERF_FILE_PIPE_HEADER_SIZE);
	put_pipe_attr(&image.file, PERF_SAMPLE_TID, 100);
	put_pipe_attr(&image.file, PERF_SAMPLE_TIME, 200);
	assert_refused(&image, BOBBIN_REASON_PERF_ATTR,
		       16 + 8 + sizeof(struct perf_event_attr) + 8);
	byte_buffer_fini(&image.file);
}

/* compression */

/* Samples with 8000 bytes each that zstd can do nothing about, or all. */
static void put_bulk(struct perf_image *records, unsigned int nr, bool dense)
{
	uint32_t state = 1;

	for (unsigned int i = 0; i < nr; i++) {
		perf_image_record(records, PERF_RECORD_SAMPLE, 0);
		byte_buffer_native32(&records->file, i);
		byte_buffer_native32(&records->file, i);
		perf_image_u64(records, i + 1);
		for (unsigned int j = 0; j < 2000; j++) {
			state = state * 1664525 + 1013904223;
			byte_buffer_native32(&records->file, dense ? state ^ state >> 13 : 0);
		}
		perf_image_record_end(records);
	}
}

static struct byte_buffer compress(const struct byte_buffer *plain)
{
	struct byte_buffer packed = {.capacity = ZSTD_compressBound(plain->size)};

	packed.data = malloc(packed.capacity);
	packed.size = ZSTD_compress(packed.data, packed.capacity, plain->data, plain->size, 1);
	assert_false(ZSTD_isError(packed.size));
	return packed;
}

static void assert_bulk(const struct perf_image *image, unsigned int nr)
{
	struct perf_reader *reader = open_image(image);

	for (unsigned int i = 0; i < nr; i++) {
		struct perf_event event = next(reader);

		assert_int_equal(event.tid, i);
		assert_in_range(event.offset, image->data, image->file.size - 1);
	}
	assert_end(reader);
	assert_false(perf_reader_truncated(reader));
	perf_reader_close(reader);
}

/* Pieces as odd as can be: a record of the file for each @step bytes. */
static void put_pieces(struct perf_image *image, const struct byte_buffer *packed, size_t step)
{
	for (size_t i = 0; i < packed->size; i += step) {
		perf_image_record(image, PERF_FILE_COMPRESSED, 0);
		byte_buffer_put(&image->file, packed->data + i,
				packed->size - i < step ? packed->size - i : step);
		perf_image_record_end(image);
	}
}

static void assert_inflated(unsigned int nr, bool dense, size_t step)
{
	struct perf_image image = perf_image_begin(&simple, sizeof(simple)), records = {0};
	struct byte_buffer packed;

	put_bulk(&records, nr, dense);
	packed = compress(&records.file);
	put_pieces(&image, &packed, step);
	perf_image_end(&image);
	assert_bulk(&image, nr);
	byte_buffer_fini(&packed);
	byte_buffer_fini(&records.file);
	byte_buffer_fini(&image.file);
}

static void compressed_records_may_be_cut_anywhere(void **state)
{
	assert_inflated(300, false, 1);
	assert_inflated(300, true, 7);
	assert_inflated(300, true, 1000);
	assert_inflated(300, true, 65000);
}

static void more_than_fits_in_memory_is_inflated(void **state)
{
	assert_inflated(2 * BLOCKS_IN_MEMORY * STORED_BLOCK / 8000, true, 65000);
}

/* As perf since Linux 6.16 writes it, padded if the size allows it. */
static void put_compressed2(struct perf_image *image, const struct byte_buffer *packed)
{
	size_t full = 65519, first = packed->size < full ? packed->size : full;
	size_t total = packed->size;

	for (size_t i = full; i < packed->size; i += full)
		total += 16;
	perf_image_record(image, PERF_FILE_COMPRESSED2, 0);
	perf_image_u64(image, total);
	byte_buffer_put(&image->file, packed->data, first);
	if (16 + total <= UINT16_MAX - 7)
		byte_buffer_zeroes(&image->file, -total & 7);
	perf_image_record_end(image);
	for (size_t i = full; i < packed->size; i += full) {
		size_t size = packed->size - i < full ? packed->size - i : full;
		struct perf_event_header header = {PERF_FILE_COMPRESSED2, 0, (uint16_t)(16 + size)};

		byte_buffer_put(&image->file, &header, sizeof(header));
		perf_image_u64(image, 0xdeadbeefdeadbeef);
		byte_buffer_put(&image->file, packed->data + i, size);
	}
}

static void second_kind_of_compressed_record_is_read_even_if_oversized(void **state)
{
	static const unsigned int counts[] = {2, 30, 100};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct perf_image image = perf_image_begin(&simple, sizeof(simple)), records = {0};
		struct byte_buffer packed;

		put_bulk(&records, counts[i], true);
		packed = compress(&records.file);
		put_compressed2(&image, &packed);
		perf_image_end(&image);
		assert_bulk(&image, counts[i]);
		byte_buffer_fini(&packed);
		byte_buffer_fini(&records.file);
		byte_buffer_fini(&image.file);
	}
}

static void damaged_compression_is_refused(void **state)
{
	struct perf_image image = perf_image_begin(&simple, sizeof(simple));

	put_sample(&image, 1, 1);
	perf_image_record(&image, PERF_FILE_COMPRESSED, 0);
	byte_buffer_put(&image.file, "this is no zstd stream", 22);
	perf_image_record_end(&image);
	perf_image_end(&image);
	assert_refused(&image, BOBBIN_REASON_PERF_COMPRESSED, image.record);
	byte_buffer_fini(&image.file);
}

static void more_than_any_recording_inflates_to_is_refused(void **state)
{
	struct perf_image image = perf_image_begin(&simple, sizeof(simple)), records = {0};
	struct byte_buffer packed;
	struct perf_event_header header = {.type = PERF_RECORD_SWITCH, .size = 65528};

	for (int i = 0; i < 2000; i++) {
		byte_buffer_put(&records.file, &header, sizeof(header));
		byte_buffer_zeroes(&records.file, 65520);
	}
	packed = compress(&records.file);
	assert_true(packed.size * 2000 < records.file.size);
	put_pieces(&image, &packed, 65000);
	perf_image_end(&image);
	assert_refused(&image, BOBBIN_REASON_PERF_COMPRESSED, image.record);
	byte_buffer_fini(&packed);
	byte_buffer_fini(&records.file);
	byte_buffer_fini(&image.file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attributes_of_any_size_are_read),
		cmocka_unit_test(too_small_an_attribute_is_refused),
		cmocka_unit_test(every_field_of_a_sample_is_parsed_in_its_place),
		cmocka_unit_test(sample_without_user_registers_has_none),
		cmocka_unit_test(stack_copy_cannot_hold_more_than_its_size),
		cmocka_unit_test(bad_record_is_named_and_passed_over),
		cmocka_unit_test(record_smaller_than_its_header_is_refused),
		cmocka_unit_test(events_come_in_the_order_of_time),
		cmocka_unit_test(record_without_time_follows_its_predecessor),
		cmocka_unit_test(string_without_an_end_is_a_bad_record),
		cmocka_unit_test(lost_records_are_counted_but_not_lost_samples),
		cmocka_unit_test(unknown_records_are_skipped),
		cmocka_unit_test(payload_after_a_record_is_skipped),
		cmocka_unit_test(unaligned_records_are_delivered_aligned),
		cmocka_unit_test(time_of_a_deferred_call_chain_is_read),
		cmocka_unit_test(killed_recording_is_read_up_to_its_end),
		cmocka_unit_test(file_without_its_features_is_read),
		cmocka_unit_test(what_is_no_recording_is_refused_by_name),
		cmocka_unit_test(recording_without_events_is_refused),
		cmocka_unit_test(directories_pipes_and_missing_files_are_refused),
		cmocka_unit_test(samples_of_a_pipe_are_told_apart_by_id),
		cmocka_unit_test(events_that_cannot_be_told_apart_are_refused),
		cmocka_unit_test(compressed_records_may_be_cut_anywhere),
		cmocka_unit_test(more_than_fits_in_memory_is_inflated),
		cmocka_unit_test(second_kind_of_compressed_record_is_read_even_if_oversized),
		cmocka_unit_test(damaged_compression_is_refused),
		cmocka_unit_test(more_than_any_recording_inflates_to_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
