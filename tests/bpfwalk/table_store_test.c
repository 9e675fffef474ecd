/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables for the program in the kernel: shared, found by numbers, and dropped when room is short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/native_arch.h"
#include "bpfwalk/table_store.h"
#include "core/frame_rules.h"
#include "table/table_builder.h"

/* What has rested, or was not used, for so long can go. */
#define LONG_NS 10000000000ull

struct fixture {
	struct table_store store;
	struct bpf_lists lists;
	struct kernel_file files[KERNEL_FILES];
	uint8_t pages[KERNEL_PAGES * (size_t)KERNEL_PAGE];
	struct kernel_mapping mappings[KERNEL_MAPPINGS];
};

static const struct kernel_file section = {.source = BOBBIN_SOURCE_EH_FRAME,
					   .next = KERNEL_NO_FILE};

static int open_store(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->store.files = f->files;
	f->store.pages = f->pages;
	f->lists.mappings = f->mappings;
	assert_int_equal(table_store_init(&f->store), 0);
	assert_int_equal(bpf_lists_init(&f->lists), 0);
	*state = f;
	return 0;
}

static int close_store(void **state)
{
	struct fixture *f = *state;

	table_store_fini(&f->store);
	bpf_lists_fini(&f->lists);
	free(f);
	return 0;
}

/* A table with one row; @start tells tables apart. */
static struct section_table make_table(uint64_t start)
{
	const struct bobbin_rule rule = outermost_rule(native_arch());
	struct section_table table = {.source = BOBBIN_SOURCE_EH_FRAME};
	struct table_builder builder;

	assert_int_equal(table_builder_init(native_arch(), NULL, 0, &builder), 0);
	assert_int_equal(table_builder_begin(&builder, start), 0);
	assert_int_equal(table_builder_rule(&builder, start, &rule), 0);
	assert_int_equal(table_builder_end(&builder, start + 1), 0);
	assert_int_equal(table_builder_make(&builder, &table.own, &table.size), 0);
	table_builder_fini(&builder);
	table.data = table.own;
	memcpy(table.digest, &start, sizeof(start));
	return table;
}

/* The number of a table. */
static uint32_t put(struct fixture *f, uint64_t start, uint32_t next, bool registered)
{
	struct section_table table = make_table(start);
	struct kernel_file file = section;
	struct table_slot *slot;

	file.next = next;
	slot = table_store_put(&f->store, &table, &file, registered);
	free(table.own);
	assert_non_null(slot);
	assert_int_equal(slot->state, SLOT_PLACED);
	return slot->number;
}

static bool is_there(struct fixture *f, uint32_t number)
{
	bool found = table_store_find(&f->store, number);

	assert_int_equal(found, f->files[kernel_file_index(number)].number == number);
	return found;
}

static void equal_tables_share_a_slot(void **state)
{
	struct fixture *f = *state;
	uint32_t a = put(f, 0x1000, KERNEL_NO_FILE, false);
	uint32_t pages = f->store.room.free;

	assert_int_equal(put(f, 0x1000, KERNEL_NO_FILE, false), a);
	assert_int_equal(f->store.room.free, pages);
	assert_int_not_equal(put(f, 0x2000, KERNEL_NO_FILE, false), a);
	/* what is asked next is a part of what a table says */
	assert_int_not_equal(put(f, 0x1000, a, false), a);
}

/* The table that is asked where a chain of them ends; its last one is asked for everything else. */
static uint32_t last_of(struct fixture *f, uint32_t number)
{
	uint32_t next;

	while ((next = f->files[kernel_file_index(number)].next) != KERNEL_NO_FILE) {
		assert_false(f->files[kernel_file_index(number)].resort);
		number = next;
	}
	return number;
}

static void a_chain_is_extended_by_a_table_and_the_old_one_stays(void **state)
{
	struct fixture *f = *state;
	uint32_t second = put(f, 0x2000, KERNEL_NO_FILE, false), first;
	uint32_t inferred = put(f, 0x3000, KERNEL_NO_FILE, false), before = second;
	struct table_slot *slot;
	uint8_t page[KERNEL_PAGE];

	f->files[kernel_file_index(second)].resort = true;
	first = put(f, 0x1000, second, false);
	memcpy(page, f->pages + table_store_find(&f->store, first)->run.first * KERNEL_PAGE,
	       sizeof(page));
	slot = table_store_extend(&f->store, first, inferred);
	assert_non_null(slot);
	assert_int_equal(slot->state, SLOT_PLACED);
	assert_int_not_equal(slot->number, first);
	assert_int_equal(last_of(f, slot->number), inferred);
	/* with the same bytes */
	assert_memory_equal(page, f->pages + slot->run.first * KERNEL_PAGE, slot->size);
	/* who walks by the old ones still does */
	assert_true(is_there(f, first));
	assert_int_equal(last_of(f, first), before);
	/* once more it is the same */
	assert_ptr_equal(table_store_extend(&f->store, first, inferred), slot);
}

