/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two sections back to back; the header of the first is wrong.
 */
#include "convert/section_repair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "section_function.h"

#define SECTION 0x500000
#define AT_NUM_FDES 8
#define AT_NUM_FRES 12
#define AT_FRE_LEN 16
#define AT_FRE_OFF 24
#define MAX_NOTES 8

/**
 * struct bench - bytes to walk over, and the result
 * @data, @size: two sections, the first of @first bytes
 * @views, @view_count: what the walk found
 * @notes, @note_count: what it reported
 */
struct bench {
	uint8_t *data;
	uint64_t size, first;
	struct bobbin_sframe_view views[4];
	size_t view_count;
	struct bobbin_error notes[MAX_NOTES];
	size_t note_count;
};

/* A section of two functions with two rows each; @size gets its own. */
static uint8_t *make_section(uint64_t at, uint64_t *size)
{
	struct bobbin_sframe_row rows[2] = {
		{0,
		 {.cfa = {.how = BOBBIN_HOW_AT_REG, .reg = bobbin_arch_amd64()->sp, .off = 8},
		  .ra = {.how = BOBBIN_HOW_IN_CFA_MEM, .off = -8},
		  .fp = {.how = BOBBIN_HOW_SAME},
		  .index = BOBBIN_NO_INDEX}},
	};
	struct bobbin_sframe_function f = {.start = at, .size = 32, .rows = rows, .count = 2};
	struct section_maker maker;
	uint8_t *data;

	rows[1] = rows[0];
	rows[1].start = 4;
	assert_int_equal(section_maker_init(bobbin_arch_amd64(), SECTION, 3, false, 2, &maker), 0);
	assert_int_equal(section_maker_add(&maker, &f), 0);
	f.start += 32;
	assert_int_equal(section_maker_add(&maker, &f), 0);
	assert_int_equal(section_maker_finish(&maker, &data, size), 0);
	section_maker_fini(&maker);
	return data;
}

static int set_up(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));
	uint64_t second;
	uint8_t *one = make_section(0x1000, &b->first), *two = make_section(0x2000, &second);

	b->size = b->first + second;
	b->data = malloc(b->size);
	memcpy(b->data, one, b->first);
	memcpy(b->data + b->first, two, second);
	free(one);
	free(two);
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	free(b->data);
	free(b);
	return 0;
}

static void take_note(void *ctx, uint64_t offset, enum bobbin_reason reason)
{
	struct bench *b = ctx;

	assert_true(b->note_count < MAX_NOTES);
	b->notes[b->note_count++] = (struct bobbin_error){offset, reason};
}

static void walk(struct bench *b)
{
	struct section_walk walk = section_walk(b->data, b->size, SECTION);

	walk.note = take_note;
	walk.ctx = b;
	while (section_walk_next(&walk, &b->views[b->view_count]))
		assert_true(++b->view_count < 4);
}

static void put_u32(struct bench *b, uint64_t at, uint32_t value)
{
	for (unsigned int i = 0; i < 4; i++)
		b->data[at + i] = (uint8_t)(value >> 8 * i);
}

static void assert_note(const struct bench *b, enum bobbin_reason reason, uint64_t offset)
{
	assert_int_equal(b->note_count, 1);
	assert_int_equal(b->notes[0].reason, reason);
	assert_int_equal(b->notes[0].offset, offset);
}

static void assert_both(const struct bench *b)
{
	struct bobbin_row row;

	assert_int_equal(b->view_count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(b->views[i].num_fdes, 2);
		assert_int_equal(b->views[i].size, b->first);
	}
	assert_ptr_equal(b->views[1].data, b->data + b->first);
	assert_int_equal(bobbin_sframe_lookup(&b->views[0], 0x103f, NULL, &row), 0);
}

static void clean_sections_are_left_alone(void **state)
{
	struct bench *b = *state;

	walk(b);
	assert_int_equal(b->note_count, 0);
	assert_both(b);
}

