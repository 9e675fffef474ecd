/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records of recordings whose meaning depends on what else is recorded.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "read_image.h"

#define SAMPLE_TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

static const struct perf_event_attr simple = {.sample_type = SAMPLE_TYPE, .sample_id_all = 1};

/* As Linux marks it while another recording asks for build IDs, and as it is with one. */
static void a_build_id_is_told_from_a_device(void **state)
{
	static const struct {
		bool asked;
		uint64_t words[3]; /* device; inode; generation */
		unsigned int id_len;
	} cases[] = {
		{false, {254, 11002017, 7}, 0},
		{false, {8 | 1ull << 32, 11002017, 7}, 0},
		{false, {20 | 0xe4f30212ull << 32, 0x8123456789abcdef, 0x1122334455667788}, 20},
		{true, {20 | 0xe4f30212ull << 32, 0x8123456789abcdef, 0x1122334455667788}, 20},
		{true, {8 | 1ull << 32, 11002017, 7}, 8},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct perf_event_attr attr = {.sample_type = SAMPLE_TYPE,
						     .build_id = cases[i].asked};
		struct perf_image image = perf_image_begin(&attr, sizeof(attr));
		struct perf_reader *reader;
		struct perf_event event;

		perf_image_record(&image, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID);
		for (int word = 0; word < 4; word++)
			perf_image_u64(&image, 0x1000);
		for (int word = 0; word < 3; word++)
			perf_image_u64(&image, cases[i].words[word]);
		perf_image_u64(&image, 5);
		byte_buffer_put(&image.file, "/bin/ls", 8);
		perf_image_record_end(&image);
		perf_image_end(&image);
		reader = open_image(&image);
		event = next(reader);
		assert_string_equal(event.mmap.filename, "/bin/ls");
		assert_int_equal(event.mmap.build_id_len, cases[i].id_len);
		assert_int_equal(event.mmap.ino, cases[i].id_len ? 0 : cases[i].words[1]);
		close_all(reader, &image);
	}
}

static void put_user_chain(struct perf_image *image, uint32_t tid, uint64_t time, uint64_t cookie,
			   uint64_t pc)
{
	perf_image_record(image, PERF_FILE_CALLCHAIN_DEFERRED, PERF_RECORD_MISC_USER);
	perf_image_u64(image, cookie);
	perf_image_u64(image, 2);
	perf_image_u64(image, PERF_CONTEXT_USER);
	perf_image_u64(image, pc);
	byte_buffer_native32(&image->file, tid);
	byte_buffer_native32(&image->file, tid);
	perf_image_u64(image, time);
	perf_image_record_end(image);
}

/* A cookie that is used again, by the same thread later and by another one. */
static void a_deferred_chain_belongs_to_the_samples_before_it(void **state)
{
	static const struct {
		uint32_t tid;
		uint64_t time, cookie, pc; /* 0: none */
	} cases[] = {
		{7, 100, 5, 0x1000}, {7, 110, 5, 0x1000}, {7, 115, 5, 0x2000}, {8, 90, 5, 0x3000},
		{7, 121, 5, 0},      {7, 100, 6, 0},      {9, 100, 5, 0},
	};
	struct perf_image image = perf_image_begin(&simple, sizeof(simple));
	struct perf_reader *reader;

	put_user_chain(&image, 7, 120, 5, 0x2000);
	put_user_chain(&image, 8, 112, 5, 0x3000);
	put_user_chain(&image, 7, 110, 5, 0x1000);
	put_user_chain(&image, 7, 110, 4, 0x4000);
	perf_image_end(&image);
	reader = open_image(&image);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct perf_event sample = {.tid = cases[i].tid, .time = cases[i].time};
		struct perf_user_chain chain;

		assert_int_equal(perf_reader_user_chain(reader, &sample, cases[i].cookie, &chain),
				 cases[i].pc != 0);
		if (!cases[i].pc)
			continue;
		assert_int_equal(chain.count, 2);
		assert_int_equal(chain.pcs[1], cases[i].pc);
	}
	close_all(reader, &image);
}

/* As long as the record, or shorter than a cookie, or longer than all. */
static void a_deferred_chain_that_lies_is_refused(void **state)
{
	static const uint64_t counts[] = {3, 1ull << 61, UINT64_MAX};
	struct perf_event event, sample = {.tid = 7, .time = 1};
	struct perf_user_chain chain;

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct perf_image image = perf_image_begin(&simple, sizeof(simple));
		struct perf_reader *reader;

		put_user_chain(&image, 7, 100, 5, 0x1000);
		memcpy(image.file.data + image.record + 16, &counts[i], sizeof(counts[i]));
		perf_image_record(&image, PERF_FILE_CALLCHAIN_DEFERRED, 0);
		perf_image_record_end(&image);
		perf_image_end(&image);
		reader = open_image(&image);
		assert_false(perf_reader_user_chain(reader, &sample, 5, &chain));
		assert_int_equal(perf_reader_next(reader, NULL, &event), -EBADMSG);
		assert_int_equal(perf_reader_next(reader, NULL, &event), -EBADMSG);
		close_all(reader, &image);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_build_id_is_told_from_a_device),
		cmocka_unit_test(a_deferred_chain_belongs_to_the_samples_before_it),
		cmocka_unit_test(a_deferred_chain_that_lies_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
