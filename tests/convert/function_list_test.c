/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each function goes to a list and to a builder: both must give the same result and write the
 * same bytes.
 */
#include "convert/function_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "list_function.h"
#include "section_function.h"

#define SECTION 0x500000
#define MAX_ROWS 40

/**
 * struct bench - two sections with the same functions
 * @built: by the builder alone
 * @listed: from @list
 */
struct bench {
	const struct bobbin_arch *arch;
	struct section_maker built, listed;
	struct function_list list;
	uint64_t next;
};

static void start(struct bench *b, const struct bobbin_arch *arch, unsigned int version, bool share)
{
	*b = (struct bench){.arch = arch, .next = SECTION + 0x1000};
	assert_int_equal(section_maker_init(arch, SECTION, version, share, 64, &b->built), 0);
	assert_int_equal(section_maker_init(arch, SECTION, version, share, 64, &b->listed), 0);
	assert_int_equal(function_list_init(&b->listed.builder, 0, &b->list), 0);
}

static void add(struct bench *b, struct bobbin_sframe_function f, int expected)
{
	f.start = b->next;
	b->next += f.size;
	assert_int_equal(section_maker_add(&b->built, &f), expected);
	assert_int_equal(list_function(&b->list, &f), expected);
}

static void finish(struct bench *b)
{
	uint8_t *built, *listed;
	uint64_t built_size, listed_size;

	assert_int_equal(function_list_make(&b->list, &b->listed), 0);
	assert_int_equal(section_maker_finish(&b->built, &built, &built_size), 0);
	assert_int_equal(section_maker_finish(&b->listed, &listed, &listed_size), 0);
	assert_int_equal(listed_size, built_size);
	assert_memory_equal(listed, built, built_size);
	free(built);
	free(listed);
	function_list_fini(&b->list);
	section_maker_fini(&b->built);
	section_maker_fini(&b->listed);
}

static struct bobbin_place at(enum bobbin_how how, uint8_t reg, int32_t off)
{
	return (struct bobbin_place){.how = (uint8_t)how, .reg = reg, .off = off};
}

static struct bobbin_rule rule_of(const struct bobbin_arch *arch, int32_t off)
{
	return (struct bobbin_rule){
		.cfa = at(BOBBIN_HOW_AT_REG, arch->sp, off),
		.ra = at(arch->default_ra_off ? BOBBIN_HOW_IN_CFA_MEM : BOBBIN_HOW_SAME, 0,
			 arch->default_ra_off),
		.fp = at(BOBBIN_HOW_SAME, 0, 0),
		.index = BOBBIN_NO_INDEX,
	};
}

/* Offsets of one, two and four bytes, and some that no word holds. */
static int32_t some_offset(void)
{
	int32_t off = rand() % (1 << (1 + rand() % 26));

	return 160 + (rand() % 8 ? off & ~7 : off);
}

static struct bobbin_rule some_rule(const struct bobbin_arch *arch, bool flex)
{
	struct bobbin_rule rule = rule_of(arch, some_offset());

	if (rand() % 2)
		rule.cfa.reg = arch->fp;
	if (rand() % 2 && !arch->default_ra_off)
		rule.ra = at(BOBBIN_HOW_IN_CFA_MEM, 0, -8);
	if (rand() % 2 && (arch->default_ra_off || rule.ra.how == BOBBIN_HOW_IN_CFA_MEM))
		rule.fp = at(BOBBIN_HOW_IN_CFA_MEM, 0, -16 - 8 * (rand() % 300));
	if (rand() % 16 == 0)
		rule.ra = at(BOBBIN_HOW_UNDEFINED, 0, 0);
	if (flex && rand() % 3 == 0)
		rule.cfa = at(BOBBIN_HOW_IN_REG_MEM, 10, -8 * (rand() % 40));
	return rule;
}

static struct bobbin_sframe_function some_function(const struct bobbin_arch *arch, bool flex,
						   struct bobbin_sframe_row *rows)
{
	static const uint32_t spans[] = {60, 255, 256, 65535, 65536, 100000};
	uint32_t span = spans[rand() % 6], count = 1 + (uint32_t)rand() % (MAX_ROWS - 1);

