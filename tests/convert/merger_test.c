/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sections of the builder are merged.  At each PC lookups in the result must find the rule of
 * the first section that has one.
 */
#include "convert/merger.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "section_function.h"

#define SECTION 0x500000
#define MAX_INPUTS 4
#define MAX_REPORTS 64

/**
 * struct bench - sections to merge, and the result
 * @makers, @views, @bytes: the inputs
 * @result, @size, @view: the result
 * @reports: what was reported, the first of them
 */
struct bench {
	struct section_maker makers[MAX_INPUTS];
	struct bobbin_sframe_view views[MAX_INPUTS];
	uint8_t *bytes[MAX_INPUTS];
	uint32_t inputs;
	struct merge_options options;
	struct merge_stats stats;
	uint8_t *result;
	uint64_t size;
	struct bobbin_sframe_view view;
	struct merge_report reports[MAX_REPORTS];
	size_t report_count;
};

static void take_report(void *ctx, const struct merge_report *report)
{
	struct bench *b = ctx;

	if (b->report_count < MAX_REPORTS)
		b->reports[b->report_count] = *report;
	b->report_count++;
}

static int set_up(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	b->options = (struct merge_options){
		.version = 3, .addr = SECTION, .report = take_report, .ctx = b};
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	for (uint32_t i = 0; i < b->inputs; i++) {
		section_maker_fini(&b->makers[i]);
		free(b->bytes[i]);
	}
	free(b->result);
	free(b);
	return 0;
}

static struct section_maker *input_of(struct bench *b, const struct bobbin_arch *arch,
				      unsigned int version, bool share)
{
	struct section_maker *maker = &b->makers[b->inputs++];

	assert_int_equal(section_maker_init(arch, SECTION, version, share, 64, maker), 0);
	return maker;
}

static struct section_maker *input(struct bench *b)
{
	return input_of(b, bobbin_arch_amd64(), 3, false);
}

static struct bobbin_rule rule_at(int32_t cfa)
{
	return (struct bobbin_rule){
		.cfa = {.how = BOBBIN_HOW_AT_REG, .reg = bobbin_arch_amd64()->sp, .off = cfa},
		.ra = {.how = BOBBIN_HOW_IN_CFA_MEM, .off = -8},
		.fp = {.how = BOBBIN_HOW_SAME},
		.index = BOBBIN_NO_INDEX,
	};
}

/* Rows at 0, 4, 8... whose CFAs are @cfa, @cfa + 8... */
static void add_repeated(struct section_maker *maker, uint64_t start, uint32_t size, int32_t cfa,
			 uint32_t rows, uint8_t rep_size)
{
	struct bobbin_sframe_row row[16];
	struct bobbin_sframe_function f = {
		.start = start, .size = size, .rows = row, .count = rows, .rep_size = rep_size};

	for (uint32_t i = 0; i < rows; i++)
		row[i] = (struct bobbin_sframe_row){4 * i, rule_at(cfa + 8 * (int32_t)i)};
	assert_int_equal(section_maker_add(maker, &f), 0);
}

static void add(struct section_maker *maker, uint64_t start, uint32_t size, int32_t cfa,
		uint32_t rows)
{
	add_repeated(maker, start, size, cfa, rows, 0);
}

static void finish_inputs(struct bench *b)
{
	for (uint32_t i = 0; i < b->inputs; i++) {
		uint64_t size;

		if (b->bytes[i])
			continue;
		assert_int_equal(section_maker_finish(&b->makers[i], &b->bytes[i], &size), 0);
		assert_int_equal(bobbin_sframe_view(b->bytes[i], size, SECTION, NULL, &b->views[i]),
				 0);
	}
}

static int try_merge(struct bench *b)
{
	finish_inputs(b);
	return merge_sections(b->views, b->inputs, &b->options, &b->stats, &b->result, &b->size);
}

static void merge(struct bench *b)
{
	assert_int_equal(try_merge(b), 0);
	assert_int_equal(bobbin_sframe_view(b->result, b->size, SECTION, NULL, &b->view), 0);
	assert_true(b->view.sorted);
	assert_int_equal(b->view.num_fdes, b->stats.pieces);
	assert_int_equal(b->report_count, b->stats.clipped + b->stats.dropped);
}

/* The CFA's offset at a PC, 0 if there is no rule. */
static int32_t cfa_at(const struct bobbin_sframe_view *view, uint64_t pc)
{
	struct bobbin_row row;

	return bobbin_sframe_lookup(view, pc, NULL, &row) ? 0 : row.rule.cfa.off;
}