static void what_is_not_there_is_not_extended(void **state)
{
	struct fixture *f = *state;
	uint32_t last = put(f, 0x3000, KERNEL_NO_FILE, false);
	uint32_t second = put(f, 0x2000, KERNEL_NO_FILE, false);
	uint32_t first = put(f, 0x1000, second, false);

	table_store_free(&f->store, table_store_find(&f->store, second));
	assert_null(table_store_extend(&f->store, first, last));
	for (unsigned int i = 0; i < KERNEL_SECTIONS; i++)
		last = put(f, 0x4000 + i, last, false);
	assert_null(table_store_extend(&f->store, last, first));
}

static void registered_code_is_known_by_its_numbers(void **state)
{
	struct fixture *f = *state;

	assert_false(kernel_is_registered(put(f, 0x1000, KERNEL_NO_FILE, false)));
	assert_true(kernel_is_registered(put(f, 0x2000, KERNEL_NO_FILE, true)));
	assert_false(kernel_is_registered(KERNEL_NO_FILE));
	assert_false(kernel_is_registered(KERNEL_RECORD));
}

static void registered_code_has_a_share_and_files_the_rest(void **state)
{
	struct fixture *f = *state;
	struct section_table table = make_table(1);
	uint64_t before = table_store_left(&f->store);

	for (uint64_t i = 0; i < KERNEL_CODE_FILES; i++)
		put(f, 0x1000 + i, KERNEL_NO_FILE, true);
	assert_int_equal(table_store_left(&f->store), before);
	assert_null(table_store_put(&f->store, &table, &section, true));
	assert_non_null(table_store_put(&f->store, &table, &section, false));
	free(table.own);
}

static void what_no_list_names_is_dropped_and_numbers_are_not_used_again(void **state)
{
	struct fixture *f = *state;
	struct kernel_mapping entry = {.start = 0x1000, .end = 0x2000, .under = KERNEL_NO_FILE};
	uint32_t named = put(f, 0x1000, KERNEL_NO_FILE, true);
	uint32_t other = put(f, 0x2000, KERNEL_NO_FILE, true);

	entry.file = named;
	assert_non_null(bpf_lists_get(&f->lists, &entry, 1));
	table_store_make_room(&f->store, &f->lists);
	assert_true(is_there(f, other));
	f->store.wants_room = true;
	table_store_make_room(&f->store, &f->lists);
	assert_true(is_there(f, named));
	assert_false(is_there(f, other));
	assert_int_equal(f->store.found, 1);
	assert_int_not_equal(put(f, 0x2000, KERNEL_NO_FILE, true), other);
}

static void files_stay_while_room_is_not_short(void **state)
{
	struct fixture *f = *state;
	uint32_t unused = put(f, 0x1000, KERNEL_NO_FILE, false);

	table_store_find(&f->store, unused)->used -= LONG_NS;
	f->store.wants_room = true;
	table_store_make_room(&f->store, &f->lists);
	assert_true(is_there(f, unused));
}

static void the_tables_of_a_file_are_used_together_the_first_one_goes_first(void **state)
{
	struct fixture *f = *state;
	uint32_t last = put(f, 0x1000, KERNEL_NO_FILE, false), first = put(f, 0x2000, last, false);

	table_store_find(&f->store, first)->used -= LONG_NS;
	table_store_find(&f->store, last)->used -= LONG_NS;
	table_store_use(&f->store, first);
	assert_true(table_store_find(&f->store, first)->used <
		    table_store_find(&f->store, last)->used);
}

static void unused_files_make_room_when_it_is_short(void **state)
{
	struct fixture *f = *state;
	struct kernel_mapping entry = {.start = 0x1000, .end = 0x2000, .under = KERNEL_NO_FILE};
	uint32_t last = put(f, 0x1000, KERNEL_NO_FILE, false), first = put(f, 0x2000, last, false);
	uint32_t unused = put(f, 0x3000, KERNEL_NO_FILE, false), page;

	for (uint32_t i = 0; i < f->store.slot_end; i++)
		f->store.slots[i].used -= LONG_NS;
	entry.file = first;
	assert_non_null(bpf_lists_get(&f->lists, &entry, 1));
	assert_true(map_allocator_take(&f->store.room, KERNEL_PAGES - 1024 - 1000, &page));
	table_store_make_room(&f->store, &f->lists);
	assert_true(is_there(f, first));
	assert_true(is_there(f, last));
	assert_false(is_there(f, unused));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(equal_tables_share_a_slot, open_store, close_store),
		cmocka_unit_test_setup_teardown(
			a_chain_is_extended_by_a_table_and_the_old_one_stays, open_store,
			close_store),
		cmocka_unit_test_setup_teardown(what_is_not_there_is_not_extended, open_store,
						close_store),
		cmocka_unit_test_setup_teardown(registered_code_is_known_by_its_numbers, open_store,
						close_store),
		cmocka_unit_test_setup_teardown(registered_code_has_a_share_and_files_the_rest,
						open_store, close_store),
		cmocka_unit_test_setup_teardown(
			what_no_list_names_is_dropped_and_numbers_are_not_used_again, open_store,
			close_store),
		cmocka_unit_test_setup_teardown(files_stay_while_room_is_not_short, open_store,
						close_store),
		cmocka_unit_test_setup_teardown(
			the_tables_of_a_file_are_used_together_the_first_one_goes_first, open_store,
			close_store),
		cmocka_unit_test_setup_teardown(unused_files_make_room_when_it_is_short, open_store,
						close_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
