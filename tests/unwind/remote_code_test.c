/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks through code that a process registered: this one, which publishes, and
 * whose stacks are made up.
 */
#include <bobbin/code_abi.h>
#include <bobbin/sframe_builder.h>
#include <bobbin/unwind.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <errno.h>

#include "base/native_arch.h"
#include "codemap/page_writer.h"
#include "made_walks.h"
#include "table/table_builder.h"

#define CODE UINT64_C(0x700000000000) /* anonymous */
#define CODE_SIZE 0x10000
#define OUTER UINT64_C(0x710000000000) /* code of the outermost frame */

struct fixture {
	struct page_writer *page;
	struct made_walks walks;
	uint64_t id;
};

static struct bobbin_rule sp_rule(int32_t cfa_off)
{
	struct bobbin_rule rule = {.index = BOBBIN_NO_INDEX};

	rule.cfa = (struct bobbin_place){
		.how = BOBBIN_HOW_AT_REG, .reg = native_arch()->sp, .off = cfa_off};
	rule.ra = (struct bobbin_place){.how = BOBBIN_HOW_IN_CFA_MEM, .off = -8};
	rule.fp = (struct bobbin_place){.how = BOBBIN_HOW_SAME};
	return rule;
}

/* A section for one function, of the heap. */
static size_t make_section(uint64_t start, uint32_t size, int32_t cfa_off, uint8_t **ret)
{
	static struct bobbin_sframe_built fdes[1];
	static uint8_t fres[64];
	struct bobbin_sframe_row row = {.start = 0, .rule = sp_rule(cfa_off)};
	struct bobbin_sframe_function function = {
		.start = start, .size = size, .rows = &row, .count = 1};
	struct bobbin_sframe_builder builder;
	uint64_t bytes;

	/* as if it stood before the code: V3 reaches any place */
	assert_int_equal(bobbin_sframe_builder_init(native_arch(), start, 3, &builder), 0);
	builder.fdes = fdes;
	builder.fde_max = 1;
	builder.fres = fres;
	builder.fre_max = sizeof(fres);
	assert_int_equal(bobbin_sframe_builder_add(&builder, &function), 0);
	bytes = bobbin_sframe_builder_size(&builder);
	*ret = malloc(bytes);
	assert_non_null(*ret);
	assert_int_equal(bobbin_sframe_builder_finish(&builder, *ret, bytes), 0);
	return bytes;
}

static int open_fixture(void **state)
{
	const struct bobbin_mapping code = {.start = CODE, .end = CODE + CODE_SIZE, .path = ""};
	const struct bobbin_mapping outer = {.start = OUTER, .end = OUTER + 0x1000, .path = ""};
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f || page_writer_open(&f->page) || bobbin_unwinder_open(NULL, &f->walks.unwinder) ||
	    bobbin_space_open(f->walks.unwinder, native_arch(), &f->walks.space) ||
	    bobbin_space_map(f->walks.space, &code) || bobbin_space_map(f->walks.space, &outer))
		return -1;
	f->walks.outer = OUTER;
	*state = f;
	return 0;
}

static int close_fixture(void **state)
{
	struct fixture *f = *state;

	bobbin_space_close(f->walks.space);
	bobbin_unwinder_close(f->walks.unwinder);
	page_writer_close(f->page);
	free(f);
	return 0;
}

static struct bobbin_code_entry section_entry(struct fixture *f, uint64_t start, uint64_t end,
					      const void *section, size_t size)
{
	return (struct bobbin_code_entry){
		.id = ++f->id,
		.kind = BOBBIN_CODE_SFRAME,
		.text_start = start,
		.text_end = end,
		.table = (uintptr_t)section,
		.table_size = size,
		.table_addr = start,
	};
}

static uint32_t publish(struct fixture *f, const struct bobbin_code_entry *entry)
{
	uint32_t number;

	assert_int_equal(page_writer_add(f->page, entry, &number), 0);
	return number;
}

