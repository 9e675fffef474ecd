/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A registration takes room from a loaded object while memory runs out. */
#include "code_samples.h"

#include "codemap/registry.h"

#define MOST_FILLERS 140
#define MOST_ALLOCATIONS 8

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static bool limited;
static unsigned int left; /* allocations before all fail, if limited */

static bool fails(void)
{
	if (!limited)
		return false;
	if (!left)
		return true;
	left--;
	return false;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

static unsigned int released;

static void count_release(struct code *code)
{
	released++;
}

static void ignore_release(struct code *code)
{
}

static unsigned int ranges_of(const struct code_map *map, const struct code *code)
{
	struct code_range range;
	unsigned int count = 0;

	for (uint64_t at = 0; code_map_next(map, at, &range); at = range.end)
		count += range.code == code;
	return count;
}

/* How many ranges of an object remain when one is registered in the middle. */
static unsigned int cut(const struct sample *s, unsigned int fillers, unsigned int allocations)
{
	struct code object = {.kind = CODE_OBJECT, .release = count_release};
	struct code filler = {.kind = CODE_OBJECT, .release = ignore_release};
	struct code_elf_info info = {.text_start = (uintptr_t)s->text + s->page,
				     .text_end = (uintptr_t)s->text + 2 * s->page};
	struct registry *registry;
	struct code_map *map;
	unsigned int rest;

	released = 0;
	assert_int_equal(registry_open(NULL, &registry), 0);
	map = registry_map(registry);
	assert_int_equal(
		code_map_add(map, &(struct code_range){(uintptr_t)s->text, text_end(s), &object}),
		0);
	/* they use up what the map has allocated beforehand */
	for (uint64_t at = text_end(s) + s->page; fillers--; at += 32)
		assert_int_equal(code_map_add(map, &(struct code_range){at, at + 16, &filler}), 0);

	limited = true;
	left = allocations;
	code_calls_codectl(registry, CODE_REGISTER_ELF, &info, sizeof(info), 0, NULL);
	limited = false;
	rest = ranges_of(map, &object);
	code_map_wait(map);
	assert_int_equal(released, !rest);
	assert_int_equal(object.ranges, rest);
	registry_close(registry);
	assert_int_equal(released, 1);
	return rest;
}

static void an_object_of_which_no_range_stays_is_released(void **state)
{
	struct sample s = sample_open(4);
	unsigned int cases[3] = {0};

	for (unsigned int fillers = 0; fillers < MOST_FILLERS; fillers++)
		for (unsigned int n = 0; n < MOST_ALLOCATIONS; n++) {
			unsigned int rest = cut(&s, fillers, n);

			assert_in_range(rest, 0, 2);
			cases[rest]++;
		}
	/* all cases occurred, also memory for only one range */
	assert_true(cases[0] && cases[1] && cases[2]);
	sample_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_object_of_which_no_range_stays_is_released),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
