/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The code map against a list of ranges that is searched from end to end.
 */
#include "codemap/code_tree.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code_count.h"

#define CHUNK (1ull << 32)

static uint64_t seed = 88172645463325252ull;

static uint64_t arbitrary(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

static unsigned int released;

static void release(struct code *code)
{
	released++;
	free(code);
}

/* What grows with the ranges: leaves, and directories of them. */
static size_t memory_of(const struct code_map *map)
{
	const struct root *root = atomic_load(&map->root);
	size_t size = map->slab_count * SLAB_SIZE;

	for (uint32_t i = 0; i < root->count; i++)
		size += directory_at(root, i)->count * sizeof(struct slot);
	return size;
}

static struct code *code_new(void)
{
	struct code *code = calloc(1, sizeof(*code));

	assert_non_null(code);
	code->release = release;
	return code;
}

static int add(struct code_map *map, uint64_t start, uint64_t end, struct code **ret)
{
	struct code_range range = {start, end, code_new()};
	int r = code_map_add(map, &range);

	if (r)
		free(range.code);
	else if (ret)
		*ret = range.code;
	return r;
}

static int remove_range(struct code_map *map, uint64_t start, uint64_t end)
{
	return code_map_remove(map, &(struct code_range){start, end, NULL});
}

static int open_map(void **state)
{
	released = 0;
	return code_map_open((struct code_map **)state);
}

static int close_map(void **state)
{
	code_map_close(*state);
	return 0;
}

static void a_range_is_found_from_its_first_to_its_last_byte(void **state)
{
	struct code_map *map = *state;
	struct code_range found;
	struct code *code;

	assert_int_equal(add(map, 0x7f0000001000, 0x7f0000001040, &code), 0);
	assert_null(code_map_find(map, 0x7f0000000fff, NULL));
	assert_ptr_equal(code_map_find(map, 0x7f0000001000, &found), code);
	assert_int_equal(found.start, 0x7f0000001000);
	assert_int_equal(found.end, 0x7f0000001040);
	assert_ptr_equal(found.code, code);
	assert_ptr_equal(code_map_find(map, 0x7f000000103f, NULL), code);
	assert_null(code_map_find(map, 0x7f0000001040, NULL));
	assert_null(code_map_find(map, 0x1010, NULL));
}

static void an_overlap_is_refused_and_changes_nothing(void **state)
{
	struct code_map *map = *state;
	uint64_t generation;

	assert_int_equal(add(map, 0x2000, 0x3000, NULL), 0);
	generation = code_map_generation(map);
	assert_int_equal(add(map, 0x2000, 0x3000, NULL), -EEXIST);
	assert_int_equal(add(map, 0x1000, 0x2001, NULL), -EEXIST);
	assert_int_equal(add(map, 0x2fff, 0x4000, NULL), -EEXIST);
	assert_int_equal(add(map, 0x1000, 0x4000, NULL), -EEXIST);
	assert_int_equal(add(map, 0x2800, 0x2801, NULL), -EEXIST);
	assert_int_equal(code_map_generation(map), generation);
	assert_int_equal(add(map, 0x1000, 0x2000, NULL), 0);
	assert_int_equal(add(map, 0x3000, 0x4000, NULL), 0);
	assert_int_equal(code_count(map), 3);
}

static void ranges_that_cannot_be_are_refused(void **state)
{
	struct code_map *map = *state;

	assert_int_equal(add(map, 0x2000, 0x2000, NULL), -EINVAL);
	assert_int_equal(add(map, 0x2000, 0x1000, NULL), -EINVAL);
	assert_int_equal(add(map, 0, UINT64_MAX, NULL), -EINVAL);
	assert_int_equal(remove_range(map, 0x2000, 0x1000), -ENOENT);
	assert_int_equal(code_count(map), 0);
}

static void what_was_not_added_cannot_be_removed(void **state)
{
	struct code_map *map = *state;

	assert_int_equal(remove_range(map, 0x2000, 0x3000), -ENOENT);
	assert_int_equal(add(map, 0x2000, 0x3000, NULL), 0);
	assert_int_equal(remove_range(map, 0x2001, 0x3000), -ENOENT);
	assert_int_equal(remove_range(map, 0x2000, 0x2fff), -ENOENT);
	assert_int_equal(remove_range(map, 0x2000 + CHUNK, 0x3000 + CHUNK), -ENOENT);
	assert_int_equal(remove_range(map, 0x2000, 0x3000), 0);
	assert_int_equal(remove_range(map, 0x2000, 0x3000), -ENOENT);
	assert_int_equal(code_count(map), 0);
}

static void a_range_may_cross_four_gibibytes(void **state)
{
	struct code_map *map = *state;
	struct code *code;

	assert_int_equal(add(map, 3 * CHUNK - 0x10, 5 * CHUNK + 0x10, &code), 0);
	assert_ptr_equal(code_map_find(map, 3 * CHUNK - 0x10, NULL), code);
	assert_ptr_equal(code_map_find(map, 3 * CHUNK - 1, NULL), code);
	assert_ptr_equal(code_map_find(map, 3 * CHUNK, NULL), code);
	assert_ptr_equal(code_map_find(map, 4 * CHUNK + 5, NULL), code);
	assert_ptr_equal(code_map_find(map, 5 * CHUNK + 0xf, NULL), code);
	assert_null(code_map_find(map, 5 * CHUNK + 0x10, NULL));
	assert_int_equal(code_count(map), 4);
	assert_int_equal(add(map, 4 * CHUNK, 4 * CHUNK + 1, NULL), -EEXIST);
	assert_int_equal(remove_range(map, 3 * CHUNK - 0x10, 5 * CHUNK + 0x10), 0);
	assert_null(code_map_find(map, 4 * CHUNK, NULL));
	code_map_wait(map);
	assert_int_equal(released, 1);
}

static void the_last_byte_of_the_address_space_can_be_covered(void **state)
{
	struct code_map *map = *state;

	assert_int_equal(add(map, UINT64_MAX - 0xff, UINT64_MAX, NULL), 0);
	assert_non_null(code_map_find(map, UINT64_MAX - 1, NULL));
	assert_null(code_map_find(map, UINT64_MAX, NULL));
	assert_int_equal(remove_range(map, UINT64_MAX - 0xff, UINT64_MAX), 0);
}

static void a_code_is_released_after_its_last_range(void **state)
{
	struct code_map *map = *state;
	struct code *code = code_new();

	assert_int_equal(code_map_add(map, &(struct code_range){0x1000, 0x2000, code}), 0);
	assert_int_equal(code_map_add(map, &(struct code_range){0x5000, 0x6000, code}), 0);
	assert_int_equal(remove_range(map, 0x1000, 0x2000), 0);
	code_map_wait(map);
	assert_int_equal(released, 0);
	assert_int_equal(remove_range(map, 0x5000, 0x6000), 0);
	code_map_wait(map);
	assert_int_equal(released, 1);
}

static void nothing_is_released_while_somebody_reads(void **state)
{
	struct code_map *map = *state;
	struct reader_epochs *readers = code_map_readers(map);
	struct code *code, *seen;
	unsigned int token;

	assert_int_equal(add(map, 0x1000, 0x2000, &code), 0);
	token = read_enter(readers);
	seen = code_map_find(map, 0x1800, NULL);
	assert_int_equal(remove_range(map, 0x1000, 0x2000), 0);
	/* so many that writers search for memory to reuse */
	for (uint64_t i = 0; i < 1000; i++) {
		assert_int_equal(add(map, 0x10000, 0x10010, NULL), 0);
		assert_int_equal(remove_range(map, 0x10000, 0x10010), 0);
	}
	assert_int_equal(released, 0);
	assert_ptr_equal(seen->release, release);
	read_leave(readers, token);
	code_map_wait(map);
	assert_int_equal(released, 1001);
}

static void removed_ranges_are_released_without_anybody_waiting(void **state)
{
	struct code_map *map = *state;

	for (uint64_t i = 0; i < 10000; i++) {
		assert_int_equal(add(map, 0x10000, 0x10010, NULL), 0);
		assert_int_equal(remove_range(map, 0x10000, 0x10010), 0);
	}
	assert_in_range(released, 9000, 10000);
	assert_in_range(memory_of(map), 1, 1 << 20);
}

static void a_table_is_dropped_once_with_its_first_reason(void **state)
{
	struct code_map *map = *state;
	struct code *code = NULL;

	assert_int_equal(add(map, 0x1000, 0x2000, &code), 0);
	assert_true(dropped_mark(&code->dropped,
				 &(struct bobbin_error){0x30, BOBBIN_REASON_SFRAME_FRE}));
	assert_false(dropped_mark(&code->dropped,
				  &(struct bobbin_error){0x40, BOBBIN_REASON_SFRAME_FDE}));
	assert_int_equal(atomic_load(&code->dropped), 0x30 << 16 | BOBBIN_REASON_SFRAME_FRE);
}

/* The expected answer of the map. */
struct model {
	struct code_range *ranges;
	size_t count;
};

static const struct code_range *model_find(const struct model *m, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->ranges[i].start < end && start < m->ranges[i].end)
			return &m->ranges[i];
	return NULL;
}

