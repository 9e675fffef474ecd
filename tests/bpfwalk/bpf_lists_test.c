/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of mappings for the kernel's walker: shared, bounded, and remembered for a while. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpfwalk/bpf_lists.h"

static struct kernel_mapping map[KERNEL_MAPPINGS], entries[KERNEL_LIST_MAX + 1];

/* @count mappings of a page, with a hole after each; @first tells lists apart. */
static const struct kernel_mapping *mappings(uint64_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		entries[i] = (struct kernel_mapping){.start = first + i * 0x2000ull,
						     .end = first + i * 0x2000ull + 0x1000};
	return entries;
}

static struct bpf_lists empty_lists(void)
{
	struct bpf_lists lists = {.mappings = map};

	assert_int_equal(bpf_lists_init(&lists), 0);
	return lists;
}

static struct known_list *get(struct bpf_lists *lists, uint64_t first, uint32_t count)
{
	return bpf_lists_get(lists, mappings(first, count), count);
}

static void equal_mappings_share_a_list(void **state)
{
	struct bpf_lists lists = empty_lists();
	struct known_list *a = get(&lists, 0x1000, 5), *b = get(&lists, 0x1000, 5),
			  *c = get(&lists, 0x1000, 6);

	assert_non_null(a);
	assert_ptr_equal(a, b);
	assert_ptr_not_equal(a, c);
	assert_int_not_equal(a->list.number, c->list.number);
	assert_memory_equal(map + a->list.first, mappings(0x1000, 5), 5 * sizeof(*map));
	assert_memory_equal(map + c->list.first, mappings(0x1000, 6), 6 * sizeof(*map));
	bpf_lists_put(&lists, a);
	assert_ptr_equal(get(&lists, 0x1000, 5), b);
	bpf_lists_fini(&lists);
}

static void an_address_is_found_in_its_mapping(void **state)
{
	struct bpf_lists lists = empty_lists();
	const struct known_list *l = get(&lists, 0x1000, 3);

	assert_null(known_list_at(l, 0xfff));
	assert_int_equal(known_list_at(l, 0x1000)->start, 0x1000);
	assert_int_equal(known_list_at(l, 0x1fff)->start, 0x1000);
	assert_null(known_list_at(l, 0x2000));
	assert_int_equal(known_list_at(l, 0x5fff)->start, 0x5000);
	assert_null(known_list_at(l, 0x6000));
	bpf_lists_fini(&lists);
}

static void room_is_used_again_and_numbers_are_not(void **state)
{
	struct bpf_lists lists = empty_lists();
	uint64_t last = 0;

	for (uint64_t i = 0; i < 100; i++) {
		struct known_list *l = get(&lists, 0x1000 + (i << 32), KERNEL_LIST_MAX);

		assert_non_null(l);
		assert_true(l->list.number > last);
		last = l->list.number;
		bpf_lists_put(&lists, l);
	}
	assert_int_equal(lists.room.free, KERNEL_MAPPINGS);
	bpf_lists_fini(&lists);
}

static void what_does_not_fit_has_no_list(void **state)
{
	struct bpf_lists lists = empty_lists();

	assert_null(get(&lists, 0x1000, 0));
	assert_null(get(&lists, 0x1000, KERNEL_LIST_MAX + 1));
	for (uint64_t i = 0; i < KERNEL_MAPPINGS / KERNEL_LIST_MAX; i++)
		assert_non_null(get(&lists, 0x1000 + (i << 32), KERNEL_LIST_MAX));
	assert_null(get(&lists, 0x2000, 1));
	bpf_lists_fini(&lists);
}

static void a_list_is_remembered_for_a_while(void **state)
{
	struct bpf_lists lists = empty_lists();
	struct known_list *l = get(&lists, 0x1000, 3);
	uint64_t number = l->list.number;

	assert_ptr_equal(bpf_lists_find(&lists, number), l);
	bpf_lists_put(&lists, l);
	assert_int_equal(bpf_lists_find(&lists, number)->list.count, 3);
	for (uint64_t i = 1; i <= LISTS_RETIRED; i++)
		bpf_lists_put(&lists, get(&lists, 0x1000 + (i << 32), 1));
	assert_null(bpf_lists_find(&lists, number));
	assert_non_null(bpf_lists_find(&lists, number + 1));
	bpf_lists_fini(&lists);
}

static void large_lists_are_forgotten_sooner(void **state)
{
	struct bpf_lists lists = empty_lists();

	for (uint64_t i = 0; i < 40; i++)
		bpf_lists_put(&lists, get(&lists, 0x1000 + (i << 32), KERNEL_LIST_MAX));
	assert_null(bpf_lists_find(&lists, 8));
	assert_non_null(bpf_lists_find(&lists, 9));
	assert_non_null(bpf_lists_find(&lists, 40));
	bpf_lists_fini(&lists);
}

static void a_list_that_the_kernel_made_is_known_by_its_number(void **state)
{
	struct bpf_lists lists = empty_lists();
	struct fresh_list told = {.number = KERNEL_FRESH | 7, .count = 2};
	const struct known_list *l;

	told.mappings[0].mapping = mappings(0x1000, 2)[0];
	told.mappings[1].mapping = mappings(0x1000, 2)[1];
	bpf_lists_told(&lists, &told);
	l = bpf_lists_find(&lists, told.number);
	assert_non_null(l);
	assert_int_equal(known_list_at(l, 0x3000)->start, 0x3000);
	assert_null(bpf_lists_find(&lists, 7));
	/* the room of the recorder's own lists is not touched */
	assert_int_equal(lists.room.free, KERNEL_MAPPINGS);
	for (uint64_t i = 1; i <= LISTS_RETIRED; i++) {
		told.number++;
		bpf_lists_told(&lists, &told);
	}
	assert_null(bpf_lists_find(&lists, KERNEL_FRESH | 7));
	assert_non_null(bpf_lists_find(&lists, KERNEL_FRESH | 8));
	bpf_lists_fini(&lists);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_mappings_share_a_list),
		cmocka_unit_test(an_address_is_found_in_its_mapping),
		cmocka_unit_test(room_is_used_again_and_numbers_are_not),
		cmocka_unit_test(what_does_not_fit_has_no_list),
		cmocka_unit_test(a_list_is_remembered_for_a_while),
		cmocka_unit_test(large_lists_are_forgotten_sooner),
		cmocka_unit_test(a_list_that_the_kernel_made_is_known_by_its_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
