/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who describes which part of the code, when several sections and functions
 * claim it.
 */
#include "convert/fde_list.h"

#include <dwarf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cfi_section.h"

#define MAX_FDES 64
#define TEXT_SIZE 4096

/**
 * struct bench - up to two sections
 * @sections: the first wins
 * @offsets: of their FDEs
 * @counts: numbers of their FDEs
 * @count: of sections
 */
struct bench {
	struct cfi_section sections[2];
	uint64_t offsets[2][MAX_FDES];
	unsigned int counts[2], count;
};

static struct bench bench;

static int set_up(void **state)
{
	memset(&bench, 0, sizeof(bench));
	cfi_section_init(&bench.sections[0], bobbin_arch_amd64());
	cfi_section_init(&bench.sections[1], bobbin_arch_amd64());
	bench.sections[1].debug_frame = true;
	bench.count = 1;
	return 0;
}

/* A function at TEXT + @start, in the section of that number. */
static void add(unsigned int section, uint64_t start, uint64_t size)
{
	if (section >= bench.count)
		bench.count = section + 1;
	bench.offsets[section][bench.counts[section]++] = put_fde(&bench.sections[section],
								  TEXT + start, size, NO_BYTES);
}

static unsigned int number_of(const struct listed_fde *fde)
{
	for (unsigned int i = 0; i < bench.counts[fde->view]; i++)
		if (bench.offsets[fde->view][i] == fde->offset)
			return i;
	fail_msg("there is no FDE at %#" PRIx64, fde->offset);
	return 0;
}

static struct fde_list list_all(void)
{
	const struct bobbin_cfi_view views[] = {cfi_section_view(&bench.sections[0]),
						cfi_section_view(&bench.sections[1])};
	struct fde_list list;

	assert_int_equal(fde_list_init(views, bench.count, &list), 0);
	return list;
}

/* "START-END SECTION.NUMBER" for each, as distances from TEXT. */
static void assert_list(const char *wanted)
{
	struct fde_list list = list_all();
	char text[TEXT_SIZE] = "";
	int n = 0;

	for (size_t i = 0; i < list.count; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%" PRIx64 "-%" PRIx64 " %u.%u",
			      i ? ", " : "", list.fdes[i].start - TEXT, list.fdes[i].end - TEXT,
			      list.fdes[i].view, number_of(&list.fdes[i]));
	fde_list_fini(&list);
	assert_string_equal(text, wanted);
}

static void functions_come_in_the_order_of_their_addresses(void **state)
{
	add(0, 0x20, 16);
	add(0, 0, 16);
	add(0, 0x10, 16);
	assert_list("0-10 0.1, 10-20 0.2, 20-30 0.0");
}

static void an_empty_section_gives_an_empty_list(void **state)
{
	assert_list("");
}

static void functions_without_code_are_left_out(void **state)
{
	add(0, 0, 0);
	add(0, 8, 8);
	add(0, 8, 0);
	add(0, 12, 0);
	assert_list("8-10 0.1");
}

static void a_function_ends_where_the_next_one_starts(void **state)
{
	add(0, 0, 0x20);
	add(0, 0x10, 0x20);
	assert_list("0-10 0.0, 10-30 0.1");
}

/* Tables cannot say that the outer one goes on; walkers do not find it there either. */
static void a_function_inside_another_ends_it(void **state)
{
	add(0, 0, 0x100);
	add(0, 0x10, 0x10);
	assert_list("0-10 0.0, 10-20 0.1");
}

static void of_functions_with_one_start_the_last_stays(void **state)
{
	add(0, 0, 0x10);
	add(0, 0, 0x20);
	assert_list("0-20 0.1");
	add(0, 0, 8);
	assert_list("0-8 0.2");
}

static void a_second_section_fills_the_gaps_of_the_first(void **state)
{
	add(0, 0x10, 0x10);
	add(0, 0x40, 0x10);
	add(1, 0, 0x60);
	add(1, 0x80, 0x10);
	assert_list("0-10 1.0, 10-20 0.0, 20-40 1.0, 40-50 0.1, 50-60 1.0, 80-90 1.1");
}

