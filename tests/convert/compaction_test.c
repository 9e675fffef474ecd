/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each section is made twice, plain and compacted.  Lookups in both must find the same
 * wherever a row or function could begin or end.
 */
#include "convert/function_list.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bobbin/sframe.h>
#include <bobbin/sframe_validate.h>
#include <cmocka.h>

#include "list_function.h"
#include "section_function.h"

#define SECTION 0x500000
#define CODE 0x1000
#define RANDOM_SECTIONS 60
#define MAX_ROWS 400

/* Much more than is needed, much less than a quadratic algorithm takes. */
#define MOST_SECONDS 5.0

/**
 * struct bench - a section, plain and compacted
 * @makers, @bytes, @views: of both
 * @list: functions of the second one
 * @next: address after the last function
 * @seed: of random numbers
 */
struct bench {
	struct section_maker makers[2];
	struct function_list list;
	uint8_t *bytes[2];
	struct bobbin_sframe_view views[2];
	uint64_t next;
	uint32_t seed;
	const struct bobbin_arch *arch;
};

#define PLAIN(b) (&(b)->views[0])
#define COMPACT(b) (&(b)->views[1])

static void start(struct bench *b, const struct bobbin_arch *arch, unsigned int version)
{
	b->arch = arch;
	b->next = CODE;
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(
			section_maker_init(arch, SECTION, version, false, 0, &b->makers[i]), 0);
	assert_int_equal(function_list_init(&b->makers[1].builder, 0, &b->list), 0);
}

static void end(struct bench *b)
{
	function_list_fini(&b->list);
	for (unsigned int i = 0; i < 2; i++) {
		section_maker_fini(&b->makers[i]);
		free(b->bytes[i]);
		b->bytes[i] = NULL;
	}
}

static int set_up(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	b->seed = 1;
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	end(*state);
	free(*state);
	return 0;
}

/* No memory after the used bytes: a sanitizer shall see reads there. */
static void fit(struct function_list *list)
{
	vector_trim(&list->functions, &list->capacity, list->count, sizeof(*list->functions));
	vector_trim(&list->rows.row, &list->rows.capacity, list->rows.count,
		    sizeof(*list->rows.row));
	vector_trim(&list->forms.bodies, &list->forms.body_capacity,
		    list->forms.body_size + ROW_SLACK, 1);
}

static void finish_within(struct bench *b, bool share, const uint64_t *bounds, size_t count)
{
	fit(&b->list);
	assert_int_equal(compact_functions(&b->list, share, bounds, count, &b->makers[1]), 0);
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t size;

		assert_int_equal(section_maker_finish(&b->makers[i], &b->bytes[i], &size), 0);
		assert_int_equal(bobbin_sframe_view(b->bytes[i], size, SECTION, NULL, &b->views[i]),
				 0);
	}
}

static void finish(struct bench *b, bool share)
{
	finish_within(b, share, NULL, 0);
}

static uint32_t random_below(struct bench *b, uint32_t limit)
{
	b->seed ^= b->seed << 13;
	b->seed ^= b->seed >> 17;
	b->seed ^= b->seed << 5;
	return b->seed % limit;
}

static void add(struct bench *b, const struct bobbin_sframe_function *f)
{
	assert_int_equal(section_maker_add(&b->makers[0], f), 0);
	assert_int_equal(list_function(&b->list, f), 0);
	b->next = f->start + f->size;
}

/* The rule of an ordinary row, whatever the architecture. */
static struct bobbin_rule rule_at(const struct bench *b, int32_t words)
{
	struct bobbin_rule rule = {
		.cfa = {.how = BOBBIN_HOW_AT_REG, .reg = b->arch->sp, .off = 160 + 8 * words},
		.ra = {.how = BOBBIN_HOW_SAME},
		.fp = {.how = BOBBIN_HOW_SAME},
		.index = BOBBIN_NO_INDEX,
	};

	if (b->arch->default_ra_off)
		rule.ra = (struct bobbin_place){.how = BOBBIN_HOW_IN_CFA_MEM,
						.off = b->arch->default_ra_off};
	return rule;
}

/* A function after the last one, whose rows are @step bytes apart; CFAs differ. */
static void add_steps(struct bench *b, uint32_t gap, uint32_t size, uint32_t count, uint32_t step,
		      int32_t words)
{
	static struct bobbin_sframe_row rows[BOBBIN_SFRAME_MAX_ROWS];

	for (uint32_t i = 0; i < count; i++)
		rows[i] = (struct bobbin_sframe_row){i * step,
						     rule_at(b, words + (int32_t)(i % 8))};
	add(b, &(struct bobbin_sframe_function){
		       .start = b->next + gap, .size = size, .rows = rows, .count = count});
}

