/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A side-file that turns out to be damaged is not read any further.
 */
#include "unwind/late_sidefile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sidefile_samples.h"

static int note_end(void *ctx, uint64_t start, uint64_t end)
{
	uint64_t *last = ctx;

	assert_true(start < end && start >= *last);
	*last = end;
	return 0;
}

static int count_one(void *ctx, uint64_t start, uint64_t end)
{
	unsigned int *count = ctx;

	++*count;
	return 7;
}

static void functions_end_with_the_first_damaged_block(void **state)
{
	struct sample section = sample_section(bobbin_arch_amd64(), 2000);
	struct sample file = sample_sidefile(&section);
	struct late_sidefile late = {0};
	struct sidefile_block damaged;
	uint64_t end = 0, whole;
	unsigned int count = 0;

	assert_int_equal(sample_open(file.bytes, file.size, NULL, &late.file), 0);
	assert_true(sidefile_head(late.file)->block_count > 3);
	damaged = sidefile_head(late.file)->blocks[2];
	whole = sidefile_head(late.file)->end;
	assert_int_equal(late_sidefile_functions(&late, note_end, &end), 0);
	assert_in_range(end, damaged.first, whole);
	assert_int_equal(late_sidefile_functions(&late, count_one, &count), 7);
	assert_int_equal(count, 1);
	sidefile_close(late.file);

	file.bytes[damaged.offset + damaged.size - 1] ^= 1;
	assert_int_equal(sample_open(file.bytes, file.size, NULL, &late.file), 0);
	end = 0;
	assert_int_equal(late_sidefile_functions(&late, note_end, &end), 0);
	assert_in_range(end, 1, damaged.first);
	assert_null(late.file);
	sample_free(&file);
	sample_free(&section);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_end_with_the_first_damaged_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
