/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/native_arch.h"
#include "codemap/registry.h"
#include "unwind/own_walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <bobbin/jit.h>
#include <bobbin/sframe_builder.h>
#include <string.h>

/* Where the code map has a range in two pieces.  Nothing need be there. */
#define BOUND UINT64_C(0x600000000)
#define HALF UINT64_C(0x10000)

static enum bobbin_source source_at(struct registry *registry, uint64_t pc)
{
	const struct own_code code = {.registry = registry};
	uint64_t stack[64] = {0};
	struct bobbin_regs regs = {.pc = pc, .sp = (uintptr_t)stack, .exact = true};
	struct bobbin_frame frame;
	struct bobbin_trace trace = {.frames = &frame, .max = 1};

	walk_own_stack(&code, &regs, NULL, &trace);
	assert_int_equal(trace.count, 1);
	return frame.source;
}

/* A function whose first half lies in front of the bound. */
static void add_function(struct bobbin_jit_table *table)
{
	const struct bobbin_sframe_row row = {0, bobbin_jit_rule_sp(native_arch(), 16, 0, 0)};
	const struct bobbin_sframe_function function = {
		.start = BOUND - 64, .size = 128, .rows = &row, .count = 1};

	assert_int_equal(bobbin_jit_table_append(table, &function), 0);
}

static void jit_code_is_walked_on_both_sides_of_four_gibibytes(void **state)
{
	const struct code_text_range range = {BOUND - HALF, BOUND + HALF};
	struct code_request request = {.kind = CODE_JIT, .ranges = &range, .count = 1};
	struct bobbin_jit_table *table;
	struct registry *registry;
	enum bobbin_code_place place;
	struct code_jit_info info;

	(void)state;
	assert_int_equal(bobbin_jit_table_open(native_arch(), range.start, 2 * HALF, &table), 0);
	add_function(table);
	bobbin_jit_table_info(table, &info);
	request.key = request.table = info.unwind_head;
	assert_int_equal(registry_open(NULL, &registry), 0);
	registry_lock(registry);
	assert_int_equal(registry_insert(registry, &request, &place), 0);
	registry_unlock(registry);

	assert_int_equal(source_at(registry, BOUND + 1), BOBBIN_SOURCE_JIT);
	assert_int_equal(source_at(registry, BOUND - 1), BOBBIN_SOURCE_JIT);
	/* nor was it dropped for bytes after the bound */
	assert_int_equal(source_at(registry, BOUND + 1), BOBBIN_SOURCE_JIT);

	registry_close(registry);
	bobbin_jit_table_close(table);
}

#define TEXT UINT64_C(0x500000000)

/* One function at TEXT. */
static void make_section(uint8_t *out, size_t size)
{
	const struct bobbin_sframe_row row = {0, bobbin_jit_rule_sp(native_arch(), 160, 0, 0)};
	const struct bobbin_sframe_function function = {
		.start = TEXT, .size = 64, .rows = &row, .count = 1};
	struct bobbin_sframe_built fde;
	struct bobbin_sframe_builder builder;
	uint8_t rows[64];

	assert_int_equal(bobbin_sframe_builder_init(native_arch(), (uintptr_t)out, 3, &builder), 0);
	builder.fdes = &fde;
	builder.fde_max = 1;
	builder.fres = rows;
	builder.fre_max = sizeof(rows);
	assert_int_equal(bobbin_sframe_builder_add(&builder, &function), 0);
	assert_int_equal(bobbin_sframe_builder_finish(&builder, out, size), 0);
}

static void a_section_that_is_being_filled_is_not_malformed(void **state)
{
	const struct code_text_range range = {TEXT, TEXT + 64};
	uint8_t section[256] = {0}, magic[2];
	struct code_request request = {.kind = CODE_SECTION,
				       .key = (uintptr_t)section,
				       .ranges = &range,
				       .count = 1,
				       .table = (uintptr_t)section,
				       .table_size = sizeof(section),
				       .sframe = {.addr = (uintptr_t)section}};
	struct registry *registry;
	enum bobbin_code_place place;

	(void)state;
	assert_int_equal(registry_open(NULL, &registry), 0);
	registry_lock(registry);
	assert_int_equal(registry_insert(registry, &request, &place), 0);
	registry_unlock(registry);
	assert_int_not_equal(source_at(registry, TEXT), BOBBIN_SOURCE_SFRAME);

	make_section(section, sizeof(section));
	memcpy(magic, section, sizeof(magic));
	memset(section, 0, sizeof(magic));
	assert_int_not_equal(source_at(registry, TEXT), BOBBIN_SOURCE_SFRAME);
	memcpy(section, magic, sizeof(magic));
	assert_int_equal(source_at(registry, TEXT), BOBBIN_SOURCE_SFRAME);
	registry_close(registry);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_section_that_is_being_filled_is_not_malformed),
		cmocka_unit_test(jit_code_is_walked_on_both_sides_of_four_gibibytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