static void assert_same_at(const struct bench *b, uint64_t pc)
{
	struct bobbin_row plain, compact;
	int r = bobbin_sframe_lookup(PLAIN(b), pc, NULL, &plain);

	assert_int_equal(bobbin_sframe_lookup(COMPACT(b), pc, NULL, &compact), r);
	if (!r)
		assert_true(bobbin_rule_equal(&plain.rule, &compact.rule));
}

static void assert_same_around(const struct bench *b, uint64_t pc)
{
	assert_same_at(b, pc - 1);
	assert_same_at(b, pc);
	assert_same_at(b, pc + 1);
}

/* Compare where rows and functions of a section begin, and where they end. */
static void assert_same_at_borders(const struct bench *b, const struct bobbin_sframe_view *view)
{
	for (uint32_t i = 0; i < view->num_fdes; i++) {
		struct bobbin_sframe_fde fde;
		struct bobbin_sframe_fre fre;

		assert_int_equal(bobbin_sframe_fde(view, i, NULL, &fde), 0);
		fre.next = fde.fre_off;
		assert_same_around(b, fde.start);
		assert_same_around(b, fde.start + fde.size);
		for (uint32_t j = 0; j < fde.num_fres; j++) {
			assert_int_equal(bobbin_sframe_fre(view, &fde, fre.next, NULL, &fre), 0);
			assert_same_around(b, fde.start + fre.start);
		}
	}
}

static int gravest_defect(const struct bobbin_sframe_view *view)
{
	struct bobbin_sframe_order *order = calloc(view->num_fdes + 1, sizeof(*order));
	const struct bobbin_sframe_bounds bounds = {.order = order, .order_max = view->num_fdes};
	int r = bobbin_sframe_validate(view, &bounds, NULL, NULL);

	free(order);
	assert_true(r >= 0);
	return r < BOBBIN_SFRAME_NOTE ? BOBBIN_SFRAME_NOTE : r;
}

static void assert_same(const struct bench *b)
{
	assert_true(COMPACT(b)->size <= PLAIN(b)->size);
	assert_same_at_borders(b, PLAIN(b));
	assert_same_at_borders(b, COMPACT(b));
	assert_true(gravest_defect(COMPACT(b)) <= gravest_defect(PLAIN(b)));
}

static void functions_that_touch_become_one_if_rows_are_shared(void **state)
{
	struct bench *b = *state;

	for (unsigned int share = 0; share < 2; share++) {
		start(b, bobbin_arch_amd64(), 3);
		add_steps(b, 0, 64, 3, 8, 0);
		add_steps(b, 0, 64, 3, 8, 5);
		add_steps(b, 0, 64, 3, 8, 1);
		finish(b, share);
		assert_same(b);
		assert_int_equal(COMPACT(b)->num_fdes, share ? 1 : 3);
		assert_int_equal(COMPACT(b)->num_fres, 9);
		end(b);
	}
}

static void row_that_goes_on_in_the_next_function_is_left_out(void **state)
{
	struct bench *b = *state;

	start(b, bobbin_arch_amd64(), 3);
	add_steps(b, 0, 64, 3, 8, 0);
	add_steps(b, 0, 64, 3, 8, 2);
	finish(b, true);
	assert_same(b);
	assert_int_equal(COMPACT(b)->num_fdes, 1);
	assert_int_equal(COMPACT(b)->num_fres, 5);
}

static void functions_with_a_gap_between_them_stay_apart(void **state)
{
	struct bench *b = *state;

	start(b, bobbin_arch_amd64(), 3);
	add_steps(b, 0, 64, 3, 8, 0);
	add_steps(b, 1, 64, 3, 8, 2);
	finish(b, true);
	assert_same(b);
	assert_int_equal(COMPACT(b)->num_fdes, 2);
}

static void assert_narrow(const struct bobbin_sframe_view *view)
{
	for (uint32_t i = 0; i < view->num_fdes; i++) {
		struct bobbin_sframe_fde fde;

		assert_int_equal(bobbin_sframe_fde(view, i, NULL, &fde), 0);
		assert_int_equal(fde.fre_type, 1);
	}
}

static void functions_become_one_only_while_starts_fit_one_byte(void **state)
{
	struct bench *b = *state;

	start(b, bobbin_arch_amd64(), 3);
	for (unsigned int i = 0; i < 40; i++)
		add_steps(b, 0, 200, 3, 8, (int32_t)(i % 2));
	finish(b, true);
	assert_same(b);
	assert_narrow(COMPACT(b));
	assert_int_equal(COMPACT(b)->num_fdes, 20);
}

