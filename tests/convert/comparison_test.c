/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call-frame information, and sections that differ from it in one way each: exactly that range
 * must be reported.
 *
 * DWARF register numbers: rbp 6, rsp 7, return address 16.
 */
#include "convert/comparison.h"

#include <dwarf.h>
#include <endian.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "cfi_section.h"
#include "section_function.h"

#define ADVANCE(n) (DW_CFA_advance_loc | (n))
#define CFA_OFFSET(n) DW_CFA_def_cfa_offset, (n)
#define SFRAME_ADDR 0x600000
#define TOLD_SIZE 2048

/* Much more than is needed, much less than a quadratic algorithm takes. */
#define MOST_SECONDS 5.0

/* Offsets in a V3 section. */
#define HEADER_SIZE 28
#define FDE_SIZE 16
#define FLAGS_AT 3
#define SORTED 1

/**
 * struct bench - what is compared
 * @cfi: the call-frame information
 * @added: rows beside it
 * @makers, @bytes, @views, @count: the sections
 * @comparison: the result
 * @told, @told_size: its report
 */
struct bench {
	struct cfi_section cfi;
	struct added_rows added;
	struct section_maker makers[2];
	uint8_t *bytes[2];
	uint64_t sizes[2];
	struct bobbin_sframe_view views[2];
	unsigned int count;
	struct comparison comparison;
	char told[TOLD_SIZE];
	int told_size;
};

static int set_up(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	cfi_section_init(&b->cfi, bobbin_arch_amd64());
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(
			section_maker_init(b->cfi.arch, SFRAME_ADDR, 3, false, 8, &b->makers[i]),
			0);
	b->count = 1;
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	for (unsigned int i = 0; i < 2; i++) {
		section_maker_fini(&b->makers[i]);
		free(b->bytes[i]);
	}
	free(b);
	return 0;
}

/* A row at @start whose CFA is rsp + @cfa. */
static struct bobbin_sframe_row row_of(uint32_t start, int32_t cfa)
{
	return (struct bobbin_sframe_row){
		.start = start,
		.rule = {.cfa = {.how = BOBBIN_HOW_AT_REG, .reg = 7, .off = cfa},
			 .ra = {.how = BOBBIN_HOW_IN_CFA_MEM, .off = -8},
			 .fp = {.how = BOBBIN_HOW_SAME},
			 .index = BOBBIN_NO_INDEX},
	};
}

static void add_rows(struct bench *b, unsigned int section, uint64_t start, uint32_t size,
		     const struct bobbin_sframe_row *rows, uint32_t count)
{
	const struct bobbin_sframe_function f = {
		.start = TEXT + start, .size = size, .rows = rows, .count = count};

	assert_int_equal(section_maker_add(&b->makers[section], &f), 0);
}

/* A function of one row. */
static void add(struct bench *b, unsigned int section, uint64_t start, uint32_t size, int32_t cfa)
{
	const struct bobbin_sframe_row row = row_of(0, cfa);

	add_rows(b, section, start, size, &row, 1);
}

static void finish(struct bench *b)
{
	for (unsigned int i = 0; i < b->count; i++) {
		if (b->bytes[i])
			continue;
		assert_int_equal(section_maker_finish(&b->makers[i], &b->bytes[i], &b->sizes[i]),
				 0);
		assert_int_equal(bobbin_sframe_view(b->bytes[i], b->sizes[i], SFRAME_ADDR, NULL,
						    &b->views[i]),
				 0);
	}
}

