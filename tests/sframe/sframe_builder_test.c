/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The reader must read the same that the builder was given.
 */
#include <bobbin/sframe.h>
#include <bobbin/sframe_builder.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECTION 0x500000
#define MAX_FDES 64
#define MAX_ROWS 24
#define FRE_BYTES 65536

struct workshop {
	struct bobbin_sframe_builder builder;
	struct bobbin_sframe_built fdes[MAX_FDES];
	uint8_t fres[FRE_BYTES];
	uint32_t shared[256];
	uint8_t out[FRE_BYTES + MAX_FDES * 20 + 28];
	uint64_t size;
};

static struct workshop shop;

static void start(const struct bobbin_arch *arch, unsigned int version, bool share)
{
	memset(&shop, 0, sizeof(shop));
	assert_int_equal(bobbin_sframe_builder_init(arch, SECTION, version, &shop.builder), 0);
	shop.builder.fdes = shop.fdes;
	shop.builder.fde_max = MAX_FDES;
	shop.builder.fres = shop.fres;
	shop.builder.fre_max = FRE_BYTES;
	if (share) {
		shop.builder.shared = shop.shared;
		shop.builder.shared_max = 256;
	}
}

static struct bobbin_sframe_view finish(void)
{
	struct bobbin_sframe_view view;

	shop.size = bobbin_sframe_builder_size(&shop.builder);
	assert_true(shop.size <= sizeof(shop.out));
	assert_int_equal(bobbin_sframe_builder_finish(&shop.builder, shop.out, shop.size), 0);
	assert_int_equal(bobbin_sframe_view(shop.out, shop.size, SECTION, NULL, &view), 0);
	assert_int_equal(view.size, shop.size);
	assert_true(view.sorted);
	return view;
}

static struct bobbin_rule rule_of(const struct bobbin_arch *arch, uint8_t reg, int32_t off)
{
	struct bobbin_rule rule = {
		.cfa = {.how = BOBBIN_HOW_AT_REG, .reg = reg, .off = off},
		.fp = {.how = BOBBIN_HOW_SAME},
		.index = BOBBIN_NO_INDEX,
	};

	if (arch->default_ra_off)
		rule.ra = (struct bobbin_place){.how = BOBBIN_HOW_IN_CFA_MEM,
						.off = arch->default_ra_off};
	else
		rule.ra.how = BOBBIN_HOW_SAME;
	return rule;
}

/* Whole words: on s390x before V3 odd offsets are registers. */
static int32_t some_offset(void)
{
	static const int32_t limits[] = {-128, 120, -32768, 32760, 100000, -100000};

	return rand() % 4 ? (rand() % 100 - 50) * 8 : limits[rand() % 6];
}

static struct bobbin_place some_place(void)
{
	struct bobbin_place p = {.off = some_offset()};

	p.how = rand() % 2 ? BOBBIN_HOW_AT_REG : BOBBIN_HOW_IN_REG_MEM;
	p.reg = (uint8_t)(rand() % 32);
	return p;
}

/* Any rule that V3 can hold; @plain: that needs no flexible row. */
static struct bobbin_rule some_rule(const struct bobbin_arch *arch, bool plain)
{
	struct bobbin_rule rule = rule_of(arch, rand() % 2 ? arch->sp : arch->fp,
					  160 + (rand() % 100) * 8);

	if (rand() % 40 == 0) {
		rule = rule_of(arch, arch->sp, 0);
		rule.ra = (struct bobbin_place){.how = BOBBIN_HOW_UNDEFINED};
		return rule;
	}
	if (!arch->default_ra_off && rand() % 2)
		rule.ra = (struct bobbin_place){.how = BOBBIN_HOW_IN_CFA_MEM,
						.off = -8 - 8 * (rand() % 9)};
	if (rand() % 2 && (arch->default_ra_off || rule.ra.how == BOBBIN_HOW_IN_CFA_MEM))
		rule.fp = (struct bobbin_place){.how = BOBBIN_HOW_IN_CFA_MEM, .off = some_offset()};
	if (arch->pac_mask && rand() % 2)
		rule.flags |= BOBBIN_RULE_MANGLED;
	if (plain || rand() % 2)
		return rule;
	rule.cfa = some_place();
	rule.cfa.off = 160 + (rand() % 4000) * 8;
	if (rand() % 2)
		rule.ra = some_place();
	if (rule.ra.how == BOBBIN_HOW_AT_REG && rule.ra.reg == 16 + rand() % 8)
		rule.ra = (struct bobbin_place){.how = BOBBIN_HOW_AT_PC, .off = rule.ra.off + 3};
	if (rule.ra.how == BOBBIN_HOW_AT_REG && rule.ra.reg == arch->pc)
		rule.ra.reg = 0;
	if (rand() % 2)
		rule.fp = some_place();
	return rule;
}