static bool starts_one(const struct bobbin_sframe_view *view, uint64_t pc)
{
	struct bobbin_sframe_fde fde;
	bool found = false;

	for (uint32_t i = 0; i < view->num_fdes && !found; i++) {
		assert_int_equal(bobbin_sframe_fde(view, i, NULL, &fde), 0);
		found = fde.start == pc;
	}
	return found;
}

static void each_function_starts_an_fde_if_rows_are_not_shared(void **state)
{
	struct bench *b = *state;
	uint64_t starts[40];

	start(b, bobbin_arch_amd64(), 3);
	for (uint32_t i = 0; i < 40; i++) {
		starts[i] = b->next;
		add_steps(b, 0, 100 + 40 * i, 3 + 3 * i, 8, (int32_t)(i % 2));
	}
	finish(b, false);
	assert_same(b);
	assert_true(COMPACT(b)->num_fdes > 40);
	for (unsigned int i = 0; i < 40; i++)
		assert_true(starts_one(COMPACT(b), starts[i]));
}

/* Bytes of one V3 FDE. */
#define FDE 21

/* The least bytes that pieces of a function's rows can have, in cubic time. */
static uint64_t smallest(const struct bobbin_sframe_row *rows, uint32_t count)
{
	uint64_t best[MAX_ROWS + 1] = {0};

	for (uint32_t to = 1; to <= count; to++) {
		best[to] = UINT64_MAX;
		for (uint32_t from = 0; from < to; from++) {
			uint32_t span = rows[to - 1].start - rows[from].start;
			unsigned int width = span > 0xffff ? 4 : span > 0xff ? 2 : 1;
			/* an info byte and one byte of the CFA */
			uint64_t size = best[from] + FDE + (to - from) * (uint64_t)(width + 2);

			if (size < best[to])
				best[to] = size;
		}
	}
	return best[count];
}

static void no_other_cuts_of_a_function_are_smaller(void **state)
{
	struct bench *b = *state;

	for (unsigned int n = 0; n < 100; n++) {
		static const uint32_t spread[] = {3, 9, 40, 900, 9000};
		struct bobbin_sframe_row rows[MAX_ROWS];
		uint32_t at = 0, count = 1 + random_below(b, MAX_ROWS);

		start(b, bobbin_arch_amd64(), 3);
		for (uint32_t i = 0; i < count; i++) {
			rows[i] = (struct bobbin_sframe_row){at,
							     rule_at(b, -(int32_t)(5 + i % 10))};
			at += 1 + random_below(b, spread[random_below(b, 1 + n % 5)]);
		}
		add(b, &(struct bobbin_sframe_function){
			       .start = CODE, .size = at, .rows = rows, .count = count});
		finish(b, false);
		assert_same(b);
		assert_int_equal(COMPACT(b)->size, 28 + smallest(rows, count));
		end(b);
	}
}

static void equal_parts_of_functions_are_shared(void **state)
{
	struct bench *b = *state;

	start(b, bobbin_arch_amd64(), 3);
	for (uint32_t i = 0; i < 100; i++) {
		struct bobbin_sframe_row rows[12] = {{0}};
		/* prologue, a place in the middle of its own, epilogue */
		const uint32_t starts[] = {0,           1,          2,           3,
					   60 + i,      90 + i,     140 + 2 * i, 142 + 2 * i,
					   143 + 2 * i, 144 + 2 * i};

		for (uint32_t j = 0; j < 10; j++)
			rows[j] = (struct bobbin_sframe_row){starts[j], rule_at(b, (int32_t)j)};
		add(b, &(struct bobbin_sframe_function){
			       .start = b->next + 16, .size = 400, .rows = rows, .count = 10});
	}
	finish(b, true);
	assert_same(b);
	assert_true(COMPACT(b)->num_fdes > 100);
	assert_true(COMPACT(b)->size < PLAIN(b)->size * 3 / 4);
}