/* The rule of the first section that has one. */
static void assert_first_wins(const struct bench *b, uint64_t start, uint64_t end)
{
	for (uint64_t pc = start; pc < end; pc++) {
		struct bobbin_row row, merged;
		uint32_t i = 0;

		while (i < b->inputs && bobbin_sframe_lookup(&b->views[i], pc, NULL, &row))
			i++;
		if (i == b->inputs) {
			assert_int_equal(bobbin_sframe_lookup(&b->view, pc, NULL, &merged),
					 -ENOENT);
			continue;
		}
		assert_int_equal(bobbin_sframe_lookup(&b->view, pc, NULL, &merged), 0);
		assert_true(bobbin_rule_equal(&row.rule, &merged.rule));
	}
}

static void assert_report(const struct bench *b, size_t i, enum merge_fate fate,
			  enum bobbin_reason reason, uint64_t start, uint32_t left)
{
	assert_true(i < b->report_count);
	assert_int_equal(b->reports[i].fate, fate);
	assert_int_equal(b->reports[i].reason, reason);
	assert_int_equal(b->reports[i].start, start);
	assert_int_equal(b->reports[i].left, left);
}

static void functions_of_all_sections_are_sorted(void **state)
{
	struct bench *b = *state;
	struct section_maker *one = input(b), *two = input(b);

	add(one, 0x3000, 32, 8, 4);
	add(one, 0x1000, 16, 16, 2);
	add(two, 0x2000, 64, 24, 8);
	add(two, 0x4000, 1, 32, 1);
	merge(b);
	assert_int_equal(b->view.num_fdes, 4);
	assert_int_equal(b->report_count, 0);
	assert_int_equal(b->stats.functions, 4);
	assert_int_equal(b->stats.rows, 15);
	assert_first_wins(b, 0xff0, 0x4010);
}

static void duplicates_are_dropped(void **state)
{
	struct bench *b = *state;
	struct section_maker *one = input(b), *two = input_of(b, bobbin_arch_amd64(), 2, false);

	add(one, 0x1000, 16, 16, 2);
	add(two, 0x1000, 16, 16, 2);
	add(two, 0x2000, 16, 16, 2);
	merge(b);
	assert_int_equal(b->view.num_fdes, 2);
	assert_int_equal(b->report_count, 1);
	assert_report(b, 0, MERGE_DROPPED, BOBBIN_REASON_SFRAME_DUPLICATE, 0x1000, 0);
	assert_int_equal(b->reports[0].view, 1);
	assert_int_equal(b->reports[0].size, 16);
	assert_int_equal(b->reports[0].offset, 28);
}

static void of_contradicting_functions_the_first_wins(void **state)
{
	struct bench *b = *state;
	struct section_maker *one = input(b), *two = input(b);

	add(one, 0x1000, 16, 16, 2);
	add(two, 0x1000, 16, 24, 2);
	merge(b);
	assert_report(b, 0, MERGE_DROPPED, BOBBIN_REASON_SFRAME_COVERED, 0x1000, 0);
	assert_first_wins(b, 0xff0, 0x1020);
}

static void what_overlaps_is_clipped(void **state)
{
	struct bench *b = *state;
	struct section_maker *one = input(b), *two = input(b), *three = input(b);

	add(one, 0x1010, 16, 8, 3);
	add(two, 0x1000, 64, 108, 16);
	add(three, 0x1030, 32, 208, 8);
	add(three, 0x100a, 8, 308, 2);
	merge(b);
	assert_int_equal(b->report_count, 3);
	assert_report(b, 0, MERGE_CLIPPED, BOBBIN_REASON_SFRAME_COVERED, 0x1000, 48);
	assert_report(b, 1, MERGE_DROPPED, BOBBIN_REASON_SFRAME_COVERED, 0x100a, 0);
	assert_report(b, 2, MERGE_CLIPPED, BOBBIN_REASON_SFRAME_COVERED, 0x1030, 16);
	assert_int_equal(b->view.num_fdes, 4);
	assert_first_wins(b, 0xff0, 0x1070);
}