static void a_second_section_says_nothing_of_what_is_known(void **state)
{
	add(0, 0, 0x40);
	add(1, 0, 0x10);
	add(1, 0x10, 0x30);
	add(1, 0x30, 0x20);
	assert_list("0-40 0.0, 40-50 1.2");
}

static void a_second_section_may_stand_alone(void **state)
{
	add(1, 0x10, 0x10);
	add(1, 0, 0x10);
	assert_list("0-10 1.1, 10-20 1.0");
}

static void functions_of_many_interleaved_runs_are_sorted(void **state)
{
	struct fde_list list;

	/* each column descends: more ascending runs than are merged */
	for (uint64_t column = 0; column < 4; column++)
		for (uint64_t row = 12; row-- > 0;)
			add(0, (row * 4 + column) * 16, 16);
	list = list_all();
	assert_int_equal(list.count, 48);
	for (size_t i = 0; i < list.count; i++)
		assert_int_equal(list.fdes[i].start, TEXT + i * 16);
	fde_list_fini(&list);
}

static void functions_of_few_interleaved_runs_are_sorted(void **state)
{
	struct fde_list list;

	for (uint64_t run = 0; run < 3; run++)
		for (uint64_t i = 0; i < 16; i++)
			add(0, (i * 3 + 2 - run) * 16, 16);
	list = list_all();
	assert_int_equal(list.count, 48);
	for (size_t i = 0; i < list.count; i++)
		assert_int_equal(list.fdes[i].start, TEXT + i * 16);
	fde_list_fini(&list);
}

static void malformed_entries_are_passed_over_and_counted(void **state)
{
	struct fde_list list;

	add(0, 0, 16);
	add(0, 0x10, 16);
	add(0, 0x20, 16);
	/* the second FDE's distance to its CIE */
	bench.sections[0].data[bench.offsets[0][1] + 4] ^= 1;
	list = list_all();
	assert_int_equal(list.malformed, 1);
	assert_int_not_equal(list.reason, BOBBIN_NONE);
	fde_list_fini(&list);
	assert_list("0-10 0.0, 20-30 0.2");
}

static void a_cut_off_section_gives_what_is_whole(void **state)
{
	struct fde_list list;

	add(0, 0, 16);
	add(0, 0x10, 16);
	bench.sections[0].size -= 1;
	list = list_all();
	assert_int_equal(list.malformed, 1);
	fde_list_fini(&list);
	assert_list("0-10 0.0");
}

#define sentence(name) cmocka_unit_test_setup(name, set_up)

/* The program of each part is run from its beginning. */
static void an_fde_in_very_many_parts_loses_the_last_of_them(void **state)
{
	struct fde_list list;

	add(1, 0, 4 * (FDE_LIST_PARTS + 8));
	for (unsigned int i = 0; i < FDE_LIST_PARTS + 7; i++)
		put_fde(&bench.sections[0], TEXT + 4 * i + 2, 2, NO_BYTES);
	list = list_all();
	assert_int_equal(list.count, FDE_LIST_PARTS + FDE_LIST_PARTS + 7);
	for (size_t i = 1; i < list.count; i++)
		assert_true(list.fdes[i - 1].end <= list.fdes[i].start);
	fde_list_fini(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		sentence(functions_come_in_the_order_of_their_addresses),
		sentence(an_empty_section_gives_an_empty_list),
		sentence(functions_without_code_are_left_out),
		sentence(a_function_ends_where_the_next_one_starts),
		sentence(a_function_inside_another_ends_it),
		sentence(of_functions_with_one_start_the_last_stays),
		sentence(a_second_section_fills_the_gaps_of_the_first),
		sentence(a_second_section_says_nothing_of_what_is_known),
		sentence(a_second_section_may_stand_alone),
		sentence(functions_of_many_interleaved_runs_are_sorted),
		sentence(functions_of_few_interleaved_runs_are_sorted),
		sentence(malformed_entries_are_passed_over_and_counted),
		sentence(a_cut_off_section_gives_what_is_whole),
		sentence(an_fde_in_very_many_parts_loses_the_last_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
