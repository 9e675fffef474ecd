/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sections that stand back to back, made by the builder: one function each.
 */
#include <bobbin/sframe_builder.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/indexed_sections.h"

#define ADDR UINT64_C(0x10000)
#define CODE UINT64_C(0x20000) /* of the first section's function */
#define SIZE 0x100             /* of a function, and from one to the next */
#define MANY 64                /* functions: enough for an index */

struct bytes {
	uint8_t data[8192];
	size_t size;
	uint64_t code;
	uint32_t stubs; /* functions that are PLTs */
	int32_t pushed; /* bytes on the stack where a stub begins */
	struct bobbin_error error;
	struct indexed_sections sections;
};

static const struct bobbin_rule rule = {
	.cfa = {.how = BOBBIN_HOW_AT_REG, .off = 8},
	.ra = {.how = BOBBIN_HOW_IN_CFA_MEM, .off = -8},
	.fp = {.how = BOBBIN_HOW_SAME},
	.index = BOBBIN_NO_INDEX,
};

/* Another section of @count functions after the others. */
static void append(struct bytes *b, const struct bobbin_arch *arch, uint32_t count)
{
	static struct bobbin_sframe_built fdes[MANY];
	static uint8_t fres[MANY * 8];
	struct bobbin_sframe_row row = {.start = 0, .rule = rule};
	struct bobbin_sframe_builder builder;
	uint64_t size;

	row.rule.cfa.reg = arch->sp;
	if (arch == bobbin_arch_aarch64())
		row.rule.ra.how = BOBBIN_HOW_SAME;
	assert_int_equal(bobbin_sframe_builder_init(arch, ADDR + b->size, 2, &builder), 0);
	builder.fdes = fdes;
	builder.fde_max = MANY;
	builder.fres = fres;
	builder.fre_max = sizeof(fres);
	for (uint32_t i = 0; i < count; i++, b->code += SIZE) {
		struct bobbin_sframe_function function = {
			.start = b->code, .size = SIZE, .rows = &row, .count = 1};

		function.rep_size = i < b->stubs ? 8 : 0;
		row.rule.cfa.off = i < b->stubs ? b->pushed : 8;
		assert_int_equal(bobbin_sframe_builder_add(&builder, &function), 0);
	}
	size = bobbin_sframe_builder_size(&builder);
	assert_true(size <= sizeof(b->data) - b->size);
	assert_int_equal(bobbin_sframe_builder_finish(&builder, b->data + b->size, size), 0);
	b->size += size;
}

static int open_them(struct bytes *b)
{
	return indexed_sections_open(b->data, b->size, ADDR, bobbin_arch_amd64(), &b->error,
				     &b->sections);
}

static int lookup(struct bytes *b, uint64_t pc, uint64_t *start)
{
	struct bobbin_row row = {0};
	int r = indexed_sections_lookup(&b->sections, pc, &b->error, &row);

	*start = row.function;
	return r;
}

static int count_function(void *ctx, uint64_t start, uint64_t end)
{
	unsigned int *count = ctx;

	assert_int_equal(start, CODE + *count * SIZE);
	assert_int_equal(end, start + SIZE);
	return ++*count == 5 ? 5 : 0;
}

static void each_of_two_sections_answers(void **state)
{
	struct bytes b = {.code = CODE};
	uint64_t start;

	(void)state;
	append(&b, bobbin_arch_amd64(), 1);
	b.size += 3; /* padding */
	append(&b, bobbin_arch_amd64(), 1);
	assert_int_equal(open_them(&b), 0);
	assert_int_equal(b.sections.count, 2);
	assert_int_equal(lookup(&b, CODE + 1, &start), 0);
	assert_int_equal(start, CODE);
	assert_int_equal(lookup(&b, CODE + SIZE + 1, &start), 0);
	assert_int_equal(start, CODE + SIZE);
	assert_int_equal(lookup(&b, CODE + 2 * SIZE, &start), -ENOENT);
	indexed_sections_fini(&b.sections);
	assert_int_equal(lookup(&b, CODE + 1, &start), -ENOENT);
}

/* As GNU ld writes it for .plt.got, and as it is */
static void stubs_begin_with_a_return_address(void **state)
{
	struct bytes wrong = {.code = CODE, .stubs = 1, .pushed = 16};
	struct bytes right = {.code = CODE, .stubs = 1, .pushed = 8};
	uint64_t start;

	append(&wrong, bobbin_arch_amd64(), 2);
	assert_int_equal(open_them(&wrong), 0);
	assert_int_equal(lookup(&wrong, CODE, &start), -ENOENT);
	assert_int_equal(lookup(&wrong, CODE + SIZE - 1, &start), -ENOENT);
	assert_int_equal(lookup(&wrong, CODE + SIZE, &start), 0);
	indexed_sections_fini(&wrong.sections);

	append(&right, bobbin_arch_amd64(), 2);
	assert_int_equal(open_them(&right), 0);
	assert_int_equal(lookup(&right, CODE + SIZE - 1, &start), 0);
	assert_int_equal(start, CODE);
	indexed_sections_fini(&right.sections);
}