/* Register [@start, @end) as one function; the section is the caller's to free. */
static uint32_t publish_section(struct fixture *f, uint64_t start, uint64_t end, int32_t cfa_off,
				uint8_t **section)
{
	size_t size = make_section(start, (uint32_t)(end - start), cfa_off, section);
	struct bobbin_code_entry entry = section_entry(f, start, end, *section, size);

	return publish(f, &entry);
}

static void assert_led_out(struct fixture *f, enum bobbin_source source)
{
	assert_int_equal(f->walks.trace.count, 2);
	assert_int_equal(f->walks.frames[0].source, source);
	assert_int_equal(f->walks.frames[1].pc, OUTER + 0x10);
	assert_int_equal(f->walks.trace.reason, BOBBIN_REASON_NO_TABLE);
}

static void assert_stuck(struct fixture *f)
{
	assert_int_equal(f->walks.trace.count, 1);
	assert_int_equal(f->walks.frames[0].source, BOBBIN_SOURCE_NONE);
	assert_int_equal(f->walks.trace.reason, BOBBIN_REASON_NO_TABLE);
}

static void registered_section_unwinds_memory_without_a_file(void **state)
{
	struct fixture *f = *state;
	uint8_t *section;
	uint32_t number;

	assert_int_equal(update(&f->walks), 1); /* an empty page */
	walk(&f->walks, CODE + 0x110, FRAME - 8);
	assert_stuck(f);

	number = publish_section(f, CODE + 0x100, CODE + 0x200, FRAME, &section);
	assert_int_equal(update(&f->walks), 1);
	assert_int_equal(update(&f->walks), 0);
	walk(&f->walks, CODE + 0x110, FRAME - 8);
	assert_led_out(f, BOBBIN_SOURCE_SFRAME);
	walk(&f->walks, CODE + 0x1ff, FRAME - 8);
	assert_led_out(f, BOBBIN_SOURCE_SFRAME);
	walk(&f->walks, CODE + 0x0ff, FRAME - 8);
	assert_stuck(f);
	walk(&f->walks, CODE + 0x200, FRAME - 8);
	assert_stuck(f);

	page_writer_remove(f->page, number);
	free(section);
	walk(&f->walks, CODE + 0x110, FRAME - 8); /* a copy serves */
	assert_led_out(f, BOBBIN_SOURCE_SFRAME);
	assert_int_equal(update(&f->walks), 1);
	walk(&f->walks, CODE + 0x110, FRAME - 8);
	assert_stuck(f);
}

static void a_compiled_table_unwinds_memory_without_a_file(void **state)
{
	struct fixture *f = *state;
	const struct bobbin_rule rule = sp_rule(FRAME);
	struct bobbin_code_entry entry = section_entry(f, CODE + 0x100, CODE + 0x200, NULL, 0);
	struct table_builder builder;
	uint8_t *data;
	uint64_t size;

	/* the table's own addresses begin at 0x2000 */
	assert_int_equal(table_builder_init(native_arch(), NULL, 0, &builder), 0);
	assert_int_equal(table_builder_begin(&builder, 0x2100), 0);
	assert_int_equal(table_builder_rule(&builder, 0x2100, &rule), 0);
	assert_int_equal(table_builder_end(&builder, 0x2180), 0);
	assert_int_equal(table_builder_make(&builder, &data, &size), 0);
	table_builder_fini(&builder);
	entry.kind = BOBBIN_CODE_COMPILED;
	entry.table = (uintptr_t)data;
	entry.table_size = size;
	entry.table_addr = CODE - 0x2000;
	publish(f, &entry);
	assert_int_equal(update(&f->walks), 1);
	walk(&f->walks, CODE + 0x110, FRAME - 8);
	assert_led_out(f, BOBBIN_SOURCE_COMPILED);
	walk(&f->walks, CODE + 0x17f, FRAME - 8);
	assert_led_out(f, BOBBIN_SOURCE_COMPILED);
	walk(&f->walks, CODE + 0x180, FRAME - 8);
	assert_stuck(f);
	free(data);
}