static void in_one_section_the_later_start_wins(void **state)
{
	struct bench *b = *state;
	struct section_maker *maker = input(b);

	add(maker, 0x1000, 0x1000, 8, 1);
	add(maker, 0x1100, 0x100, 16, 1);
	add(maker, 0x1100, 0x80, 24, 1);
	merge(b);
	assert_int_equal(b->report_count, 2);
	/* the builder sorts equal starts by size, and lookups find the last */
	assert_report(b, 0, MERGE_CLIPPED, BOBBIN_REASON_SFRAME_COVERED, 0x1000, 0xf00);
	assert_report(b, 1, MERGE_DROPPED, BOBBIN_REASON_SFRAME_COVERED, 0x1100, 0);
	assert_int_equal(b->view.num_fdes, 3);
	for (uint64_t pc = 0x1000; pc < 0x1200; pc++)
		assert_int_equal(cfa_at(&b->view, pc), cfa_at(&b->views[0], pc));
	assert_int_equal(cfa_at(&b->view, 0x1100), 16);
	/* in the original no search finds this */
	assert_int_equal(cfa_at(&b->views[0], 0x1200), 0);
	assert_int_equal(cfa_at(&b->view, 0x1200), 8);
}

/* The first of two entries for the same code is hidden by the second. */
static void of_equal_extents_the_later_entry_wins(void **state)
{
	struct bench *b = *state;
	struct section_maker *maker = input(b);

	add(maker, 0x1000, 16, 8, 1);
	add(maker, 0x1000, 16, 24, 1);
	merge(b);
	assert_int_equal(cfa_at(&b->views[0], 0x1000), 24);
	assert_int_equal(cfa_at(&b->view, 0x1000), 24);
	assert_int_equal(b->view.num_fdes, 1);
}

static void a_duplicate_does_not_bring_back_what_it_hid(void **state)
{
	struct bench *b = *state;
	struct section_maker *maker = input(b);

	add(maker, 0x1000, 16, 24, 1);
	add(maker, 0x1000, 16, 8, 1);
	add(maker, 0x1000, 16, 24, 1);
	merge(b);
	assert_int_equal(cfa_at(&b->views[0], 0x1000), 24);
	assert_int_equal(cfa_at(&b->view, 0x1000), 24);
	assert_report(b, 0, MERGE_DROPPED, BOBBIN_REASON_SFRAME_DUPLICATE, 0x1000, 0);
	assert_report(b, 1, MERGE_DROPPED, BOBBIN_REASON_SFRAME_COVERED, 0x1000, 0);
}

static void functions_on_both_sides_of_address_0_are_found(void **state)
{
	struct bench *b = *state;
	struct section_maker *maker = input(b);
	struct bobbin_sframe_view view;

	b->options.addr = 0;
	add(maker, 0x1000, 16, 8, 1);
	add(maker, (uint64_t)-0x1000, 16, 16, 1);
	add(maker, (uint64_t)-0x2000, 16, 24, 1);
	assert_int_equal(try_merge(b), 0);
	assert_int_equal(bobbin_sframe_view(b->result, b->size, 0, NULL, &view), 0);
	assert_int_equal(cfa_at(&view, 0x1000), 8);
	assert_int_equal(cfa_at(&view, (uint64_t)-0x1000), 16);
	assert_int_equal(cfa_at(&view, (uint64_t)-0x2000), 24);
}

static void clipped_repeated_blocks_keep_their_rows(void **state)
{
	for (uint32_t at = 0; at < 40; at++) {
		struct bench *b;
		struct section_maker *one, *two;

		set_up((void **)&b);
		one = input(b);
		two = input(b);
		add(one, 0x1000 + at, 11, 208, 2);
		add_repeated(two, 0x1000, 45, 8, 3, 16);
		merge(b);
		assert_first_wins(b, 0xff0, 0x1050);
		tear_down((void **)&b);
	}
}

static void any_overlap_gives_what_the_first_section_says(void **state)
{
	srand(11);
	for (unsigned int round = 0; round < 300; round++) {
		struct bench *b;

		set_up((void **)&b);
		for (unsigned int i = 0; i < MAX_INPUTS; i++) {
			struct section_maker *maker = input(b);
			uint64_t at = 0x1000;

			for (unsigned int k = 0; k < 5; k++) {
				uint32_t size = 1 + (uint32_t)rand() % 60, rows = (size + 3) / 4;

				at += (uint64_t)rand() % 30;
				if (rand() % 3)
					add(maker, at, size, 8 * (rand() % 100), rows);
				else
					add_repeated(maker, at, size, 8 * (rand() % 100), 3, 12);
				at += size;
			}
		}
		b->options.share = round % 2;
		b->options.version = 2 + round % 2;
		merge(b);
		assert_first_wins(b, 0xff0, 0x1300);
		tear_down((void **)&b);
	}
}