static void only_a_large_section_gets_an_index(void **state)
{
	struct bytes b = {.code = CODE};
	uint64_t start;

	(void)state;
	append(&b, bobbin_arch_amd64(), 1);
	append(&b, bobbin_arch_amd64(), MANY);
	assert_int_equal(open_them(&b), 0);
	assert_null(b.sections.list[0].buckets);
	assert_non_null(b.sections.list[1].buckets);
	for (unsigned int i = 0; i <= MANY; i++) {
		assert_int_equal(lookup(&b, CODE + (i + 1) * SIZE - 1, &start), 0);
		assert_int_equal(start, CODE + i * SIZE);
	}
	indexed_sections_fini(&b.sections);
}

static void what_is_before_a_malformed_section_is_open(void **state)
{
	struct bytes b = {.code = CODE};
	size_t first;

	(void)state;
	append(&b, bobbin_arch_amd64(), 1);
	first = b.size;
	append(&b, bobbin_arch_amd64(), 1);
	b.data[first] ^= 0xff;
	assert_int_equal(open_them(&b), -EBADMSG);
	assert_int_equal(b.error.offset, first);
	assert_int_equal(b.sections.count, 1);
	indexed_sections_fini(&b.sections);
	assert_null(b.sections.list);
}

static void another_architecture_is_refused(void **state)
{
	struct bytes b = {.code = CODE};
	size_t first;

	(void)state;
	append(&b, bobbin_arch_amd64(), 1);
	first = b.size;
	append(&b, bobbin_arch_aarch64(), 1);
	assert_int_equal(open_them(&b), -EBADMSG);
	assert_int_equal(b.error.reason, BOBBIN_REASON_SFRAME_ABI);
	assert_int_equal(b.error.offset, first);
	assert_int_equal(b.sections.count, 1);
	indexed_sections_fini(&b.sections);
}

static void sections_beyond_the_limit_are_not_looked_at(void **state)
{
	struct bytes b = {.code = CODE};

	(void)state;
	for (unsigned int i = 0; i <= INDEXED_SECTIONS_MAX; i++)
		append(&b, bobbin_arch_amd64(), 1);
	assert_int_equal(open_them(&b), 0);
	assert_int_equal(b.sections.count, INDEXED_SECTIONS_MAX);
	indexed_sections_fini(&b.sections);
}

static void no_bytes_are_no_section(void **state)
{
	struct bytes b = {0};

	(void)state;
	assert_int_equal(
		indexed_sections_open(NULL, 0, ADDR, bobbin_arch_amd64(), &b.error, &b.sections),
		0);
	assert_int_equal(b.sections.count, 0);
	indexed_sections_fini(&b.sections);
}

static int count_functions(struct bytes *b, unsigned int *count)
{
	return indexed_sections_ops.functions(&b->sections, NULL, BOBBIN_SOURCE_SFRAME,
					      count_function, count);
}

static void functions_are_given_until_the_sink_has_enough(void **state)
{
	struct bytes b = {.code = CODE};
	unsigned int count = 0;

	(void)state;
	append(&b, bobbin_arch_amd64(), 2);
	append(&b, bobbin_arch_amd64(), 2);
	assert_int_equal(open_them(&b), 0);
	assert_int_equal(count_functions(&b, &count), 0);
	assert_int_equal(count, 4);
	count = 0;
	indexed_sections_fini(&b.sections);
	append(&b, bobbin_arch_amd64(), 2);
	assert_int_equal(open_them(&b), 0);
	assert_int_equal(count_functions(&b, &count), 5);
	indexed_sections_fini(&b.sections);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_of_two_sections_answers),
		cmocka_unit_test(stubs_begin_with_a_return_address),
		cmocka_unit_test(only_a_large_section_gets_an_index),
		cmocka_unit_test(what_is_before_a_malformed_section_is_open),
		cmocka_unit_test(another_architecture_is_refused),
		cmocka_unit_test(sections_beyond_the_limit_are_not_looked_at),
		cmocka_unit_test(no_bytes_are_no_section),
		cmocka_unit_test(functions_are_given_until_the_sink_has_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