static void registered_code_needs_no_mapping(void **state)
{
	struct fixture *f = *state;
	uint8_t *section;

	publish_section(f, CODE + 0x100, CODE + 0x200, FRAME, &section);
	assert_int_equal(update(&f->walks), 1);
	assert_int_equal(bobbin_space_unmap(f->walks.space, CODE, CODE + CODE_SIZE), 0);
	walk(&f->walks, CODE + 0x110, FRAME - 8);
	assert_led_out(f, BOBBIN_SOURCE_SFRAME);
	free(section);
}

static void new_registration_of_a_place_forgets_the_rules_of_the_old_one(void **state)
{
	struct fixture *f = *state;
	uint8_t *first, *second;
	uint32_t number = publish_section(f, CODE, CODE + 0x100, FRAME, &first);

	assert_int_equal(update(&f->walks), 1);
	walk(&f->walks, CODE + 0x10, FRAME - 8);
	assert_led_out(f, BOBBIN_SOURCE_SFRAME);
	page_writer_remove(f->page, number);
	publish_section(f, CODE, CODE + 0x100, 2 * FRAME, &second);
	assert_int_equal(update(&f->walks), 1);
	walk(&f->walks, CODE + 0x10, 2 * FRAME - 8);
	assert_led_out(f, BOBBIN_SOURCE_SFRAME);
	free(first);
	free(second);
}

static void malformed_section_is_dropped_and_its_reason_kept(void **state)
{
	struct fixture *f = *state;
	uint8_t *good, *bad;
	struct bobbin_error error;
	size_t size = make_section(CODE + 0x100, 0x100, FRAME, &bad);
	struct bobbin_code_entry entry = section_entry(f, CODE + 0x100, CODE + 0x200, bad, size);

	memset(bad, 0xff, 4);
	publish(f, &entry);
	publish_section(f, CODE + 0x200, CODE + 0x300, FRAME, &good);
	assert_int_equal(update(&f->walks), 1);
	walk(&f->walks, CODE + 0x110, FRAME - 8);
	assert_stuck(f);
	assert_true(table_set_dropped(tables_at(&f->walks, CODE + 0x110), &error));
	assert_int_equal(error.reason, BOBBIN_REASON_SFRAME_MAGIC);
	walk(&f->walks, CODE + 0x210, FRAME - 8);
	assert_led_out(f, BOBBIN_SOURCE_SFRAME);
	free(good);
	free(bad);
}

static void section_that_the_process_dropped_is_not_used(void **state)
{
	struct fixture *f = *state;
	struct bobbin_error error;
	uint8_t *section;
	uint32_t number = publish_section(f, CODE, CODE + 0x100, FRAME, &section);

	assert_int_equal(update(&f->walks), 1);
	page_writer_dropped(f->page, number, 7 << 16 | BOBBIN_REASON_SFRAME_RANGE);
	assert_int_equal(update(&f->walks), 1);
	walk(&f->walks, CODE + 0x10, FRAME - 8);
	assert_stuck(f);
	assert_true(table_set_dropped(tables_at(&f->walks, CODE), &error));
	assert_int_equal(error.offset, 7);
	assert_int_equal(error.reason, BOBBIN_REASON_SFRAME_RANGE);
	free(section);
}