static void merging_again_changes_nothing(void **state)
{
	struct bench *b = *state, again = {0};
	struct section_maker *one = input(b), *two = input(b);

	add(one, 0x3000, 32, 8, 4);
	add(one, 0x1010, 16, 16, 2);
	add(two, 0x1000, 64, 24, 8);
	add(two, 0x2000, 64, 24, 8);
	merge(b);
	assert_int_equal(b->stats.clipped, 1);
	again.options = b->options;
	again.options.ctx = &again;
	assert_int_equal(merge_sections(&b->view, 1, &again.options, &again.stats, &again.result,
					&again.size),
			 0);
	assert_int_equal(again.report_count, 0);
	assert_int_equal(again.size, b->size);
	assert_memory_equal(again.result, b->result, b->size);
	free(again.result);
}

static void functions_outside_of_the_text_are_dropped(void **state)
{
	static const struct bobbin_range texts[] = {{0x1000, 0x1020}, {0x2000, 0x2010}};
	struct bench *b = *state;
	struct section_maker *maker = input(b);

	b->options.texts = texts;
	b->options.text_count = 2;
	add(maker, 0, 16, 8, 1);
	add(maker, 0x1000, 32, 8, 1);
	add(maker, 0x1ff0, 16, 8, 1);
	add(maker, 0x2008, 16, 8, 1);
	add(maker, 0x2010, 16, 8, 1);
	merge(b);
	assert_int_equal(b->report_count, 4);
	assert_report(b, 0, MERGE_DROPPED, BOBBIN_REASON_SFRAME_TEXT, 0, 0);
	assert_report(b, 1, MERGE_DROPPED, BOBBIN_REASON_SFRAME_TEXT, 0x1ff0, 0);
	assert_report(b, 2, MERGE_CLIPPED, BOBBIN_REASON_SFRAME_TEXT, 0x2008, 8);
	assert_report(b, 3, MERGE_DROPPED, BOBBIN_REASON_SFRAME_TEXT, 0x2010, 0);
	assert_int_equal(cfa_at(&b->view, 0x200f), 8);
	assert_int_equal(cfa_at(&b->view, 0x2010), 0);
}

static void functions_without_code_are_dropped(void **state)
{
	struct bench *b = *state;
	struct section_maker *maker = input(b);

	add(maker, 0x1000, 0, 8, 1);
	add(maker, 0x1000, 8, 8, 1);
	merge(b);
	assert_int_equal(b->report_count, 1);
	assert_report(b, 0, MERGE_DROPPED, BOBBIN_REASON_SFRAME_NO_CODE, 0x1000, 0);
	assert_int_equal(b->view.num_fdes, 1);
}

static void functions_with_unreadable_rows_are_dropped(void **state)
{
	struct bench *b = *state;
	struct section_maker *maker = input_of(b, bobbin_arch_amd64(), 2, false);
	uint64_t row;

	add(maker, 0x1000, 16, 8, 2);
	add(maker, 0x2000, 16, 8, 3);
	finish_inputs(b);
	row = b->views[0].fre_off + 6 + 3;
	b->bytes[0][row + 1] = 0x1f; /* fifteen words */
	merge(b);
	assert_int_equal(b->report_count, 1);
	assert_report(b, 0, MERGE_DROPPED, BOBBIN_REASON_SFRAME_FRE, 0x2000, 0);
	assert_int_equal(b->reports[0].offset, row);
	assert_int_equal(cfa_at(&b->view, 0x1000), 8);
	assert_int_equal(cfa_at(&b->view, 0x2000), 0);
}

static void rows_in_disorder_are_refused(void **state)
{
	struct bench *b = *state;
	struct section_maker *maker = input_of(b, bobbin_arch_amd64(), 2, false);

	add(maker, 0x1000, 16, 8, 3);
	finish_inputs(b);
	b->bytes[0][b->views[0].fre_off + 3] = 9;
	merge(b);
	assert_report(b, 0, MERGE_DROPPED, BOBBIN_REASON_SFRAME_ORDER, 0x1000, 0);
	assert_int_equal(b->view.num_fdes, 0);
}