struct sample_function {
	struct bobbin_sframe_function f;
	struct bobbin_sframe_row rows[MAX_ROWS];
};

static void make_function(struct sample_function *s, const struct bobbin_arch *arch,
			  unsigned int version, uint64_t at)
{
	static const uint32_t gaps[] = {3, 40, 700, 40000};
	uint32_t gap = gaps[rand() % 4], pos = 0;
	bool plain = version < 3 || rand() % 2;

	s->f = (struct bobbin_sframe_function){.start = at, .rows = s->rows};
	s->f.count = 1 + (uint32_t)rand() % (MAX_ROWS - 1);
	s->f.signal = version >= 3 && rand() % 8 == 0;
	for (uint32_t i = 0; i < s->f.count; i++) {
		s->rows[i] = (struct bobbin_sframe_row){pos, some_rule(arch, plain)};
		if (s->f.signal)
			s->rows[i].rule.flags |= BOBBIN_RULE_SIGNAL;
		pos += 1 + (uint32_t)rand() % gap;
	}
	s->f.size = pos;
}

static void assert_row(const struct bobbin_sframe_view *view, const struct sample_function *s,
		       uint32_t i, uint32_t off)
{
	uint32_t end = i + 1 < s->f.count ? s->rows[i + 1].start : s->f.size;
	struct bobbin_rule want = s->rows[i].rule;
	struct bobbin_row row;

	assert_int_equal(bobbin_sframe_lookup(view, s->f.start + off, NULL, &row), 0);
	assert_int_equal(row.start, s->f.start + s->rows[i].start);
	assert_int_equal(row.end, s->f.start + end);
	assert_int_equal(row.function, s->f.start);
	if (want.ra.how == BOBBIN_HOW_UNDEFINED) {
		/* an outermost frame needs no CFA */
		assert_int_equal(row.rule.ra.how, BOBBIN_HOW_UNDEFINED);
		return;
	}
	assert_true(bobbin_rule_equal(&row.rule, &want));
}

static void assert_reads_back(const struct bobbin_sframe_view *view,
			      const struct sample_function *s)
{
	for (uint32_t i = 0; i < s->f.count; i++) {
		uint32_t end = i + 1 < s->f.count ? s->rows[i + 1].start : s->f.size;

		assert_row(view, s, i, s->rows[i].start);
		assert_row(view, s, i, end - 1);
	}
}

static void round_trip(const struct bobbin_arch *arch, unsigned int version, bool share)
{
	static struct sample_function functions[MAX_FDES];
	struct bobbin_sframe_view view;
	uint64_t at = 0x1000;
	/* prime, so that steps of seven reach all */
	uint32_t count = rand() % 2 ? 13 : 19;

	start(arch, version, share);
	for (uint32_t i = 0; i < count; i++) {
		make_function(&functions[i], arch, version, at);
		/* the same rows again, somewhere else */
		if (i && rand() % 3 == 0) {
			functions[i] = functions[i - 1];
			functions[i].f.start = at;
			functions[i].f.rows = functions[i].rows;
		}
		at += functions[i].f.size + (uint64_t)(rand() % 3) * 16;
	}
	/* in any order */
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(
			bobbin_sframe_builder_add(&shop.builder, &functions[(i * 7 + 3) % count].f),
			0);
	view = finish();
	assert_int_equal(view.num_fdes, count);
	for (uint32_t i = 0; i < count; i++)
		assert_reads_back(&view, &functions[i]);
}

