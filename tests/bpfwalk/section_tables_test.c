/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tables of a file together have no more bytes than there is room for. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/native_arch.h"
#include "bpfwalk/section_tables.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_sections_have_a_table_where_there_is_room),
		cmocka_unit_test(no_table_is_made_when_the_one_before_has_used_up_the_room),
		cmocka_unit_test(a_table_has_no_more_bytes_than_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
