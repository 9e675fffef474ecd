/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/loaded_programs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void add(struct loaded_programs *p, uint64_t start, uint32_t size, const char *name)
{
	const struct loaded_program program = {start, size, name};

	assert_int_equal(loaded_programs_add(p, &program), 0);
}

/* "-" where there is none. */
static const char *name_at(const struct loaded_programs *p, uint64_t address)
{
	const struct loaded_program *found = loaded_programs_find(p, address);

	return found ? found->name : "-";
}

static void a_program_has_its_addresses_until_it_has_gone(void **state)
{
	struct loaded_programs p;

	loaded_programs_init(&p);
	assert_string_equal(name_at(&p, 100), "-");
	add(&p, 200, 50, "second");
	add(&p, 100, 50, "first");
	assert_string_equal(name_at(&p, 99), "-");
	assert_string_equal(name_at(&p, 100), "first");
	assert_string_equal(name_at(&p, 149), "first");
	assert_string_equal(name_at(&p, 150), "-");
	assert_string_equal(name_at(&p, 249), "second");
	loaded_programs_remove(&p, 120);
	loaded_programs_remove(&p, 100);
	assert_string_equal(name_at(&p, 120), "-");
	assert_string_equal(name_at(&p, 200), "second");
	loaded_programs_fini(&p);
}

static void a_program_takes_the_place_of_all_that_it_covers(void **state)
{
	struct loaded_programs p;

	loaded_programs_init(&p);
	for (uint64_t i = 1; i < 5; i++)
		add(&p, 100 * i, 100, "old");
	add(&p, 250, 200, "new");
	assert_int_equal(p.count, 2);
	assert_string_equal(name_at(&p, 199), "old");
	assert_string_equal(name_at(&p, 200), "-");
	assert_string_equal(name_at(&p, 250), "new");
	assert_string_equal(name_at(&p, 449), "new");
	assert_string_equal(name_at(&p, 450), "-");
	loaded_programs_fini(&p);
}

static void hostile_ranges_are_kept_in_order(void **state)
{
	struct loaded_programs p;

	loaded_programs_init(&p);
	add(&p, 0, 0, "empty");
	assert_int_equal(p.count, 0);
	add(&p, UINT64_MAX - 1, UINT32_MAX, "last");
	assert_string_equal(name_at(&p, UINT64_MAX), "last");
	assert_string_equal(name_at(&p, 0), "-");
	for (uint64_t i = 0; i < LOADED_PROGRAMS_MAX + 10; i++)
		add(&p, 16 * i, 16, "many");
	assert_int_equal(p.count, LOADED_PROGRAMS_MAX);
	assert_string_equal(name_at(&p, 0), "many");
	loaded_programs_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_has_its_addresses_until_it_has_gone),
		cmocka_unit_test(a_program_takes_the_place_of_all_that_it_covers),
		cmocka_unit_test(hostile_ranges_are_kept_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