static void take_difference(void *ctx, const struct comparison_difference *d)
{
	static const char *const kinds[] = {"different", "missing", "extra", "unreadable"};
	struct bench *b = ctx;

	b->told_size += snprintf(b->told + b->told_size, TOLD_SIZE - (size_t)b->told_size,
				 "%" PRIx64 "-%" PRIx64 " %s", d->start - TEXT, d->end - TEXT,
				 kinds[d->kind]);
	if (d->kind == COMPARISON_DIFFERENT)
		b->told_size += snprintf(b->told + b->told_size, TOLD_SIZE - (size_t)b->told_size,
					 " %d not %d", d->sframe.cfa.off, d->cfi.cfa.off);
	if (d->kind == COMPARISON_UNREADABLE)
		b->told_size += snprintf(b->told + b->told_size, TOLD_SIZE - (size_t)b->told_size,
					 " %s at %" PRIx64, bobbin_reason_name(d->error.reason),
					 d->error.offset);
	b->told_size += snprintf(b->told + b->told_size, TOLD_SIZE - (size_t)b->told_size, "\n");
}

/* Lines "START-END kind [FOUND not WANTED]", from TEXT on. */
static void assert_told(struct bench *b, const char *wanted)
{
	const struct bobbin_cfi_view cfi = cfi_section_view(&b->cfi);
	struct comparison *c = &b->comparison;
	uint64_t ranges = 0, lines = 0;

	finish(b);
	*c = (struct comparison){.cfi = &cfi,
				 .cfi_count = 1,
				 .added = b->added,
				 .sframe = b->views,
				 .sframe_count = b->count,
				 .differ = take_difference,
				 .ctx = b};
	b->told_size = 0;
	b->told[0] = '\0';
	assert_int_equal(comparison_run(c), 0);
	assert_string_equal(b->told, wanted);
	for (unsigned int i = 0; i < COMPARISON_KINDS; i++) {
		ranges += c->ranges[i];
		assert_int_equal(!c->ranges[i], !c->bytes[i]);
	}
	for (const char *at = wanted; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(ranges, lines);
}

static void what_says_the_same_does_not_differ(void **state)
{
	const struct bobbin_sframe_row rows[] = {row_of(0, 8), row_of(4, 16), row_of(8, 8)};
	struct bench *b = *state;

	put_fde(&b->cfi, TEXT, 32, BYTES(ADVANCE(4), CFA_OFFSET(16), ADVANCE(4), CFA_OFFSET(8)));
	put_fde(&b->cfi, TEXT + 64, 32, NO_BYTES);
	add_rows(b, 0, 0, 32, rows, 3);
	add(b, 0, 64, 32, 8);
	assert_told(b, "");
	assert_int_equal(b->comparison.rows, 4);
}

static void nothing_and_nothing_do_not_differ(void **state)
{
	assert_told(*state, "");
	assert_int_equal(((struct bench *)*state)->comparison.rows, 0);
}

static void another_rule_is_told_with_both(void **state)
{
	const struct bobbin_sframe_row rows[] = {row_of(0, 8), row_of(4, 24), row_of(8, 8)};
	struct bench *b = *state;

	put_fde(&b->cfi, TEXT, 32, BYTES(ADVANCE(4), CFA_OFFSET(16), ADVANCE(4), CFA_OFFSET(8)));
	add_rows(b, 0, 0, 32, rows, 3);
	assert_told(b, "4-8 different 24 not 16\n");
	assert_int_equal(b->comparison.ranges[COMPARISON_DIFFERENT], 1);
	assert_int_equal(b->comparison.bytes[COMPARISON_DIFFERENT], 4);
}

/* Rows that start a byte early or late. */
static void rows_in_another_place_differ_between_the_places(void **state)
{
	const struct bobbin_sframe_row rows[] = {row_of(0, 8), row_of(5, 16), row_of(9, 24)};
	struct bench *b = *state;

	put_fde(&b->cfi, TEXT, 32, BYTES(ADVANCE(4), CFA_OFFSET(16), ADVANCE(6), CFA_OFFSET(24)));
	add_rows(b, 0, 0, 32, rows, 3);
	assert_told(b, "4-5 different 8 not 16\n9-a different 24 not 16\n");
}

static void a_function_that_is_not_there_is_missing(void **state)
{
	struct bench *b = *state;

	put_fde(&b->cfi, TEXT, 16, NO_BYTES);
	put_fde(&b->cfi, TEXT + 16, 16, NO_BYTES);
	put_fde(&b->cfi, TEXT + 32, 16, NO_BYTES);
	add(b, 0, 0, 16, 8);
	add(b, 0, 32, 16, 8);
	assert_told(b, "10-20 missing\n");
	assert_int_equal(b->comparison.bytes[COMPARISON_MISSING], 16);
}

static void the_end_of_a_function_may_be_missing(void **state)
{
	struct bench *b = *state;

	put_fde(&b->cfi, TEXT, 32, NO_BYTES);
	add(b, 0, 0, 31, 8);
	assert_told(b, "1f-20 missing\n");
}

static void the_start_of_a_function_may_be_missing(void **state)
{
	struct bench *b = *state;

	put_fde(&b->cfi, TEXT, 32, NO_BYTES);
	add(b, 0, 1, 31, 8);
	assert_told(b, "0-1 missing\n");
}

static void a_late_first_row_leaves_the_start_missing(void **state)
{
	const struct bobbin_sframe_row row = row_of(5, 8);
	struct bench *b = *state;

	put_fde(&b->cfi, TEXT, 32, NO_BYTES);
	add_rows(b, 0, 0, 32, &row, 1);
	assert_told(b, "0-5 missing\n");
}

static void a_late_first_row_of_blocks_leaves_each_start_missing(void **state)
{
	const struct bobbin_sframe_row row = row_of(5, 8);
	const struct bobbin_sframe_function blocks = {
		.start = TEXT, .size = 40, .rep_size = 16, .rows = &row, .count = 1};
	struct bench *b = *state;

	put_fde(&b->cfi, TEXT, 40, NO_BYTES);
	assert_int_equal(section_maker_add(&b->makers[0], &blocks), 0);
	assert_told(b, "0-5 missing\n10-15 missing\n20-25 missing\n");
}

static void what_no_function_of_the_other_holds_is_extra(void **state)
{
	struct bench *b = *state;

	put_fde(&b->cfi, TEXT + 16, 16, NO_BYTES);
	add(b, 0, 0, 16, 8);
	add(b, 0, 16, 20, 8);
	add(b, 0, 48, 16, 8);
	assert_told(b, "0-10 extra\n20-24 extra\n30-40 extra\n");
}

static void a_rule_where_the_other_knows_none_is_extra(void **state)
{
	struct bench *b = *state;

	put_fde(&b->cfi, TEXT, 32, BYTES(ADVANCE(4), DW_CFA_def_cfa, 32, 8));
	add(b, 0, 0, 32, 8);
	assert_told(b, "4-20 extra\n");
}

static void a_program_that_breaks_off_says_nothing_from_there_on(void **state)
{
	struct bench *b = *state;

	put_fde(&b->cfi, TEXT, 32, BYTES(ADVANCE(4), CFA_OFFSET(16), ADVANCE(4), 0x3f));
	add(b, 0, 0, 4, 8);
	add(b, 0, 4, 4, 16);
	assert_told(b, "");
	add(b, 0, 8, 28, 8);
	free(b->bytes[0]);
	b->bytes[0] = NULL;
	assert_told(b, "8-20 extra\n20-24 extra\n");
}

static void neighbours_that_differ_alike_are_one_range(void **state)
{
	const struct bobbin_sframe_row rows[] = {row_of(0, 24), row_of(4, 24), row_of(9, 24)};
	struct bench *b = *state;

	put_fde(&b->cfi, TEXT, 16, BYTES(ADVANCE(6), CFA_OFFSET(8)));
	put_fde(&b->cfi, TEXT + 16, 16, NO_BYTES);
	add_rows(b, 0, 0, 20, rows, 3);
	add(b, 0, 20, 12, 24);
	assert_told(b, "0-20 different 24 not 8\n");
	assert_int_equal(b->comparison.ranges[COMPARISON_DIFFERENT], 1);
	assert_int_equal(b->comparison.bytes[COMPARISON_DIFFERENT], 32);
}

static void neighbours_that_differ_otherwise_are_two_ranges(void **state)
{
	struct bench *b = *state;

	put_fde(&b->cfi, TEXT, 32, BYTES(ADVANCE(16), CFA_OFFSET(16)));
	put_fde(&b->cfi, TEXT + 48, 16, NO_BYTES);
	add(b, 0, 0, 32, 24);
	assert_told(b, "0-10 different 24 not 8\n10-20 different 24 not 16\n30-40 missing\n");
}

static void ranges_with_a_gap_between_are_two(void **state)
{
	struct bench *b = *state;

	put_fde(&b->cfi, TEXT, 16, NO_BYTES);
	put_fde(&b->cfi, TEXT + 32, 16, NO_BYTES);
	assert_told(b, "0-10 missing\n20-30 missing\n");
}

/* Where in the section the rows of its first function are. */
static uint64_t first_row(const struct bench *b)
{
	struct bobbin_sframe_fde fde;

	assert_int_equal(bobbin_sframe_fde(&b->views[0], 0, NULL, &fde), 0);
	return fde.fre_off;
}

static void rows_after_a_malformed_one_are_unreadable(void **state)
{
	const struct bobbin_sframe_row rows[] = {row_of(0, 8), row_of(4, 16)};
	struct bench *b = *state;

	put_fde(&b->cfi, TEXT, 32, BYTES(ADVANCE(4), CFA_OFFSET(16)));
	put_fde(&b->cfi, TEXT + 32, 16, NO_BYTES);
	add_rows(b, 0, 0, 32, rows, 2);
	add(b, 0, 32, 16, 8);
	finish(b);
	/* words of an unknown size */
	b->bytes[0][first_row(b) + 1] |= 0x60;
	assert_told(b, "0-4 unreadable SFRAME_FRE at 41\n4-20 unreadable SFRAME_FRE at 41\n");
	assert_int_equal(b->comparison.bytes[COMPARISON_UNREADABLE], 32);
}

static void an_unsorted_section_is_compared_as_well(void **state)
{
	struct bench *b = *state;
	uint8_t fde[FDE_SIZE], *fdes;
	uint64_t start;

	put_fde(&b->cfi, TEXT, 16, NO_BYTES);
	put_fde(&b->cfi, TEXT + 16, 16, BYTES(CFA_OFFSET(16)));
	put_fde(&b->cfi, TEXT + 32, 16, NO_BYTES);
	add(b, 0, 0, 16, 8);
	add(b, 0, 16, 16, 24);
	finish(b);
	fdes = b->bytes[0] + HEADER_SIZE;
	memcpy(fde, fdes, FDE_SIZE);
	memcpy(fdes, fdes + FDE_SIZE, FDE_SIZE);
	memcpy(fdes + FDE_SIZE, fde, FDE_SIZE);
	/* starts are relative to themselves */
	for (unsigned int i = 0; i < 2; i++) {
		memcpy(&start, fdes + i * FDE_SIZE, sizeof(start));
		start = htole64(le64toh(start) + (i ? -(uint64_t)FDE_SIZE : FDE_SIZE));
		memcpy(fdes + i * FDE_SIZE, &start, sizeof(start));
	}
	b->bytes[0][FLAGS_AT] &= (uint8_t)~SORTED;
	assert_int_equal(
		bobbin_sframe_view(b->bytes[0], b->sizes[0], SFRAME_ADDR, NULL, &b->views[0]), 0);
	assert_told(b, "10-20 different 24 not 16\n20-30 missing\n");
}

static void the_first_section_that_knows_an_address_says(void **state)
{
	struct bench *b = *state;

	put_fde(&b->cfi, TEXT, 64, NO_BYTES);
	add(b, 0, 16, 16, 8);
	add(b, 1, 0, 32, 24);
	add(b, 1, 32, 16, 8);
	b->count = 2;
	assert_told(b, "0-10 different 24 not 8\n30-40 missing\n");
}

/* A search finds the inner one, and nothing after it. */
static void functions_inside_others_are_compared(void **state)
{
	struct bench *b = *state;

	put_fde(&b->cfi, TEXT, 64, NO_BYTES);
	add(b, 0, 0, 64, 8);
	add(b, 0, 16, 16, 24);
	assert_told(b, "10-20 different 24 not 8\n20-40 missing\n");
}

static void repeated_rows_are_compared_in_each_block(void **state)
{
	const struct bobbin_sframe_row rows[] = {row_of(0, 8), row_of(11, 16)};
	const struct bobbin_sframe_function blocks = {
		.start = TEXT, .size = 48, .rep_size = 16, .rows = rows, .count = 2};
	struct bench *b = *state;

	put_fde(&b->cfi, TEXT, 48,
		BYTES(DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15,
		      DW_OP_and, DW_OP_lit10, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus));
	assert_int_equal(section_maker_add(&b->makers[0], &blocks), 0);
	assert_told(b, "a-b different 8 not 16\n"
		       "1a-1b different 8 not 16\n"
		       "2a-2b different 8 not 16\n");
}

static void endless_repetition_is_not_endless(void **state)
{
	const struct bobbin_sframe_row rows[] = {row_of(0, 8), row_of(1, 16)};
	struct bobbin_sframe_function blocks = {
		.start = TEXT, .size = 0xfffffff0, .rep_size = 2, .rows = rows, .count = 2};
	const struct cfi_cie wide = {.augmentation = "zR", .encoding = DW_EH_PE_udata8};
	struct bench *b = *state;
	struct comparison c = {.cfi_count = 1, .sframe = b->views, .sframe_count = 1};
	struct bobbin_cfi_view cfi;

	for (unsigned int i = 0; i < 8; i++, blocks.start += 0xfffffff0)
		assert_int_equal(section_maker_add(&b->makers[0], &blocks), 0);
	put_fde_of(&b->cfi, &wide, put_cie(&b->cfi, &wide), TEXT, 1ull << 34, NO_BYTES);
	finish(b);
	cfi = cfi_section_view(&b->cfi);
	c.cfi = &cfi;
	assert_int_equal(comparison_run(&c), 0);
	assert_true(c.ranges[COMPARISON_DIFFERENT] < 200000);
	assert_true(c.bytes[COMPARISON_EXTRA] + c.bytes[COMPARISON_DIFFERENT] > 4 * (1ull << 32));
}

/* In an unsorted section lookups find the inner function, then the outer. */
static void functions_inside_others_of_unsorted_sections_are_compared(void **state)
{
	struct bench *b = *state;

	put_fde(&b->cfi, TEXT, 64, NO_BYTES);
	add(b, 0, 0, 64, 8);
	add(b, 0, 16, 16, 24);
	add(b, 0, 16, 8, 32);
	finish(b);
	b->views[0].sorted = false;
	assert_told(b, "10-20 different 24 not 8\n");
}

static void sections_between_functions_of_another_are_compared(void **state)
{
	struct bench *b = *state;

	put_fde(&b->cfi, TEXT, 64, NO_BYTES);
	add(b, 0, 0, 16, 8);
	add(b, 0, 32, 16, 16);
	add(b, 1, 8, 48, 24);
	b->count = 2;
	assert_told(b, "10-20 different 24 not 8\n"
		       "20-30 different 16 not 8\n"
		       "30-38 different 24 not 8\n"
		       "38-40 missing\n");
}

/* Far less than the product of functions and rows, or of sections and rows, takes. */
static void many_functions_and_sections_take_no_time(void **state)
{
	enum {
		MANY = 50000
	};
	struct bobbin_sframe_view *views = calloc(MANY, sizeof(*views));
	struct bench *b = *state;
	const struct bobbin_cfi_view cfi = cfi_section_view(&b->cfi);
	struct comparison unsorted = {
		.cfi = &cfi, .cfi_count = 1, .sframe = &b->views[1], .sframe_count = 1};
	struct comparison many = {
		.cfi = &cfi, .cfi_count = 1, .sframe = views, .sframe_count = MANY};
	clock_t begin;

	add(b, 0, 0, 16, 8);
	for (unsigned int i = 0; i < MANY; i++)
		add(b, 1, 32 * i, 16, 8);
	b->count = 2;
	finish(b);
	b->views[1].sorted = false;
	for (unsigned int i = 0; i < MANY; i++) {
		views[i] = b->views[0];
		views[i].addr += 32 * i;
	}
	begin = clock();
	assert_int_equal(comparison_run(&unsorted), 0);
	assert_int_equal(comparison_run(&many), 0);
	assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < MOST_SECONDS);
	assert_int_equal(unsorted.ranges[COMPARISON_EXTRA], MANY);
	assert_int_equal(many.ranges[COMPARISON_EXTRA], MANY);
	free(views);
}

