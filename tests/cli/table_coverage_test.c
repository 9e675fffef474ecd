/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What this process registers, as bobbin maps lists it. */
#include "base/native_arch.h"
#include "cli/table_coverage.h"

#include <bobbin/sframe_builder.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "codemap/page_writer.h"

#define CODE UINT64_C(0x700000000000)
#define COUNT 40000u
#define SIZE 0x10u /* of a function, and of the gap after it */

/* COUNT functions. */
static size_t make_section(uint8_t **ret)
{
	struct bobbin_sframe_built *fdes = calloc(COUNT, sizeof(*fdes));
	uint8_t *fres = malloc(COUNT * 16);
	struct bobbin_sframe_row row = {.rule = {.index = BOBBIN_NO_INDEX}};
	struct bobbin_sframe_function function = {.size = SIZE, .rows = &row, .count = 1};
	struct bobbin_sframe_builder builder;
	uint64_t size;

	row.rule.cfa = (struct bobbin_place){
		.how = BOBBIN_HOW_AT_REG, .reg = native_arch()->sp, .off = 64};
	row.rule.ra = (struct bobbin_place){.how = BOBBIN_HOW_IN_CFA_MEM, .off = -8};
	row.rule.fp = (struct bobbin_place){.how = BOBBIN_HOW_SAME};
	assert_true(fdes && fres);
	assert_int_equal(bobbin_sframe_builder_init(native_arch(), CODE, 3, &builder), 0);
	builder.fdes = fdes;
	builder.fde_max = COUNT;
	builder.fres = fres;
	builder.fre_max = COUNT * 16;
	for (unsigned int i = 0; i < COUNT; i++) {
		function.start = CODE + 2 * SIZE * i;
		assert_int_equal(bobbin_sframe_builder_add(&builder, &function), 0);
	}
	size = bobbin_sframe_builder_size(&builder);
	*ret = malloc(size);
	assert_non_null(*ret);
	assert_int_equal(bobbin_sframe_builder_finish(&builder, *ret, size), 0);
	free(fdes);
	free(fres);
	return size;
}

static int take_piece(void *ctx, const struct code_piece *piece)
{
	unsigned int *count = ctx;

	assert_int_equal(piece->start, CODE + 2 * SIZE * *count);
	assert_int_equal(piece->text, 2 * SIZE);
	assert_int_equal(piece->covered[BOBBIN_SOURCE_SFRAME], SIZE);
	assert_int_equal(piece->covered[BOBBIN_SOURCE_EH_FRAME], 0);
	++*count;
	return 0;
}

/* In time, above all: not all functions for each range. */
static void ranges_that_share_a_table_are_listed_with_what_it_covers(void **state)
{
	struct bobbin_unwinder *unwinder;
	struct bobbin_space *space;
	struct page_writer *page;
	uint8_t *section;
	size_t size = make_section(&section);
	struct bobbin_code_entry entry = {.id = 1,
					  .kind = BOBBIN_CODE_SFRAME,
					  .table = (uintptr_t)section,
					  .table_size = size,
					  .table_addr = CODE};
	unsigned int count = 0;
	uint32_t number;

	(void)state;
	assert_int_equal(page_writer_open(&page), 0);
	for (unsigned int i = 0; i < COUNT; i++) {
		entry.text_start = CODE + 2 * SIZE * i;
		entry.text_end = entry.text_start + 2 * SIZE;
		assert_int_equal(page_writer_add(page, &entry, &number), 0);
	}
	assert_int_equal(bobbin_unwinder_open(NULL, &unwinder), 0);
	assert_int_equal(bobbin_space_open(unwinder, native_arch(), &space), 0);
	assert_int_equal(bobbin_space_update_code(unwinder, space, getpid()), 1);
	assert_int_equal(code_pieces(unwinder, space, take_piece, &count), 0);
	assert_int_equal(count, COUNT);
	bobbin_space_close(space);
	bobbin_unwinder_close(unwinder);
	page_writer_close(page);
	free(section);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_that_share_a_table_are_listed_with_what_it_covers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
