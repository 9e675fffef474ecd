/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which FDE describes which code if several sections and functions claim it.
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
 * @code, @code_count: where the file has code; NULL: anywhere
 */
struct bench {
	struct cfi_section sections[2];
	uint64_t offsets[2][MAX_FDES];
	unsigned int counts[2], count;
	const struct bobbin_range *code;
	size_t code_count;
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
	struct bobbin_cfi_view views[] = {cfi_section_view(&bench.sections[0]),
					  cfi_section_view(&bench.sections[1])};
	struct fde_list list;

	for (unsigned int i = 0; i < 2; i++) {
		views[i].code = bench.code;
		views[i].code_count = bench.code_count;
	}
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

/*
 * Searches in the list and in the sections, of which the first one counts, find the same.
 */
static void assert_found(const struct fde_list *list)
{
	struct bobbin_cfi_view view = cfi_section_view(&bench.sections[0]);
	struct bobbin_cfi_fde fde;

	view.code = bench.code;
	view.code_count = bench.code_count;
	for (uint64_t pc = TEXT - 16; pc < TEXT + 0x600; pc++) {
		const struct listed_fde *listed = fde_list_find(list, pc);
		bool found = !bobbin_cfi_find(&view, pc, NULL, &fde);

		assert_true(!listed || (listed->start <= pc && pc < listed->end));
		if (found || (listed && !listed->view))
			assert_true(found && listed && listed->offset == fde.offset);
	}
}

static void assert_dead(uint64_t dead)
{
	struct fde_list list = list_all();

	assert_int_equal(list.dead, dead);
	assert_found(&list);
	fde_list_fini(&list);
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

/* It was dropped, and its address is another one's. */
static void a_function_in_which_another_starts_is_dead(void **state)
{
	add(0, 0, 0x20);
	add(0, 0x10, 0x20);
	assert_list("10-30 0.1");
	assert_dead(1);
}

static void a_function_around_others_is_dead(void **state)
{
	add(0, 0, 0x100);
	add(0, 0x10, 0x10);
	add(0, 0x40, 0x10);
	assert_list("10-20 0.1, 40-50 0.2");
	assert_dead(1);
}

/* It does not matter whether another one is live: lookups do not read all FDEs. */
static void each_of_a_chain_of_overlaps_but_the_last_is_dead(void **state)
{
	add(0, 0, 0x14);
	add(0, 0x10, 0x14);
	add(0, 0x20, 0x14);
	assert_list("20-34 0.2");
	assert_dead(2);
}

static void of_functions_with_one_start_the_longest_is_live(void **state)
{
	add(0, 0, 0x10);
	add(0, 0, 0x20);
	add(0, 0, 8);
	assert_list("0-20 0.1");
	assert_dead(2);
}

static void of_functions_with_the_same_code_the_last_is_live(void **state)
{
	add(0, 0, 0x10);
	add(0, 0, 0x10);
	assert_list("0-10 0.1");
	assert_dead(1);
}

/* A file linked at 0 has live code at the addresses of dead functions. */
static void the_longest_that_ends_before_the_next_function_is_live(void **state)
{
	add(0, 0x40, 0x40);
	add(0, 0, 0x60);
	add(0, 0, 0x40);
	add(0, 0, 0x1000);
	add(0, 0, 0x20);
	assert_list("0-40 0.2, 40-80 0.0");
	assert_dead(3);
}

static void functions_outside_of_code_are_dead(void **state)
{
	const struct bobbin_range code[] = {{TEXT + 0x100, TEXT + 0x200},
					    {TEXT + 0x300, TEXT + 0x400}};

	bench.code = code;
	bench.code_count = 2;
	add(0, 0, 0x80);      /* before */
	add(0, 0, 0x1000);    /* around */
	add(0, 0xf0, 0x20);   /* over the first byte */
	add(0, 0x100, 0x80);  /* inside */
	add(0, 0x180, 0x80);  /* up to the last byte */
	add(0, 0x1f0, 0x20);  /* over the last byte */
	add(0, 0x1f0, 0x120); /* from one to the other */
	add(0, 0x200, 0x10);  /* between */
	add(0, 0x300, 0x100); /* all of it */
	add(0, 0x400, 0x10);  /* after */
	add(0, -(uint64_t)TEXT - 2, 1);
	assert_list("100-180 0.3, 180-200 0.4, 300-400 0.8");
	assert_dead(8);
}

/* A dead FDE does not make others dead. */
static void a_function_outside_of_code_does_not_overlap(void **state)
{
	const struct bobbin_range code[] = {{TEXT, TEXT + 0x100}};

	bench.code = code;
	bench.code_count = 1;
	add(0, 0x40, 0x40);
	add(0, 0x60, 0x1000);
	assert_list("40-80 0.0");
	assert_dead(1);
}

static void without_any_code_all_functions_are_dead(void **state)
{
	const struct bobbin_range none[1];

	bench.code = none;
	add(0, 0, 0x10);
	assert_list("");
	assert_dead(1);
}

static void a_second_section_fills_the_gaps_of_the_first(void **state)
{
	add(0, 0x10, 0x10);
	add(0, 0x40, 0x10);
	add(1, 0, 0x10);
	add(1, 0x20, 0x20);
	add(1, 0x80, 0x10);
	assert_list("0-10 1.0, 10-20 0.0, 20-40 1.1, 40-50 0.1, 80-90 1.2");
	assert_dead(0);
}

static void a_second_section_says_nothing_of_functions_that_are_known_in_part(void **state)
{
	add(0, 0x10, 0x40);
	add(1, 0, 0x18);
	add(1, 0x10, 0x40);
	add(1, 0x18, 0x30);
	add(1, 0x48, 0x20);
	add(1, 0x70, 0x10);
	assert_list("10-50 0.0, 70-80 1.4");
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
	assert_int_not_equal(list.reason, BOBBIN_REASON_NONE);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		sentence(functions_come_in_the_order_of_their_addresses),
		sentence(an_empty_section_gives_an_empty_list),
		sentence(functions_without_code_are_left_out),
		sentence(a_function_in_which_another_starts_is_dead),
		sentence(a_function_around_others_is_dead),
		sentence(each_of_a_chain_of_overlaps_but_the_last_is_dead),
		sentence(of_functions_with_one_start_the_longest_is_live),
		sentence(of_functions_with_the_same_code_the_last_is_live),
		sentence(the_longest_that_ends_before_the_next_function_is_live),
		sentence(functions_outside_of_code_are_dead),
		sentence(a_function_outside_of_code_does_not_overlap),
		sentence(without_any_code_all_functions_are_dead),
		sentence(a_second_section_fills_the_gaps_of_the_first),
		sentence(a_second_section_says_nothing_of_functions_that_are_known_in_part),
		sentence(a_second_section_may_stand_alone),
		sentence(functions_of_many_interleaved_runs_are_sorted),
		sentence(functions_of_few_interleaved_runs_are_sorted),
		sentence(malformed_entries_are_passed_over_and_counted),
		sentence(a_cut_off_section_gives_what_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
