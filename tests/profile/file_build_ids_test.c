/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profile/perf_reader.h"

#define HEAD 36
#define MISC_HAS_SIZE (1u << 15)

struct feature {
	uint8_t bytes[1024];
	size_t size;
};

/* As perf writes an entry: all bytes of its ID are @fill. */
static void add(struct feature *f, uint16_t misc, uint8_t fill, uint8_t id_size, const char *path)
{
	uint16_t size = (uint16_t)(HEAD + (strlen(path) + 8) / 8 * 8);
	uint8_t *at = f->bytes + f->size;

	memset(at, 0, size);
	memcpy(at + 4, &misc, sizeof(misc));
	memcpy(at + 6, &size, sizeof(size));
	memset(at + 12, fill, 20);
	at[32] = id_size;
	strcpy((char *)at + HEAD, path);
	f->size += size;
}

static struct perf_mmap filled(const struct feature *f, const char *path)
{
	struct perf_span span = {.data = f->bytes, .size = f->size};
	struct perf_mmap mmap = {.filename = path};
	struct file_build_ids ids;

	assert_int_equal(file_build_ids_init(span, &ids), 0);
	file_build_ids_fill(&ids, &mmap);
	file_build_ids_fini(&ids);
	return mmap;
}

static void a_file_gets_the_build_id_of_its_path(void **state)
{
	struct feature f = {0};

	add(&f, PERF_RECORD_MISC_USER | MISC_HAS_SIZE, 2, 16, "/b");
	add(&f, PERF_RECORD_MISC_USER, 1, 0, "/a");
	assert_int_equal(filled(&f, "/a").build_id_len, 20);
	assert_int_equal(filled(&f, "/a").build_id[19], 1);
	assert_int_equal(filled(&f, "/b").build_id_len, 16);
	assert_int_equal(filled(&f, "/b").build_id[15], 2);
	assert_int_equal(filled(&f, "/c").build_id_len, 0);
	assert_int_equal(filled(&f, "/").build_id_len, 0);
}

static void two_for_one_path_are_none(void **state)
{
	struct feature f = {0};

	add(&f, PERF_RECORD_MISC_USER, 1, 0, "/a");
	add(&f, PERF_RECORD_MISC_USER, 2, 0, "/a");
	assert_int_equal(filled(&f, "/a").build_id_len, 0);
}

static void the_kernels_is_no_files(void **state)
{
	struct feature f = {0};

	add(&f, PERF_RECORD_MISC_KERNEL, 1, 0, "/a");
	assert_int_equal(filled(&f, "/a").build_id_len, 0);
}

static void what_is_malformed_is_left_out(void **state)
{
	struct feature f = {0};

	add(&f, PERF_RECORD_MISC_USER, 1, 0, "/a");
	add(&f, PERF_RECORD_MISC_USER | MISC_HAS_SIZE, 2, 21, "/b");
	assert_int_equal(filled(&f, "/b").build_id_len, 0);
	for (size_t size = 0; size < f.size; size++) {
		struct feature cut = f;

		cut.size = size;
		assert_int_equal(filled(&cut, "/a").build_id_len, size < HEAD + 8 ? 0 : 20);
	}
	for (size_t i = 0; i < f.size; i++) {
		struct feature bad = f;

		bad.bytes[i] ^= 0xff;
		assert_true(filled(&bad, "/a").build_id_len <= 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_gets_the_build_id_of_its_path),
		cmocka_unit_test(two_for_one_path_are_none),
		cmocka_unit_test(the_kernels_is_no_files),
		cmocka_unit_test(what_is_malformed_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