static void a_length_that_leaves_the_bytes_is_put_right(void **state)
{
	struct bench *b = *state;

	put_u32(b, AT_FRE_LEN, 0x7fffffff);
	walk(b);
	assert_int_equal(b->note_count, 2);
	assert_int_equal(b->notes[0].reason, BOBBIN_REASON_SFRAME_HEADER);
	assert_int_equal(b->notes[0].offset, AT_FRE_LEN);
	assert_int_equal(b->notes[1].reason, BOBBIN_REASON_SFRAME_UNUSED);
	assert_both(b);
}

static void a_length_that_swallows_the_next_section_is_put_right(void **state)
{
	struct bench *b = *state;

	put_u32(b, AT_FRE_LEN, (uint32_t)(b->first - 28 - 32 + 40));
	walk(b);
	assert_note(b, BOBBIN_REASON_SFRAME_UNUSED, AT_FRE_LEN);
	assert_both(b);
}

static void a_length_that_cuts_rows_is_put_right(void **state)
{
	struct bench *b = *state;

	for (uint32_t length = 0; length < b->first - 28 - 32; length++) {
		b->view_count = b->note_count = 0;
		put_u32(b, AT_FRE_LEN, length);
		walk(b);
		assert_note(b, BOBBIN_REASON_SFRAME_ROWS_OUTSIDE, AT_FRE_LEN);
		assert_both(b);
	}
}

static void more_entries_than_there_is_space_for_are_not_believed(void **state)
{
	struct bench *b = *state;

	put_u32(b, AT_NUM_FDES, 3);
	walk(b);
	assert_note(b, BOBBIN_REASON_SFRAME_HEADER, AT_NUM_FDES);
	assert_both(b);
}

static void a_wrong_number_of_rows_is_noticed(void **state)
{
	struct bench *b = *state;

	put_u32(b, b->first + AT_NUM_FRES, 5);
	walk(b);
	assert_note(b, BOBBIN_REASON_SFRAME_COUNT, b->first + AT_NUM_FRES);
	assert_both(b);
}

static void after_a_broken_header_the_next_section_is_found(void **state)
{
	struct bench *b = *state;

	b->data[2] = 77;
	walk(b);
	assert_note(b, BOBBIN_REASON_SFRAME_VERSION, 2);
	assert_int_equal(b->view_count, 1);
	assert_ptr_equal(b->views[0].data, b->data + b->first);
	assert_int_equal(b->views[0].addr, SECTION + b->first);
}

static void sub_sections_out_of_place_are_passed_over(void **state)
{
	struct bench *b = *state;

	put_u32(b, AT_FRE_OFF, 0x10000);
	walk(b);
	assert_note(b, BOBBIN_REASON_SFRAME_HEADER, AT_FRE_OFF);
	assert_int_equal(b->view_count, 1);
}

static void functions_in_disorder_are_noticed(void **state)
{
	struct bench *b = *state;

	put_u32(b, 28, 0x3000);
	put_u32(b, 28 + 4, 0);
	walk(b);
	assert_note(b, BOBBIN_REASON_SFRAME_ORDER, 3);
	assert_int_equal(b->view_count, 2);
}

static void noise_holds_no_section(void **state)
{
	struct bench *b = *state;

	memset(b->data, 0xde, b->size);
	walk(b);
	assert_int_equal(b->view_count, 0);
	assert_note(b, BOBBIN_REASON_SFRAME_MAGIC, 0);
}

#define sentence(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		sentence(clean_sections_are_left_alone),
		sentence(a_length_that_leaves_the_bytes_is_put_right),
		sentence(a_length_that_swallows_the_next_section_is_put_right),
		sentence(a_length_that_cuts_rows_is_put_right),
		sentence(more_entries_than_there_is_space_for_are_not_believed),
		sentence(a_wrong_number_of_rows_is_noticed),
		sentence(after_a_broken_header_the_next_section_is_found),
		sentence(sub_sections_out_of_place_are_passed_over),
		sentence(functions_in_disorder_are_noticed),
		sentence(noise_holds_no_section),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