static void sections_read_back_as_they_were_built(void **state)
{
	const struct bobbin_arch *archs[] = {bobbin_arch_amd64(), bobbin_arch_aarch64(),
					     bobbin_arch_aarch64_be(), bobbin_arch_s390x()};

	(void)state;
	srand(3);
	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int round = 0; round < 300; round++) {
			round_trip(archs[i], 2, round % 2);
			round_trip(archs[i], 3, round % 2);
		}
}

static uint64_t size_of_twins(bool share)
{
	const struct bobbin_arch *arch = bobbin_arch_amd64();
	struct bobbin_sframe_row rows[] = {{0, rule_of(arch, 7, 8)}, {1, rule_of(arch, 7, 16)}};
	struct bobbin_sframe_function f = {.size = 10, .rows = rows, .count = 2};
	struct bobbin_sframe_view view;
	struct bobbin_row row;

	start(arch, 3, share);
	for (f.start = 0x1000; f.start < 0x1100; f.start += 16)
		assert_int_equal(bobbin_sframe_builder_add(&shop.builder, &f), 0);
	view = finish();
	assert_int_equal(bobbin_sframe_lookup(&view, 0x10f9, NULL, &row), 0);
	assert_int_equal(row.rule.cfa.off, 16);
	return shop.size;
}

static void equal_rows_are_stored_once_if_that_is_wanted(void **state)
{
	(void)state;
	/* header, 16 FDEs, rows with their attributes */
	assert_int_equal(size_of_twins(false), 28 + 16 * 16 + 16 * (5 + 3 + 3));
	assert_int_equal(size_of_twins(true), 28 + 16 * 16 + (5 + 3 + 3));
}

static void a_procedure_linkage_table_repeats(void **state)
{
	const struct bobbin_arch *arch = bobbin_arch_amd64();
	struct bobbin_sframe_row rows[] = {{0, rule_of(arch, 7, 8)}, {11, rule_of(arch, 7, 16)}};
	struct bobbin_sframe_function f = {
		.start = 0x1010, .size = 0x100, .rep_size = 16, .rows = rows, .count = 2};
	struct bobbin_sframe_view view;
	struct bobbin_row row;

	(void)state;
	start(arch, 3, false);
	assert_int_equal(bobbin_sframe_builder_add(&shop.builder, &f), 0);
	view = finish();
	for (uint64_t pc = 0x1010; pc < 0x1110; pc++) {
		assert_int_equal(bobbin_sframe_lookup(&view, pc, NULL, &row), 0);
		assert_int_equal(row.rule.cfa.off, pc % 16 >= 11 ? 16 : 8);
	}
}

static void a_function_without_rows_is_outermost(void **state)
{
	struct bobbin_sframe_function f = {.start = 0x1000, .size = 16};
	struct bobbin_sframe_view view;
	struct bobbin_row row;

	(void)state;
	start(bobbin_arch_amd64(), 3, false);
	assert_int_equal(bobbin_sframe_builder_add(&shop.builder, &f), 0);
	view = finish();
	assert_int_equal(bobbin_sframe_lookup(&view, 0x1008, NULL, &row), 0);
	assert_int_equal(row.rule.ra.how, BOBBIN_HOW_UNDEFINED);
}

static int try_rule(unsigned int version, struct bobbin_rule rule)
{
	struct bobbin_sframe_row row = {0, rule};
	struct bobbin_sframe_function f = {.start = 0x1000, .size = 16, .rows = &row, .count = 1};

	start(bobbin_arch_amd64(), version, false);
	f.signal = rule.flags & BOBBIN_RULE_SIGNAL;
	return bobbin_sframe_builder_add(&shop.builder, &f);
}

static void what_no_row_can_hold_is_refused(void **state)
{
	const struct bobbin_arch *arch = bobbin_arch_amd64();
	struct bobbin_rule rule = rule_of(arch, 7, 8);

	(void)state;
	rule.plus = 8;
	assert_int_equal(try_rule(3, rule), -ERANGE);
	rule = rule_of(arch, 7, 8);
	rule.ra.how = BOBBIN_HOW_SAME;
	assert_int_equal(try_rule(3, rule), -ERANGE);
	rule = rule_of(arch, 7, 8);
	rule.flags = BOBBIN_RULE_MANGLED;
	assert_int_equal(try_rule(3, rule), -ERANGE);
	rule = rule_of(arch, 10, 8);
	assert_int_equal(try_rule(2, rule), -ERANGE);
	assert_int_equal(try_rule(3, rule), 0);
	rule = rule_of(arch, 7, 8);
	rule.flags = BOBBIN_RULE_SIGNAL;
	assert_int_equal(try_rule(2, rule), -ERANGE);
	assert_int_equal(try_rule(3, rule), 0);
	assert_int_equal(try_rule(3, bobbin_rule_none(BOBBIN_REASON_CFI_EXPRESSION)), -ERANGE);
}

