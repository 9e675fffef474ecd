/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * read_image.h - read a file that a test has written in memory; after <cmocka.h>.
 */
#ifndef BOBBIN_TESTS_PROFILE_READ_IMAGE_H
#define BOBBIN_TESTS_PROFILE_READ_IMAGE_H

#include "perf_image.h"
#include "profile/perf_reader.h"

static inline struct perf_reader *open_image(const struct perf_image *image)
{
	struct bobbin_error err = {0};
	struct perf_reader *reader = NULL;
	int r = perf_reader_open_bytes(image->file.data, image->file.size, &err, &reader);

	if (r)
		print_error("reason %d at 0x%llx\n", err.reason, (unsigned long long)err.offset);
	assert_int_equal(r, 0);
	return reader;
}

static inline struct perf_event next(struct perf_reader *reader)
{
	struct perf_event event = {0};

	assert_int_equal(perf_reader_next(reader, NULL, &event), 1);
	return event;
}

static inline void close_all(struct perf_reader *reader, struct perf_image *image)
{
	perf_reader_close(reader);
	byte_buffer_fini(&image->file);
}

#endif