/* Lookups scan a function's rows from the first one. */
static void functions_of_very_many_rows_take_no_time(void **state)
{
	static struct bobbin_sframe_row rows[BOBBIN_SFRAME_MAX_ROWS];
	struct bench *b = *state;
	const clock_t begin = clock();

	for (uint32_t i = 0; i < BOBBIN_SFRAME_MAX_ROWS; i++)
		rows[i] = row_of(i + 1, i % 2 ? 8 : 16);
	for (uint64_t i = 0; i < 8; i++)
		add_rows(b, 0, i << 16, 0x10000, rows, BOBBIN_SFRAME_MAX_ROWS);
	finish(b);
	b->comparison = (struct comparison){.sframe = b->views, .sframe_count = 1};
	assert_int_equal(comparison_run(&b->comparison), 0);
	assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < MOST_SECONDS);
	assert_int_equal(b->comparison.bytes[COMPARISON_EXTRA], 8 * BOBBIN_SFRAME_MAX_ROWS);
}

static void very_many_rows_are_compared_like_few(void **state)
{
	static struct bobbin_sframe_row rows[2000];
	struct bench *b = *state;

	for (uint32_t i = 0; i < 2000; i++)
		rows[i] = row_of(i + 1, i == 999 ? 16 : i == 998 ? 24 : 8 + 8 * (i > 2));
	put_fde(&b->cfi, TEXT, 2001, BYTES(ADVANCE(4), CFA_OFFSET(16)));
	add_rows(b, 0, 0, 2001, rows, 2000);
	assert_told(b, "0-1 missing\n3e7-3e8 different 24 not 16\n");
	/* words of an unknown size */
	b->bytes[0][first_row(b) + 2] |= 0x60;
	assert_told(b, "0-4 unreadable SFRAME_FRE at 31\n4-7d1 unreadable SFRAME_FRE at 31\n");
}