/* No section of an object may depend on another one, which may be dropped. */
static void no_rows_are_shared_across_a_bound(void **state)
{
	struct bench *b = *state;
	const uint64_t bounds[] = {CODE, CODE + 1000, CODE + 2000, CODE + 3000, CODE + 4000};
	uint32_t first[4];

	start(b, bobbin_arch_amd64(), 3);
	for (uint32_t i = 0; i < 8; i++) {
		const struct bobbin_sframe_row rows[] = {
			{0, rule_at(b, 0)}, {1, rule_at(b, 1)}, {9, rule_at(b, 0)}};

		/* two in each part, but for the third, which has none */
		add(b, &(struct bobbin_sframe_function){.start = CODE + (i / 2 + (i > 3)) * 1000 +
								 i % 2 * 100,
							.size = 20,
							.rows = rows,
							.count = 3});
	}
	finish_within(b, true, bounds, 5);
	assert_same(b);
	assert_int_equal(COMPACT(b)->num_fdes, 8);
	for (uint32_t i = 0; i < 8; i++) {
		struct bobbin_sframe_fde fde;

		assert_int_equal(bobbin_sframe_fde(COMPACT(b), i, NULL, &fde), 0);
		if (i % 2)
			assert_int_equal(fde.fre_off, first[i / 2]);
		else
			first[i / 2] = (uint32_t)fde.fre_off;
		for (uint32_t k = 0; k < i / 2; k++)
			assert_int_not_equal(first[k], first[i / 2]);
	}
}

static void functions_without_rows_and_repeated_ones_are_left_alone(void **state)
{
	for (unsigned int share = 0; share < 2; share++) {
		struct bench *b = *state;
		struct bobbin_sframe_row rows[2];

		start(b, bobbin_arch_amd64(), 3);
		rows[0] = (struct bobbin_sframe_row){0, rule_at(b, 0)};
		rows[1] = (struct bobbin_sframe_row){6, rule_at(b, 1)};
		for (unsigned int i = 0; i < 3; i++) {
			add(b, &(struct bobbin_sframe_function){.start = b->next, .size = 5});
			add(b, &(struct bobbin_sframe_function){
				       .start = b->next, .size = 5, .signal = true});
			add(b, &(struct bobbin_sframe_function){.start = b->next,
								.size = 64,
								.rep_size = 16,
								.rows = rows,
								.count = 2});
		}
		finish(b, share);
		assert_same(b);
		assert_int_equal(COMPACT(b)->num_fdes, 9);
		end(b);
	}
}

static void function_whose_first_row_is_late_has_none_before(void **state)
{
	for (unsigned int share = 0; share < 2; share++) {
		struct bench *b = *state;
		struct bobbin_sframe_row row;

		start(b, bobbin_arch_amd64(), 3);
		row = (struct bobbin_sframe_row){4, rule_at(b, 0)};
		for (unsigned int i = 0; i < 3; i++)
			add(b, &(struct bobbin_sframe_function){
				       .start = b->next, .size = 8, .rows = &row, .count = 1});
		finish(b, share);
		assert_same(b);
		end(b);
	}
}

/* A rule of a function that is not a signal frame and uses one key. */
static struct bobbin_rule random_rule(struct bench *b, bool key_b)
{
	const struct bobbin_sframe_builder *builder = &b->makers[0].builder;
	struct bobbin_rule rule;

	do {
		rule = rule_at(b, (int32_t)random_below(b, random_below(b, 8) ? 4 : 2000));
		if (!random_below(b, 4))
			rule.fp = (struct bobbin_place){.how = BOBBIN_HOW_IN_CFA_MEM, .off = -16};
		if (!random_below(b, 4))
			rule.ra = (struct bobbin_place){.how = BOBBIN_HOW_IN_CFA_MEM, .off = -8};
		if (!random_below(b, 60))
			rule.cfa.reg = 3;
		if (!random_below(b, 60))
			rule.ra = (struct bobbin_place){.how = BOBBIN_HOW_UNDEFINED};
		if (b->arch->pac_mask && !random_below(b, 3))
			rule.flags = BOBBIN_RULE_MANGLED | (key_b ? BOBBIN_RULE_KEY_B : 0);
	} while (!bobbin_sframe_builder_can_express(builder, &rule));
	return rule;
}

/* Functions that touch or do not, and are made of few building blocks. */
static void add_random(struct bench *b, unsigned int version)
{
	static const uint32_t gaps[] = {0, 0, 1, 16}, spread[] = {4, 30, 300, 5000};
	struct bobbin_sframe_row rows[MAX_ROWS];
	struct bobbin_sframe_function f = {.start = b->next + gaps[random_below(b, 4)],
					   .signal = version >= 3 && !random_below(b, 20),
					   .rows = rows};
	uint32_t most = random_below(b, 10) ? 12 : MAX_ROWS, pace = random_below(b, 4);
	uint32_t seed = b->seed, count = 1 + random_below(b, most);
	bool key_b = random_below(b, 2);

	/* begin like another function, maybe */
	if (random_below(b, 2))
		b->seed = 1 + random_below(b, 5);
	for (f.count = 0; f.count < count; f.count++) {
		if (f.count == 4)
			b->seed = seed ^ 0x5555;
		rows[f.count] = (struct bobbin_sframe_row){f.size, random_rule(b, key_b)};
		rows[f.count].rule.flags |= f.signal ? BOBBIN_RULE_SIGNAL : 0;
		f.size += 1 + random_below(b, spread[pace]);
	}
	b->seed = seed * 3 + 1;
	add(b, &f);
}