	for (uint32_t i = 0; i < count; i++)
		rows[i] = (struct bobbin_sframe_row){i + 1 == count && i ? span : i,
						     some_rule(arch, flex)};
	return (struct bobbin_sframe_function){
		.size = span + 1 + (uint32_t)rand() % 300, .rows = rows, .count = count};
}

static void functions_have_the_bytes_that_builders_give_them(void **state)
{
	const struct bobbin_arch *const archs[] = {bobbin_arch_amd64(), bobbin_arch_aarch64(),
						   bobbin_arch_s390x()};
	(void)state;

	for (unsigned int n = 0; n < 300; n++) {
		const unsigned int version = 2 + n / 3 % 2;
		struct bobbin_sframe_row rows[MAX_ROWS];
		struct bench b;

		start(&b, archs[n % 3], version, n / 6 % 2);
		for (unsigned int i = 0; i < 40; i++) {
			struct bobbin_sframe_function f = some_function(archs[n % 3],
									rand() % 4 == 0, rows);
			int r = section_maker_add(
				&b.built, &(struct bobbin_sframe_function){.start = b.next,
									   .size = f.size,
									   .rows = f.rows,
									   .count = f.count});

			f.start = b.next;
			assert_int_equal(list_function(&b.list, &f), r);
			b.next += f.size;
		}
		finish(&b);
	}
}

static void marks_and_blocks_are_those_of_builders(void **state)
{
	struct bobbin_sframe_row rows[2] = {{0, rule_of(bobbin_arch_amd64(), 8)},
					    {6, rule_of(bobbin_arch_amd64(), 16)}};
	struct bench b;
	(void)state;

	start(&b, bobbin_arch_amd64(), 3, false);
	add(&b, (struct bobbin_sframe_function){.size = 5}, 0);
	add(&b, (struct bobbin_sframe_function){.size = 5, .signal = true}, 0);
	add(&b,
	    (struct bobbin_sframe_function){.size = 64, .rep_size = 16, .rows = rows, .count = 2},
	    0);
	rows[0].rule.flags = BOBBIN_RULE_SIGNAL;
	add(&b, (struct bobbin_sframe_function){.size = 64, .rows = rows, .count = 2}, -EINVAL);
	rows[1].rule.flags = BOBBIN_RULE_SIGNAL;
	add(&b, (struct bobbin_sframe_function){.size = 64, .rows = rows, .count = 2}, -EINVAL);
	add(&b,
	    (struct bobbin_sframe_function){.size = 64, .rows = rows, .count = 2, .signal = true},
	    0);
	finish(&b);
	start(&b, bobbin_arch_amd64(), 2, false);
	add(&b,
	    (struct bobbin_sframe_function){.size = 64, .rows = rows, .count = 2, .signal = true},
	    -ERANGE);
	finish(&b);
}

static void keys_are_not_mixed(void **state)
{
	const uint8_t both = BOBBIN_RULE_MANGLED | BOBBIN_RULE_KEY_B;
	struct bobbin_sframe_row rows[2] = {{0, rule_of(bobbin_arch_aarch64(), 16)},
					    {4, rule_of(bobbin_arch_aarch64(), 32)}};
	const struct bobbin_sframe_function f = {.size = 64, .rows = rows, .count = 2};
	struct bench b;
	(void)state;

	start(&b, bobbin_arch_aarch64(), 3, false);
	add(&b, f, 0);
	rows[0].rule.flags = both;
	add(&b, f, 0);
	rows[1].rule.flags = both;
	add(&b, f, 0);
	rows[1].rule.flags = BOBBIN_RULE_MANGLED;
	add(&b, f, -EINVAL);
	rows[0].rule.flags = BOBBIN_RULE_KEY_B;
	add(&b, f, 0);
	finish(&b);
}

