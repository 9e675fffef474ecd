/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables of the sections of a file, which together have no more bytes than there is room for. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/native_arch.h"
#include "bpfwalk/section_tables.h"
#include "table/compiled_table.h"

/* One function with one row. */
struct frames {
	struct {
		uint32_t length, id;
		uint8_t text[16];
	} cie;
	struct {
		uint32_t length, cie;
		uint64_t start, size;
	} fde;
	uint64_t end;
};

static struct frames make_frames(bool debug_frame, uint64_t start)
{
	const struct bobbin_arch *arch = native_arch();
	/* version 1, no augmentation, factors of 1 and -8; CFA: SP + 8, return address below it */
	const uint8_t text[] = {1, 0, 1, 0x78, arch->ra, 0x0c, arch->sp, 8, 0x80 | arch->ra, 1};
	struct frames frames = {
		.cie = {sizeof(frames.cie) - 4, debug_frame ? UINT32_MAX : 0, {0}},
		.fde = {sizeof(frames.fde) - 4, debug_frame ? 0 : offsetof(struct frames, fde.cie),
			start, 0x100},
	};

	memcpy(frames.cie.text, text, sizeof(text));
	return frames;
}

/* A file with two sections of call-frame information, whose tables are each made of their own. */
static struct module two_sections(struct frames sections[2])
{
	struct module module = {.elf_fd = -1, .image.arch = native_arch()};

	sections[0] = make_frames(false, 0x10000);
	sections[1] = make_frames(true, 0x20000);
	module.image.eh_frame = (struct elf_bytes){(uint8_t *)&sections[0], sizeof(*sections), 0};
	module.image.debug_frame = (struct elf_bytes){(uint8_t *)&sections[1], sizeof(*sections),
						      0};
	table_set_init(native_arch(), &module.tables);
	return module;
}

static void all_sections_have_a_table_where_there_is_room(void **state)
{
	struct frames sections[2];
	struct module module = two_sections(sections);
	struct section_tables tables;

	assert_int_equal(section_tables_init(&module, 1 << 20, &tables), 0);
	assert_int_equal(tables.count, 2);
	assert_true(tables.whole);
	assert_int_equal(tables.list[0].source, BOBBIN_SOURCE_EH_FRAME);
	assert_int_equal(tables.list[1].source, BOBBIN_SOURCE_DEBUG_FRAME);
	section_tables_fini(&tables);
}

/* Bytes of the first table, where there is room. */
static uint64_t size_of_first(struct module *module)
{
	struct section_tables tables;
	uint64_t size;

	assert_int_equal(section_tables_init(module, 1 << 20, &tables), 0);
	size = tables.list[0].size;
	section_tables_fini(&tables);
	return size;
}

static void no_table_is_made_when_the_one_before_has_used_up_the_room(void **state)
{
	struct frames sections[2];
	struct module module = two_sections(sections);
	struct section_tables tables;
	const uint64_t first = size_of_first(&module);

	assert_int_equal(section_tables_init(&module, first, &tables), 0);
	assert_int_equal(tables.count, 1);
	assert_false(tables.whole);
	section_tables_fini(&tables);
}

static void a_table_has_no_more_bytes_than_there_is_room_for(void **state)
{
	struct frames sections[2];
	struct module module = two_sections(sections);
	struct section_tables tables;
	const uint64_t first = size_of_first(&module);

	assert_int_equal(section_tables_init(&module, first - 1, &tables), -E2BIG);
}

#define GO_TEXT 0x30000ull

/* Go's table of two functions of 32 bytes: one with a frame, and the root. */
struct go {
	uint32_t magic, mark;
	uint64_t count, files, text, names, units, file_names, values, functions;
	struct {
		uint32_t start, record;
	} functab[3];
	struct {
		uint32_t start, name, unused[2], values, more[4];
		uint8_t function, flags, zeros[10];
	} records[2];
	char name[2][16];
	uint8_t runs[16];
};

static struct go make_go(void)
{
	const uint64_t functab = offsetof(struct go, functab);
	struct go go = {
		.magic = 0xfffffff0,
		.mark = 0x08010000,
		.count = 2,
		.text = GO_TEXT,
		.names = offsetof(struct go, name),
		.values = offsetof(struct go, runs),
		.functions = functab,
		.functab = {{0, offsetof(struct go, records[0]) - functab},
			    {32, offsetof(struct go, records[1]) - functab},
			    {64, 0}},
		.records = {{.values = 1}, {.name = sizeof(go.name[0]), .values = 1, .flags = 1}},
		.name = {"main.main", "runtime.goexit"},
		/* 0; 24 from 4 on; 0 at 24 */
		.runs = {0, 2, 4, 48, 20, 47, 8, 0},
	};

	return go;
}

static void go_lookup_finds(const struct compiled_table *table, uint64_t offset, int32_t cfa)
{
	struct compiled_row row;
	struct bobbin_rule rule;

	assert_int_equal(compiled_table_find(table, GO_TEXT + offset, &row), 0);
	assert_int_equal(compiled_table_rule(table, &row, &rule), 0);
	assert_int_equal(rule.cfa.off, cfa);
	assert_int_equal(rule.ra.how == BOBBIN_HOW_UNDEFINED, offset >= 32);
}

static int no_lookup(void *table, const struct bobbin_arch *arch, uint64_t pc,
		     struct bobbin_error *err, struct table_answer *ret)
{
	return -ENOENT;
}

/* The first section that is asked is Go's, whose roots are known without a program's entry. */
static void a_table_of_go_comes_first(void **state)
{
	static const struct table_ops ops = {.kind = TABLE_GO, .lookup = no_lookup};
	struct frames sections[2];
	struct module module = two_sections(sections);
	struct go go = make_go();
	struct section_tables tables;
	struct compiled_table table;
	struct kernel_file file = {0};

	assert_int_equal(pclntab_init(&go, sizeof(go), 0, native_arch(), NULL, &module.go), 0);
	table_set_add(&module.tables, &ops, &module.go);
	module.tables.entry = GO_TEXT;
	assert_true(section_tables_possible(&module));
	assert_int_equal(section_tables_init(&module, 1 << 20, &tables), 0);
	assert_int_equal(tables.count, 3);
	assert_int_equal(tables.list[0].source, BOBBIN_SOURCE_GO);
	assert_int_equal(tables.list[1].source, BOBBIN_SOURCE_EH_FRAME);
	assert_int_equal(
		compiled_table_init(tables.list[0].data, tables.list[0].size, NULL, &table), 0);
	go_lookup_finds(&table, 3, 8);
	go_lookup_finds(&table, 4, 32);
	go_lookup_finds(&table, 31, 8);
	go_lookup_finds(&table, 32, 8);
	section_tables_describe(&tables, 0, &module, &file);
	assert_int_equal(file.source, BOBBIN_SOURCE_GO);
	assert_int_equal(file.entry_size, 0);
	section_tables_fini(&tables);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_sections_have_a_table_where_there_is_room),
		cmocka_unit_test(no_table_is_made_when_the_one_before_has_used_up_the_room),
		cmocka_unit_test(a_table_has_no_more_bytes_than_there_is_room_for),
		cmocka_unit_test(a_table_of_go_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