static void every_pc_keeps_its_rule(void **state)
{
	struct bench *b = *state;
	const struct bobbin_arch *const archs[] = {bobbin_arch_amd64(), bobbin_arch_aarch64(),
						   bobbin_arch_aarch64_be(), bobbin_arch_s390x()};

	for (unsigned int n = 0; n < RANDOM_SECTIONS; n++) {
		unsigned int version = 2 + n / 4 % 2;

		start(b, archs[n % 4], version);
		b->seed = n + 1;
		for (unsigned int i = 0; i < 5 + 2 * n; i++)
			add_random(b, version);
		finish(b, n / 8 % 2);
		assert_same(b);
		end(b);
	}
}

static void empty_section_stays_empty(void **state)
{
	struct bench *b = *state;

	for (unsigned int share = 0; share < 2; share++) {
		start(b, bobbin_arch_amd64(), 3);
		finish(b, share);
		assert_int_equal(COMPACT(b)->size, 28);
		end(b);
	}
}

/* Functions of as many rows as there can be, that touch. */
static void time_longest(struct bench *b, uint32_t step, bool share)
{
	clock_t begin;

	start(b, bobbin_arch_amd64(), 3);
	for (unsigned int i = 0; i < 8; i++)
		add_steps(b, 0, step * BOBBIN_SFRAME_MAX_ROWS, BOBBIN_SFRAME_MAX_ROWS, step, 0);
	begin = clock();
	finish(b, share);
	assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < MOST_SECONDS);
	for (uint64_t pc = CODE - 1; pc <= b->next; pc += (uint64_t)step * 4000 + 1)
		assert_same_at(b, pc);
	assert_true(COMPACT(b)->size <= PLAIN(b)->size);
	end(b);
}

static void longest_functions_take_linear_time(void **state)
{
	static const uint32_t steps[] = {1, 9, 300, 7000};

	for (unsigned int i = 0; i < 4; i++) {
		time_longest(*state, steps[i], false);
		time_longest(*state, steps[i], true);
	}
}

static void function_of_v2_stays_within_reach(void **state)
{
	struct bench *b = *state;

	start(b, bobbin_arch_amd64(), 2);
	b->next = SECTION + (uint64_t)INT32_MAX - 2000;
	add_steps(b, 0, 4000, 500, 8, 0);
	finish(b, false);
	assert_same(b);
}

/* V3 counts rows in 16 bits. */
static void no_piece_has_more_rows_than_can_be_counted(void **state)
{
	struct bench *b = *state;

	start(b, bobbin_arch_amd64(), 3);
	add_steps(b, 0, 1, 1, 1, 0);
	add_steps(b, 0, BOBBIN_SFRAME_MAX_ROWS, BOBBIN_SFRAME_MAX_ROWS, 1, 1);
	finish(b, true);
	assert_same_around(b, CODE);
	assert_same_around(b, CODE + 1);
	assert_same_around(b, b->next - 1);
	assert_int_equal(COMPACT(b)->num_fres, 1 + BOBBIN_SFRAME_MAX_ROWS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(functions_that_touch_become_one_if_rows_are_shared,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(row_that_goes_on_in_the_next_function_is_left_out,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(functions_with_a_gap_between_them_stay_apart,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(functions_become_one_only_while_starts_fit_one_byte,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_function_starts_an_fde_if_rows_are_not_shared,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_other_cuts_of_a_function_are_smaller, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(equal_parts_of_functions_are_shared, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(no_rows_are_shared_across_a_bound, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			functions_without_rows_and_repeated_ones_are_left_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(function_whose_first_row_is_late_has_none_before,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(every_pc_keeps_its_rule, set_up, tear_down),
		cmocka_unit_test_setup_teardown(empty_section_stays_empty, set_up, tear_down),
		cmocka_unit_test_setup_teardown(longest_functions_take_linear_time, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(function_of_v2_stays_within_reach, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(no_piece_has_more_rows_than_can_be_counted, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