static void section_that_cannot_be_read_or_is_too_large_is_none(void **state)
{
	struct fixture *f = *state;
	struct bobbin_code_entry nowhere = section_entry(f, CODE, CODE + 0x100, (void *)16, 100);
	struct bobbin_code_entry huge = section_entry(f, CODE + 0x100, CODE + 0x200, f,
						      REMOTE_MAX_BYTES + 1);
	struct bobbin_code_entry empty = section_entry(f, CODE + 0x200, CODE + 0x300, f, 0);
	struct bobbin_error error;

	publish(f, &nowhere);
	publish(f, &huge);
	publish(f, &empty);
	assert_int_equal(update(&f->walks), 1);
	for (unsigned int i = 0; i < 3; i++) {
		bool dropped = table_set_dropped(tables_at(&f->walks, CODE + 0x100 * i), &error);

		walk(&f->walks, CODE + 0x100 * i + 8, FRAME - 8);
		assert_stuck(f);
		assert_int_equal(dropped, i < 2);
		if (dropped)
			assert_int_equal(error.reason, BOBBIN_REASON_NO_MEMORY);
	}
}

static void ranges_of_one_registration_share_its_section(void **state)
{
	struct fixture *f = *state;
	uint8_t *section;
	size_t size = make_section(CODE, 0x1000, FRAME, &section);
	struct bobbin_code_entry entry = section_entry(f, CODE, CODE + 0x100, section, size);
	const struct remote_code *code;

	publish(f, &entry);
	entry.text_start = CODE + 0x800;
	entry.text_end = CODE + 0x900;
	publish(f, &entry);
	assert_int_equal(update(&f->walks), 1);
	code = f->walks.space->remote;
	assert_int_equal(code->count, 2);
	assert_ptr_equal(code->ranges[0].table, code->ranges[1].table);
	walk(&f->walks, CODE + 0x10, FRAME - 8);
	assert_led_out(f, BOBBIN_SOURCE_SFRAME);
	walk(&f->walks, CODE + 0x810, FRAME - 8);
	assert_led_out(f, BOBBIN_SOURCE_SFRAME);
	walk(&f->walks, CODE + 0x410, FRAME - 8);
	assert_stuck(f);
	free(section);
}