static void rows_out_of_order_or_outside_are_refused(void **state)
{
	const struct bobbin_arch *arch = bobbin_arch_amd64();
	struct bobbin_sframe_row rows[] = {{4, rule_of(arch, 7, 8)}, {4, rule_of(arch, 7, 16)}};
	struct bobbin_sframe_function f = {.start = 0x1000, .size = 16, .rows = rows, .count = 2};

	(void)state;
	start(arch, 3, false);
	assert_int_equal(bobbin_sframe_builder_add(&shop.builder, &f), -EINVAL);
	rows[1].start = 16;
	assert_int_equal(bobbin_sframe_builder_add(&shop.builder, &f), -EINVAL);
	rows[1].start = 15;
	assert_int_equal(bobbin_sframe_builder_add(&shop.builder, &f), 0);
	/* nor is there code after the last address */
	f.start = -(uint64_t)15;
	assert_int_equal(bobbin_sframe_builder_add(&shop.builder, &f), -EINVAL);
}

static void too_little_memory_changes_nothing(void **state)
{
	const struct bobbin_arch *arch = bobbin_arch_amd64();
	struct bobbin_sframe_row row = {0, rule_of(arch, 7, 8)};
	struct bobbin_sframe_function f = {.start = 0x1000, .size = 16, .rows = &row, .count = 1};

	(void)state;
	start(arch, 3, false);
	shop.builder.fre_max = 7;
	assert_int_equal(bobbin_sframe_builder_add(&shop.builder, &f), -ENOBUFS);
	assert_int_equal(shop.builder.fde_count, 0);
	shop.builder.fre_max = 8;
	assert_int_equal(bobbin_sframe_builder_add(&shop.builder, &f), 0);
	f.start = 0x2000;
	shop.builder.fre_max = 16;
	shop.builder.fde_max = 1;
	assert_int_equal(bobbin_sframe_builder_add(&shop.builder, &f), -ENOBUFS);
	assert_int_equal(bobbin_sframe_builder_finish(&shop.builder, shop.out, 51), -ENOBUFS);
	assert_int_equal(bobbin_sframe_builder_finish(&shop.builder, shop.out, 52), 0);
}

static void functions_beyond_reach_are_refused_in_version_2(void **state)
{
	const struct bobbin_arch *arch = bobbin_arch_amd64();
	struct bobbin_sframe_row row = {0, rule_of(arch, 7, 8)};
	struct bobbin_sframe_function f = {
		.start = SECTION + 0x80000000ull, .size = 16, .rows = &row, .count = 1};

	(void)state;
	start(arch, 2, false);
	assert_int_equal(bobbin_sframe_builder_add(&shop.builder, &f), -ERANGE);
	start(arch, 3, false);
	assert_int_equal(bobbin_sframe_builder_add(&shop.builder, &f), 0);
}

static void versions_1_and_4_are_not_written(void **state)
{
	struct bobbin_sframe_builder b;

	(void)state;
	assert_int_equal(bobbin_sframe_builder_init(bobbin_arch_amd64(), 0, 1, &b), -EINVAL);
	assert_int_equal(bobbin_sframe_builder_init(bobbin_arch_amd64(), 0, 4, &b), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_read_back_as_they_were_built),
		cmocka_unit_test(equal_rows_are_stored_once_if_that_is_wanted),
		cmocka_unit_test(a_procedure_linkage_table_repeats),
		cmocka_unit_test(a_function_without_rows_is_outermost),
		cmocka_unit_test(what_no_row_can_hold_is_refused),
		cmocka_unit_test(rows_out_of_order_or_outside_are_refused),
		cmocka_unit_test(too_little_memory_changes_nothing),
		cmocka_unit_test(functions_beyond_reach_are_refused_in_version_2),
		cmocka_unit_test(versions_1_and_4_are_not_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