static void what_no_row_can_hold_is_refused(void **state)
{
	static struct bobbin_sframe_row many[BOBBIN_SFRAME_MAX_ROWS + 1];
	struct bobbin_sframe_row rows[2] = {{0, rule_of(bobbin_arch_amd64(), 8)},
					    {4, rule_of(bobbin_arch_amd64(), 16)}};
	const struct bobbin_sframe_function f = {.size = 64, .rows = rows, .count = 2};
	struct bench b;
	(void)state;

	start(&b, bobbin_arch_amd64(), 3, false);
	rows[1].rule.fp = at(BOBBIN_HOW_AT_CFA, 0, -16);
	add(&b, f, -ERANGE);
	rows[1].rule = rule_of(bobbin_arch_amd64(), 16);
	rows[1].rule.cfa = at(BOBBIN_HOW_IN_REG_MEM, 7, 12);
	add(&b, f, 0);
	rows[0].rule = rows[1].rule;
	add(&b, f, 0);
	for (uint32_t i = 0; i <= BOBBIN_SFRAME_MAX_ROWS; i++)
		many[i] = (struct bobbin_sframe_row){i, rule_of(bobbin_arch_amd64(), 8)};
	add(&b,
	    (struct bobbin_sframe_function){
		    .size = 1 << 20, .rows = many, .count = BOBBIN_SFRAME_MAX_ROWS + 1},
	    -ERANGE);
	b.next = UINT64_MAX - 10;
	add(&b, (struct bobbin_sframe_function){.size = 64}, -EINVAL);
	finish(&b);
}

static void functions_beyond_reach_are_refused_in_version_2(void **state)
{
	const struct bobbin_sframe_row row = {0, rule_of(bobbin_arch_amd64(), 8)};
	const struct bobbin_sframe_function f = {.size = 16, .rows = &row, .count = 1};
	struct bench b;
	(void)state;

	start(&b, bobbin_arch_amd64(), 2, false);
	b.next = SECTION + ((uint64_t)1 << 31);
	add(&b, f, -ERANGE);
	b.next = SECTION + ((uint64_t)1 << 30);
	add(&b, f, 0);
	finish(&b);
	start(&b, bobbin_arch_amd64(), 3, false);
	b.next = SECTION + ((uint64_t)1 << 31);
	add(&b, f, 0);
	finish(&b);
}

/* Whether a word holds them or not. */
static void equal_rules_have_one_number(void **state)
{
	const struct bobbin_rule plain = rule_of(bobbin_arch_amd64(), 8),
				 other = rule_of(bobbin_arch_amd64(), 16),
				 odd = rule_of(bobbin_arch_amd64(), 12);
	struct rule_pool rules;
	uint32_t a, b, c, d;
	uint64_t word;
	(void)state;

	assert_int_equal(rule_pool_init(&rules), 0);
	assert_int_equal(bobbin_rule_pack(&plain, &word), 0);
	assert_int_equal(rule_pool_of_word(&rules, word, &a), 0);
	assert_int_equal(rule_pool_of_rule(&rules, &odd, &b), 0);
	assert_int_equal(rule_pool_of_rule(&rules, &other, &c), 0);
	assert_true(a != RULE_NONE && a != b && a != c && b != c);
	assert_int_equal(rule_pool_of_rule(&rules, &odd, &d), 0);
	assert_int_equal(d, b);
	assert_int_equal(rule_pool_of_rule(&rules, &plain, &d), 0);
	assert_int_equal(d, a);
	assert_int_equal(rule_pool_of_word(&rules, word, &d), 0);
	assert_int_equal(d, a);
	for (int32_t off = 0; off < 100000; off += 8) {
		struct bobbin_rule rule = rule_of(bobbin_arch_amd64(), off);

		assert_int_equal(bobbin_rule_pack(&rule, &word), 0);
		assert_int_equal(rule_pool_of_word(&rules, word, &d), 0);
		assert_true(rules.rules[d].word == word);
		assert_true(bobbin_rule_equal(&rules.rules[d].rule, &rule));
	}
	assert_int_equal(rules.count, 2 + 100000 / 8);
	rule_pool_fini(&rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_have_the_bytes_that_builders_give_them),
		cmocka_unit_test(marks_and_blocks_are_those_of_builders),
		cmocka_unit_test(keys_are_not_mixed),
		cmocka_unit_test(what_no_row_can_hold_is_refused),
		cmocka_unit_test(functions_beyond_reach_are_refused_in_version_2),
		cmocka_unit_test(equal_rules_have_one_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
