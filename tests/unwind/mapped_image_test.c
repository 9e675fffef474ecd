/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Code of which the caller has the bytes: where it has tables, they serve. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <bobbin/unwind.h>

#include "base/native_arch.h"
#include "target/backing_file.h"
#include "unwind/module.h"

#define SOMEWHERE 0x7f1234560000ull

struct world {
	struct bobbin_unwinder *unwinder;
	struct bobbin_space *space;
	const uint8_t *vdso; /* an image with tables that each machine has */
	size_t size;
	struct bobbin_mapping mapping;
};

static int open_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w || bobbin_unwinder_open(NULL, &w->unwinder) ||
	    bobbin_space_open(w->unwinder, native_arch(), &w->space))
		return -1;
	w->vdso = own_vdso(&w->size);
	w->mapping = (struct bobbin_mapping){.start = SOMEWHERE,
					     .end = SOMEWHERE + ((w->size + 4095) & ~4095ull),
					     .path = "[vdso]"};
	*state = w;
	return 0;
}

static int close_world(void **state)
{
	struct world *w = *state;

	bobbin_space_close(w->space);
	bobbin_unwinder_close(w->unwinder);
	free(w);
	return 0;
}

/* Whether a table of what is mapped knows one of its addresses. */
static bool has_rules(const struct world *w)
{
	uint64_t start, offset;

	for (uint64_t at = w->mapping.start; at < w->mapping.end; at += 16)
		if (!bobbin_function_start(w->unwinder, w->space, at, &start, &offset))
			return true;
	return false;
}

static void a_vdso_of_others_is_the_one_that_was_mapped(void **state)
{
	struct world *w = *state;
	struct bobbin_place_info place;
	uint8_t *copy;

	if (!w->vdso)
		skip();
	copy = malloc(w->size);
	assert_non_null(copy);
	memcpy(copy, w->vdso, w->size);
	/* a word that says nothing */
	copy[EI_NIDENT - 1] = 7;
	assert_int_equal(bobbin_space_map_image(w->space, &w->mapping, copy, w->size), 0);
	assert_int_equal(bobbin_space_find(w->space, SOMEWHERE + 16, &place), 0);
	assert_int_equal(place.image_size, w->size);
	assert_memory_equal(place.image, copy, w->size);
	memset(copy, 0, w->size);
	free(copy);
	assert_true(has_rules(w));
}

static void what_is_no_elf_file_has_no_tables(void **state)
{
	struct world *w = *state;
	static const uint8_t zeroes[4096];

	assert_int_equal(bobbin_space_map_image(w->space, &w->mapping, zeroes, sizeof(zeroes)), 0);
	assert_false(has_rules(w));
	assert_int_equal(bobbin_space_map_image(w->space, &w->mapping, NULL, 0), 0);
	assert_false(has_rules(w));
}

static void the_image_stands_in_for_a_file_that_is_not_here(void **state)
{
	struct world *w = *state;

	if (!w->vdso)
		skip();
	w->mapping.path = "/no/such/library.so";
	assert_int_equal(bobbin_space_map(w->space, &w->mapping), 0);
	assert_false(has_rules(w));
	assert_int_equal(bobbin_space_map_image(w->space, &w->mapping, w->vdso, w->size), 0);
	assert_true(has_rules(w));
}

static void a_file_that_begins_otherwise_is_another_one(void **state)
{
	struct world *w = *state;

	w->mapping.path = "/proc/self/exe";
	assert_int_equal(bobbin_space_map_image(w->space, &w->mapping, "text", 4), 0);
	assert_null(unwinder_module(w->unwinder, w->space, SOMEWHERE));
}

static void ranges_that_are_empty_are_refused(void **state)
{
	struct world *w = *state;

	w->mapping.end = w->mapping.start;
	assert_true(bobbin_space_map_image(w->space, &w->mapping, "text", 4) < 0);
}

#define IN_A_WORLD(test) cmocka_unit_test_setup_teardown(test, open_world, close_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_A_WORLD(a_vdso_of_others_is_the_one_that_was_mapped),
		IN_A_WORLD(what_is_no_elf_file_has_no_tables),
		IN_A_WORLD(the_image_stands_in_for_a_file_that_is_not_here),
		IN_A_WORLD(a_file_that_begins_otherwise_is_another_one),
		IN_A_WORLD(ranges_that_are_empty_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