static void functions_without_caller_stay_without_caller(void **state)
{
	static const struct bobbin_sframe_function outermost = {.start = 0x1000, .size = 16};
	struct bench *b = *state;
	struct section_maker *maker = input(b);
	struct bobbin_row row;

	assert_int_equal(section_maker_add(maker, &outermost), 0);
	merge(b);
	assert_int_equal(bobbin_sframe_lookup(&b->view, 0x100f, NULL, &row), 0);
	assert_int_equal(row.rule.ra.how, BOBBIN_HOW_UNDEFINED);
}

static void functions_without_caller_have_a_row_in_version_2(void **state)
{
	static const struct bobbin_sframe_function outermost = {.start = 0x1000, .size = 16};
	struct bench *b = *state;
	struct section_maker *maker = input(b);
	struct bobbin_row row;

	assert_int_equal(section_maker_add(maker, &outermost), 0);
	b->options.version = 2;
	merge(b);
	assert_int_equal(bobbin_sframe_lookup(&b->view, 0x100f, NULL, &row), 0);
	assert_int_equal(row.rule.ra.how, BOBBIN_HOW_UNDEFINED);
	assert_int_equal(b->view.num_fres, 1);
}

static void functions_without_rows_say_nothing_in_version_2(void **state)
{
	static const struct bobbin_sframe_function empty = {.start = 0x1000, .size = 16};
	struct bench *b = *state;
	struct section_maker *maker = input_of(b, bobbin_arch_amd64(), 2, false);

	assert_int_equal(section_maker_add(maker, &empty), 0);
	merge(b);
	assert_report(b, 0, MERGE_DROPPED, BOBBIN_REASON_NO_ROW, 0x1000, 0);
}

static void what_version_2_cannot_say_is_dropped(void **state)
{
	struct bench *b = *state;
	struct section_maker *maker = input(b);
	struct bobbin_sframe_row row = {0, rule_at(8)};
	struct bobbin_sframe_function f = {.start = 0x1000, .size = 8, .rows = &row, .count = 1};

	row.rule.cfa.reg = 10; /* needs a flexible row */
	assert_int_equal(section_maker_add(maker, &f), 0);
	f.start = 0x900000000;
	row.rule = rule_at(16);
	assert_int_equal(section_maker_add(maker, &f), 0);
	f.start = 0x2000;
	assert_int_equal(section_maker_add(maker, &f), 0);
	f.start = 0x3000;
	f.signal = true;
	row.rule.flags = BOBBIN_RULE_SIGNAL;
	assert_int_equal(section_maker_add(maker, &f), 0);
	b->options.version = 2;
	merge(b);
	assert_int_equal(b->report_count, 3);
	assert_report(b, 0, MERGE_DROPPED, BOBBIN_REASON_SFRAME_RULE, 0x1000, 0);
	assert_report(b, 1, MERGE_DROPPED, BOBBIN_REASON_SFRAME_RULE, 0x3000, 0);
	assert_report(b, 2, MERGE_DROPPED, BOBBIN_REASON_SFRAME_REACH, 0x900000000, 0);
	assert_int_equal(cfa_at(&b->view, 0x2000), 16);
}

static void shared_rows_are_read_for_each_function(void **state)
{
	struct bench *b = *state;
	struct section_maker *maker = input_of(b, bobbin_arch_amd64(), 3, true);

	for (uint64_t i = 0; i < 40; i++)
		add(maker, 0x1000 + i * 64, 64, 8, 16);
	b->options.share = true;
	merge(b);
	assert_int_equal(b->stats.rows, 640);
	assert_int_equal(b->size, b->views[0].size);
	assert_first_wins(b, 0xff0, 0x1000 + 41 * 64);
}