static void try_add(struct code_map *map, struct model *m, uint64_t start, uint64_t size)
{
	struct code_range range = {start, start + size, code_new()};
	int r = code_map_add(map, &range);

	if (model_find(m, start, start + size)) {
		assert_int_equal(r, -EEXIST);
		free(range.code);
		return;
	}
	assert_int_equal(r, 0);
	m->ranges[m->count++] = range;
}

static void remove_any(struct code_map *map, struct model *m)
{
	size_t i;

	if (!m->count)
		return;
	i = arbitrary(m->count);
	assert_int_equal(code_map_remove(map, &m->ranges[i]), 0);
	m->ranges[i] = m->ranges[--m->count];
}

static void compare(struct code_map *map, const struct model *m, uint64_t addr)
{
	const struct code_range *expected = model_find(m, addr, addr + 1);
	struct code_range found;
	struct code *code = code_map_find(map, addr, &found);

	assert_ptr_equal(code, expected ? expected->code : NULL);
	if (!code)
		return;
	assert_in_range(addr, found.start, found.end - 1);
	assert_in_range(found.start, expected->start, expected->end - 1);
	assert_in_range(found.end, expected->start + 1, expected->end);
}

static void compare_all(struct code_map *map, const struct model *m)
{
	struct code_range range;
	uint64_t bytes = 0, expected = 0;
	size_t count = 0;

	for (size_t i = 0; i < m->count; i++) {
		expected += m->ranges[i].end - m->ranges[i].start;
		compare(map, m, m->ranges[i].start);
		compare(map, m, m->ranges[i].end - 1);
		compare(map, m, m->ranges[i].end);
	}
	for (uint64_t addr = 0; code_map_next(map, addr, &range); addr = range.end) {
		bytes += range.end - range.start;
		count++;
	}
	assert_int_equal(bytes, expected);
	assert_int_equal(code_count(map), count);
}