static void outermost_rules_are_equal_whatever_the_cfa(void **state)
{
	struct bobbin_sframe_row row = row_of(0, 8);
	struct bench *b = *state;

	put_fde(&b->cfi, TEXT, 16, BYTES(DW_CFA_undefined, 16, CFA_OFFSET(64)));
	row.rule.ra = (struct bobbin_place){.how = BOBBIN_HOW_UNDEFINED};
	add_rows(b, 0, 0, 16, &row, 1);
	assert_told(b, "");
}

static uint64_t word_of(int32_t cfa)
{
	const struct bobbin_rule rule = row_of(0, cfa).rule;
	uint64_t word;

	assert_int_equal(bobbin_rule_pack(&rule, &word), 0);
	return word;
}

static void added_rows_are_compared_between_functions(void **state)
{
	const struct added_row rows[] = {{TEXT, TEXT + 16, TEXT, word_of(8)},
					 {TEXT + 16, TEXT + 24, TEXT, word_of(16)},
					 {TEXT + 48, TEXT + 64, TEXT + 48, word_of(8)}};
	const struct bobbin_sframe_row right[] = {row_of(0, 8), row_of(16, 16)};
	struct bench *b = *state;

	b->added = (struct added_rows){rows, 3};
	put_fde(&b->cfi, TEXT + 32, 16, NO_BYTES);
	add_rows(b, 0, 0, 26, right, 2);
	add(b, 0, 32, 16, 8);
	add(b, 0, 48, 8, 24);
	assert_told(b, "18-1a extra\n30-38 different 24 not 8\n38-40 missing\n");
}

