/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Entries of a map: none is used twice, and none too soon. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpfwalk/map_allocator.h"

#define PAGES 1000
#define LATER (2 * MAP_REST_NS)

static void pages_are_taken_until_there_are_none(void **state)
{
	struct map_allocator room;
	uint32_t first;

	assert_int_equal(map_allocator_init(PAGES, &room), 0);
	for (uint32_t i = 0; i < 10; i++) {
		assert_true(map_allocator_take(&room, 100, &first));
		assert_int_equal(first, 100 * i);
	}
	assert_int_equal(room.free, 0);
	assert_false(map_allocator_take(&room, 1, &first));
	map_allocator_fini(&room);
}

static void pages_rest_before_they_are_used_again(void **state)
{
	struct map_allocator room;
	uint32_t first;

	assert_int_equal(map_allocator_init(PAGES, &room), 0);
	assert_true(map_allocator_take(&room, PAGES, &first));
	map_allocator_give(&room, (struct map_run){10, 20}, 1);
	assert_int_equal(room.free, 20);
	assert_false(map_allocator_take(&room, 20, &first));
	assert_false(map_allocator_wake(&room, MAP_REST_NS));
	assert_false(map_allocator_take(&room, 20, &first));
	assert_true(map_allocator_wake(&room, MAP_REST_NS + 1));
	assert_true(map_allocator_take(&room, 20, &first));
	assert_int_equal(first, 10);
	map_allocator_fini(&room);
}

static void neighbours_become_one(void **state)
{
	struct map_allocator room;
	uint32_t first;

	assert_int_equal(map_allocator_init(PAGES, &room), 0);
	assert_true(map_allocator_take(&room, PAGES, &first));
	map_allocator_give(&room, (struct map_run){0, 10}, 0);
	map_allocator_give(&room, (struct map_run){20, 10}, 0);
	map_allocator_give(&room, (struct map_run){10, 10}, 0);
	assert_true(map_allocator_wake(&room, LATER));
	assert_int_equal(room.run_count, 1);
	assert_true(map_allocator_take(&room, 30, &first));
	assert_int_equal(first, 0);
	map_allocator_fini(&room);
}

/* Owners of pages, in any order; 0: nobody. */
static void no_page_has_two_owners(void **state)
{
	static uint8_t owned[PAGES];
	struct map_run runs[64] = {{0}};
	struct map_allocator room;
	uint64_t now = 0;

	srand(1);
	assert_int_equal(map_allocator_init(PAGES, &room), 0);
	for (int i = 0; i < 100000; i++) {
		struct map_run *run = &runs[rand() % 64];
		uint32_t count = 1 + (uint32_t)rand() % 40, first;

		now += MAP_REST_NS / 8;
		map_allocator_wake(&room, now);
		if (run->count) {
			memset(owned + run->first, 0, run->count);
			map_allocator_give(&room, (struct map_run){run->first, run->count}, now);
			run->count = 0;
		} else if (map_allocator_take(&room, count, &first)) {
			*run = (struct map_run){first, count};
			for (uint32_t p = first; p < first + count; p++)
				assert_int_equal(owned[p]++, 0);
		}
	}
	for (int i = 0; i < 64; i++)
		if (runs[i].count)
			map_allocator_give(&room, (struct map_run){runs[i].first, runs[i].count},
					   now);
	map_allocator_wake(&room, now + LATER);
	assert_int_equal(room.run_count, 1);
	assert_int_equal(room.runs[0].count, PAGES);
	assert_int_equal(room.free, PAGES);
	map_allocator_fini(&room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_taken_until_there_are_none),
		cmocka_unit_test(pages_rest_before_they_are_used_again),
		cmocka_unit_test(neighbours_become_one),
		cmocka_unit_test(no_page_has_two_owners),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