/* Many ranges of one section are one section's bytes, at each look. */
static void limit_counts_a_section_once_whatever_ranges_share_it(void **state)
{
	struct fixture *f = *state;
	uint8_t *zeros = mmap(NULL, REMOTE_MAX_BYTES, PROT_READ,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct bobbin_code_entry shared = section_entry(f, CODE, CODE + 0x10, zeros, 8 << 20);
	struct bobbin_code_entry large = section_entry(f, CODE + 0x8000, CODE + 0x8010, zeros,
						       REMOTE_MAX_BYTES - (4 << 20));
	struct bobbin_code_entry small = section_entry(f, CODE + 0x9000, CODE + 0x9010, zeros,
						       1 << 20);
	struct bobbin_error error;

	assert_true(zeros != MAP_FAILED);
	for (unsigned int i = 0; i < 40; i++) {
		publish(f, &shared);
		shared.text_start += 0x10;
		shared.text_end += 0x10;
	}
	assert_int_equal(update(&f->walks), 1);
	publish(f, &large);
	publish(f, &small);
	assert_int_equal(update(&f->walks), 1);
	assert_true(table_set_dropped(tables_at(&f->walks, large.text_start), &error));
	assert_int_equal(error.reason, BOBBIN_REASON_NO_MEMORY);
	assert_false(table_set_dropped(tables_at(&f->walks, small.text_start), &error));
	munmap(zeros, REMOTE_MAX_BYTES);
}

#define FRES 4

static struct code_jit_unwind_table *new_table(void)
{
	struct code_jit_unwind_table *table = calloc(1,
						     sizeof(*table) + FRES * sizeof(table->fre[0]));

	assert_non_null(table);
	table->reserved_len = FRES * sizeof(table->fre[0]);
	return table;
}

static struct bobbin_code_entry jit_entry(struct fixture *f,
					  const struct code_jit_unwind_table *table)
{
	return (struct bobbin_code_entry){
		.id = ++f->id,
		.kind = BOBBIN_CODE_JIT,
		.text_start = CODE,
		.text_end = CODE + 0x1000,
		.table = (uintptr_t)table,
	};
}

static void jit_table_is_read_as_it_grows(void **state)
{
	struct fixture *f = *state;
	struct code_jit_unwind_table *table = new_table();
	struct bobbin_code_entry entry = jit_entry(f, table);

	for (uint32_t i = 0; i < FRES; i++)
		table->fre[i] = (struct code_jit_unwind_fre){
			.size = 0x100,
			.ip_off = 0x100 * i,
			.cfa_off = FRAME,
			.info = CODE_JIT_FRE_BASE_SP | 1 << 1,
		};
	publish(f, &entry);
	assert_int_equal(update(&f->walks), 1);
	walk(&f->walks, CODE + 0x10, FRAME - 8);
	assert_stuck(f);
	table->used_len = sizeof(table->fre[0]);
	walk(&f->walks, CODE + 0x10, FRAME - 8);
	assert_led_out(f, BOBBIN_SOURCE_JIT);
	walk(&f->walks, CODE + 0x110, FRAME - 8);
	assert_stuck(f);
	table->used_len = table->reserved_len;
	walk(&f->walks, CODE + 0x110, FRAME - 8);
	assert_led_out(f, BOBBIN_SOURCE_JIT);
	assert_int_equal(update(&f->walks), 0);
	free(table);
}

static void malformed_jit_table_is_dropped(void **state)
{
	struct fixture *f = *state;
	struct code_jit_unwind_table *table = new_table();
	struct bobbin_code_entry entry = jit_entry(f, table);
	struct bobbin_error error;

	table->used_len = (FRES + 1) * sizeof(table->fre[0]);
	publish(f, &entry);
	assert_int_equal(update(&f->walks), 1);
	walk(&f->walks, CODE + 0x10, FRAME - 8);
	assert_stuck(f);
	assert_true(table_set_dropped(tables_at(&f->walks, CODE), &error));
	free(table);
}

static void registered_code_overrides_a_file_where_it_knows_the_address(void **state)
{
	struct fixture *f = *state;
	const uint64_t here = (uint64_t)(uintptr_t)make_section & ~UINT64_C(0xf);
	struct bobbin_place_info place;
	uint8_t *section;
	size_t size = make_section(here, 0x10, FRAME, &section);
	/* the section knows its first bytes only */
	struct bobbin_code_entry entry = section_entry(f, here, here + 0x100, section, size);
	enum bobbin_source source;

	assert_int_equal(bobbin_space_load(f->walks.space, getpid()), 0);
	walk(&f->walks, here + 0x20, FRAME - 8);
	source = (enum bobbin_source)f->walks.frames[0].source;
	assert_true(source == BOBBIN_SOURCE_EH_FRAME);

	publish(f, &entry);
	assert_int_equal(update(&f->walks), 1);
	walk(&f->walks, here + 8, FRAME - 8);
	assert_int_equal(f->walks.frames[0].source, BOBBIN_SOURCE_SFRAME);
	walk(&f->walks, here + 0x20, FRAME - 8);
	assert_int_equal(f->walks.frames[0].source, source);
	assert_int_equal(bobbin_space_find(f->walks.space, here, &place), 0);
	assert_non_null(strstr(place.mapping.path, "remote_code_test"));
	free(section);
}

static void image_is_found_where_no_file_is_mapped(void **state)
{
	static const char names[] = "/lib/xyz\1\2\3\4";
	const struct bobbin_code_identity head = {.size = sizeof(head) + sizeof(names),
						  .elf_start = CODE,
						  .elf_end = CODE + 0x1000,
						  .path_len = 8,
						  .build_id_len = 4};
	uint8_t identity[sizeof(head) + sizeof(names)];
	struct fixture *f = *state;
	struct bobbin_code_entry entry = {
		.id = ++f->id,
		.kind = BOBBIN_CODE_NAMED,
		.text_start = CODE + 0x100,
		.text_end = CODE + 0x200,
		.identity = (uintptr_t)identity,
	};
	struct bobbin_place_info place;

	memcpy(identity, &head, sizeof(head));
	memcpy(identity + sizeof(head), names, sizeof(names));
	publish(f, &entry);
	assert_int_equal(update(&f->walks), 1);
	assert_int_equal(bobbin_space_find(f->walks.space, CODE + 0x180, &place), 0);
	assert_string_equal(place.mapping.path, "/lib/xyz");
	assert_int_equal(place.file_offset, 0x180);
	assert_int_equal(place.mapping.build_id_len, 4);
	assert_memory_equal(place.mapping.build_id, "\1\2\3\4", 4);
	assert_int_equal(bobbin_space_find(f->walks.space, CODE + 0x200, &place), 0);
	assert_string_equal(place.mapping.path, "");
	walk(&f->walks, CODE + 0x180, FRAME - 8);
	assert_stuck(f);
}

static void copy_of_a_space_knows_the_code_and_a_cleared_one_does_not(void **state)
{
	struct fixture *f = *state;
	struct bobbin_space *parent = f->walks.space, *child;
	uint8_t *section;

	publish_section(f, CODE, CODE + 0x100, FRAME, &section);
	assert_int_equal(update(&f->walks), 1);
	assert_int_equal(bobbin_space_fork(parent, &child), 0);
	bobbin_space_close(parent);
	f->walks.space = child;
	walk(&f->walks, CODE + 0x10, FRAME - 8);
	assert_led_out(f, BOBBIN_SOURCE_SFRAME);
	bobbin_space_clear(child);
	assert_int_equal(update(&f->walks), 1);
	walk(&f->walks, CODE + 0x10, FRAME - 8);
	assert_int_equal(f->walks.frames[0].source, BOBBIN_SOURCE_SFRAME);
	bobbin_space_clear(child);
	walk(&f->walks, CODE + 0x10, FRAME - 8);
	assert_int_equal(f->walks.trace.reason, BOBBIN_REASON_NO_MAPPING);
	free(section);
}

static void what_was_known_stays_when_the_process_has_gone(void **state)
{
	struct fixture *f = *state;
	uint8_t *section;
	pid_t pid;

	publish_section(f, CODE, CODE + 0x100, FRAME, &section);
	pid = fork();
	if (!pid) {
		for (;;)
			pause();
	}
	assert_int_equal(bobbin_space_update_code(f->walks.unwinder, f->walks.space, pid), 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(bobbin_space_update_code(f->walks.unwinder, f->walks.space, pid), -ESRCH);
	walk(&f->walks, CODE + 0x10, FRAME - 8);
	assert_led_out(f, BOBBIN_SOURCE_SFRAME);
	free(section);
}

int main(void)
{
#define WALK_TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
	const struct CMUnitTest tests[] = {
		WALK_TEST(registered_section_unwinds_memory_without_a_file),
		WALK_TEST(a_compiled_table_unwinds_memory_without_a_file),
		WALK_TEST(registered_code_needs_no_mapping),
		WALK_TEST(new_registration_of_a_place_forgets_the_rules_of_the_old_one),
		WALK_TEST(malformed_section_is_dropped_and_its_reason_kept),
		WALK_TEST(section_that_the_process_dropped_is_not_used),
		WALK_TEST(section_that_cannot_be_read_or_is_too_large_is_none),
		WALK_TEST(ranges_of_one_registration_share_its_section),
		WALK_TEST(limit_counts_a_section_once_whatever_ranges_share_it),
		WALK_TEST(jit_table_is_read_as_it_grows),
		WALK_TEST(malformed_jit_table_is_dropped),
		WALK_TEST(registered_code_overrides_a_file_where_it_knows_the_address),
		WALK_TEST(image_is_found_where_no_file_is_mapped),
		WALK_TEST(copy_of_a_space_knows_the_code_and_a_cleared_one_does_not),
		WALK_TEST(what_was_known_stays_when_the_process_has_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