/* What the call-frame information says of its functions holds. */
static void added_rows_count_outside_of_functions_only(void **state)
{
	const struct added_row rows[] = {{TEXT + 8, TEXT + 40, TEXT, word_of(16)}};
	struct bench *b = *state;

	b->added = (struct added_rows){rows, 1};
	put_fde(&b->cfi, TEXT, 16, NO_BYTES);
	put_fde(&b->cfi, TEXT + 32, 16, NO_BYTES);
	add(b, 0, 0, 16, 8);
	add(b, 0, 16, 16, 16);
	add(b, 0, 32, 16, 8);
	assert_told(b, "");
}

static void differences_need_no_listener(void **state)
{
	struct bench *b = *state;
	const struct bobbin_cfi_view cfi = cfi_section_view(&b->cfi);
	struct comparison c = {.cfi = &cfi, .cfi_count = 1, .sframe = b->views, .sframe_count = 1};

	add(b, 0, 0, 16, 8);
	finish(b);
	assert_int_equal(comparison_run(&c), 0);
	assert_int_equal(c.ranges[COMPARISON_EXTRA], 1);
	assert_int_equal(c.bytes[COMPARISON_EXTRA], 16);
}

#define sentence(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		sentence(what_says_the_same_does_not_differ),
		sentence(nothing_and_nothing_do_not_differ),
		sentence(another_rule_is_told_with_both),
		sentence(rows_in_another_place_differ_between_the_places),
		sentence(a_function_that_is_not_there_is_missing),
		sentence(the_end_of_a_function_may_be_missing),
		sentence(the_start_of_a_function_may_be_missing),
		sentence(a_late_first_row_leaves_the_start_missing),
		sentence(a_late_first_row_of_blocks_leaves_each_start_missing),
		sentence(what_no_function_of_the_other_holds_is_extra),
		sentence(a_rule_where_the_other_knows_none_is_extra),
		sentence(a_program_that_breaks_off_says_nothing_from_there_on),
		sentence(neighbours_that_differ_alike_are_one_range),
		sentence(neighbours_that_differ_otherwise_are_two_ranges),
		sentence(ranges_with_a_gap_between_are_two),
		sentence(rows_after_a_malformed_one_are_unreadable),
		sentence(an_unsorted_section_is_compared_as_well),
		sentence(the_first_section_that_knows_an_address_says),
		sentence(functions_inside_others_are_compared),
		sentence(functions_inside_others_of_unsorted_sections_are_compared),
		sentence(sections_between_functions_of_another_are_compared),
		sentence(many_functions_and_sections_take_no_time),
		sentence(functions_of_very_many_rows_take_no_time),
		sentence(very_many_rows_are_compared_like_few),
		sentence(repeated_rows_are_compared_in_each_block),
		sentence(endless_repetition_is_not_endless),
		sentence(outermost_rules_are_equal_whatever_the_cfa),
		sentence(added_rows_are_compared_between_functions),
		sentence(added_rows_count_outside_of_functions_only),
		sentence(differences_need_no_listener),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