/* Ranges of up to @size bytes in @space bytes from @base. */
static void play(struct code_map *map, uint64_t base, uint64_t space, uint64_t size, int rounds)
{
	struct model m = {calloc((size_t)rounds, sizeof(struct code_range)), 0};

	for (int i = 0; i < rounds; i++) {
		/* times of growth and of decline */
		if (arbitrary(16) < (i / 1500 % 2 ? 4 : 12))
			try_add(map, &m, base + arbitrary(space), 1 + arbitrary(size));
		else
			remove_any(map, &m);
		compare(map, &m, base + arbitrary(space));
		if (i % 500 == 0)
			compare_all(map, &m);
	}
	while (m.count)
		remove_any(map, &m);
	compare_all(map, &m);
	free(m.ranges);
}

static void small_ranges_are_found_as_a_list_finds_them(void **state)
{
	play(*state, 0x7f1234560000, 1 << 16, 64, 12000);
}

static void scattered_ranges_are_found_as_a_list_finds_them(void **state)
{
	play(*state, 0x7f12fff00000, 64 * CHUNK, CHUNK / 8, 6000);
}

static void ranges_across_chunks_are_found_as_a_list_finds_them(void **state)
{
	play(*state, 5 * CHUNK - 0x8000, 1 << 16, 4096, 6000);
	play(*state, 0, 4 * CHUNK, 3 * CHUNK, 3000);
}

static void fill(struct code_map *map, unsigned int count, int order)
{
	for (unsigned int i = 0; i < count; i++) {
		unsigned int at = order > 0 ? i : count - 1 - i;

		assert_int_equal(add(map, 0x10000 + at * 64ull, 0x10020 + at * 64ull, NULL), 0);
	}
	for (unsigned int i = 0; i < count; i++) {
		assert_non_null(code_map_find(map, 0x1001f + i * 64ull, NULL));
		assert_null(code_map_find(map, 0x10020 + i * 64ull, NULL));
	}
}

static void ranges_in_order_take_little_memory(void **state)
{
	struct code_map *map = *state;

	fill(map, 120000, 1);
	assert_in_range(memory_of(map), 120000 * 16, 120000 * 24);
}

static void ranges_in_reverse_order_take_little_memory(void **state)
{
	struct code_map *map = *state;

	fill(map, 120000, -1);
	assert_in_range(memory_of(map), 120000 * 16, 120000 * 24);
}

static void leaves_of_removed_ranges_are_used_again(void **state)
{
	struct code_map *map = *state;
	size_t memory;

	fill(map, 20000, 1);
	memory = memory_of(map);
	for (uint64_t i = 0; i < 20000; i++)
		assert_int_equal(remove_range(map, 0x10000 + i * 64, 0x10020 + i * 64), 0);
	for (uint64_t i = 0; i < 20000; i++) {
		uint64_t start = 0x40000000 + i * 64;

		assert_int_equal(add(map, start, start + 32, NULL), 0);
	}
	assert_in_range(memory_of(map), 1, memory + memory / 4);
}

#define with_map(test) cmocka_unit_test_setup_teardown(test, open_map, close_map)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_map(a_range_is_found_from_its_first_to_its_last_byte),
		with_map(an_overlap_is_refused_and_changes_nothing),
		with_map(ranges_that_cannot_be_are_refused),
		with_map(what_was_not_added_cannot_be_removed),
		with_map(a_range_may_cross_four_gibibytes),
		with_map(the_last_byte_of_the_address_space_can_be_covered),
		with_map(a_code_is_released_after_its_last_range),
		with_map(nothing_is_released_while_somebody_reads),
		with_map(removed_ranges_are_released_without_anybody_waiting),
		with_map(a_table_is_dropped_once_with_its_first_reason),
		with_map(small_ranges_are_found_as_a_list_finds_them),
		with_map(scattered_ranges_are_found_as_a_list_finds_them),
		with_map(ranges_across_chunks_are_found_as_a_list_finds_them),
		with_map(ranges_in_order_take_little_memory),
		with_map(ranges_in_reverse_order_take_little_memory),
		with_map(leaves_of_removed_ranges_are_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