/* Little-endian, whatever this machine is. */
static void put_words(uint8_t *to, const uint32_t *words, size_t count)
{
	for (size_t i = 0; i < 4 * count; i++)
		to[i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
}

/* One function with all the rows that fit, and many that share them. */
static uint8_t *sharing_bomb(uint32_t functions, uint32_t rows, uint64_t *size)
{
	uint64_t fre_off = 28 + (uint64_t)functions * 20, len = (uint64_t)rows * 2;
	uint8_t *bytes = calloc(1, fre_off + len);
	uint8_t head[28] = {0xe2, 0xde, 2, 4, 3, 0, 0xf8};
	uint32_t words[] = {functions, 0, (uint32_t)len, 0, functions * 20};

	assert_non_null(bytes);
	put_words(head + 8, words, 5);
	memcpy(bytes, head, sizeof(head));
	for (uint32_t i = 0; i < functions; i++) {
		uint32_t fde[] = {i * 16, 16, 0, UINT32_MAX};

		put_words(bytes + 28 + 20 * (size_t)i, fde, 4);
	}
	*size = fre_off + len;
	return bytes;
}

static void more_rows_than_is_sane_are_refused(void **state)
{
	struct bench *b = *state;
	uint64_t size;

	/* rows without words, all at 0: 2^32 are claimed, 100000 exist */
	b->inputs = 1;
	b->bytes[0] = sharing_bomb(100000, 100000, &size);
	assert_int_equal(bobbin_sframe_view(b->bytes[0], size, SECTION, NULL, &b->views[0]), 0);
	assert_int_equal(try_merge(b), -E2BIG);
	assert_null(b->result);
	assert_int_equal(b->report_count, 0);
}

static void functions_with_many_rows_are_split(void **state)
{
	struct bench *b = *state;
	const uint32_t rows = 150000;
	uint64_t fre_off = 28 + 20, len = (uint64_t)rows * 6;
	uint8_t *bytes = calloc(1, fre_off + len);
	uint8_t head[28] = {0xe2, 0xde, 2, 4, 3, 0, 0xf8};
	uint32_t words[] = {1, rows, (uint32_t)len, 0, 20};
	uint32_t fde[] = {0, rows * 2, 0, rows, 2};

	assert_non_null(bytes);
	put_words(head + 8, words, 5);
	memcpy(bytes, head, sizeof(head));
	put_words(bytes + 28, fde, 5);
	for (uint32_t i = 0; i < rows; i++) {
		uint32_t start = i * 2;

		put_words(bytes + fre_off + 6 * (size_t)i, &start, 1);
		bytes[fre_off + 6 * (size_t)i + 4] = 3;
		bytes[fre_off + 6 * (size_t)i + 5] = (uint8_t)(i % 100 + 1);
	}
	b->inputs = 1;
	b->bytes[0] = bytes;
	assert_int_equal(bobbin_sframe_view(bytes, fre_off + len, SECTION, NULL, &b->views[0]), 0);
	merge(b);
	assert_int_equal(b->view.num_fdes, 3);
	assert_int_equal(b->report_count, 0);
	for (uint64_t i = 0; i < rows; i += 97)
		assert_int_equal(cfa_at(&b->view, SECTION + 28 + i * 2 + 1), i % 100 + 1);
}

static void different_architectures_are_refused(void **state)
{
	struct bench *b = *state;

	add(input(b), 0x1000, 16, 8, 1);
	input_of(b, bobbin_arch_s390x(), 3, false);
	assert_int_equal(try_merge(b), -EINVAL);
}

static void unknown_versions_are_refused(void **state)
{
	struct bench *b = *state;

	add(input(b), 0x1000, 16, 8, 1);
	b->options.version = 4;
	assert_int_equal(try_merge(b), -EINVAL);
}

#define sentence(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		sentence(functions_of_all_sections_are_sorted),
		sentence(duplicates_are_dropped),
		sentence(of_contradicting_functions_the_first_wins),
		sentence(what_overlaps_is_clipped),
		sentence(in_one_section_the_later_start_wins),
		sentence(of_equal_extents_the_later_entry_wins),
		sentence(a_duplicate_does_not_bring_back_what_it_hid),
		sentence(functions_without_caller_have_a_row_in_version_2),
		sentence(functions_without_rows_say_nothing_in_version_2),
		sentence(functions_on_both_sides_of_address_0_are_found),
		cmocka_unit_test(clipped_repeated_blocks_keep_their_rows),
		cmocka_unit_test(any_overlap_gives_what_the_first_section_says),
		sentence(merging_again_changes_nothing),
		sentence(functions_outside_of_the_text_are_dropped),
		sentence(functions_without_code_are_dropped),
		sentence(functions_with_unreadable_rows_are_dropped),
		sentence(rows_in_disorder_are_refused),
		sentence(functions_without_caller_stay_without_caller),
		sentence(what_version_2_cannot_say_is_dropped),
		sentence(shared_rows_are_read_for_each_function),
		sentence(more_rows_than_is_sane_are_refused),
		sentence(functions_with_many_rows_are_split),
		sentence(different_architectures_are_refused),
		sentence(unknown_versions_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
