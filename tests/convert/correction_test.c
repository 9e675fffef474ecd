/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A function whose rows are right or wrong, and an FDE that tells which.
 */
#include "convert/section_repair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "section_function.h"

#define SECTION 0x500000
#define FUNCTION 0x1000
#define R10 10

/* .eh_frame without augmentation; the CFA is sp+8 and, from FUNCTION+4 on, sp+16. */
static const uint8_t frame[] = {
	20,   0,    0,  0, 0,  0, 0, 0, 1,  0, 1, 0x78, 16, 0x0c, 7, 8,
	0x90, 1,    0,  0, 0,  0, 0, 0,                                 /* CIE */
	28,   0,    0,  0, 28, 0, 0, 0,                                 /* FDE */
	0,    0x10, 0,  0, 0,  0, 0, 0, 16, 0, 0, 0,    0,  0,    0, 0, /* range */
	0x44, 0x0e, 16, 0, 0,  0, 0, 0, 0,  0, 0, 0,                    /* insns */
};

struct bench {
	uint8_t frame[sizeof(frame)];
	uint8_t *data, *result;
	uint64_t result_size;
	struct bobbin_sframe_view before, after;
	uint64_t start, end;
	bool expressible;
	unsigned int corrections;
};

static int set_up(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	memcpy(b->frame, frame, sizeof(frame));
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	free(b->data);
	free(b->result);
	free(b);
	return 0;
}

static struct bobbin_rule rule_at(int32_t cfa)
{
	return (struct bobbin_rule){
		.cfa = {.how = BOBBIN_HOW_AT_REG, .reg = bobbin_arch_amd64()->sp, .off = cfa},
		.ra = {.how = BOBBIN_HOW_IN_CFA_MEM, .off = -8},
		.fp = {.how = BOBBIN_HOW_SAME},
		.index = BOBBIN_NO_INDEX,
	};
}

/* The section says sp+@first, and sp+@second from FUNCTION+4 on. */
static void give(struct bench *b, int32_t first, int32_t second)
{
	const struct bobbin_sframe_row rows[] = {{0, rule_at(first)}, {4, rule_at(second)}};
	const struct bobbin_sframe_function f = {
		.start = FUNCTION, .size = 16, .rows = rows, .count = 2};
	struct section_maker maker;
	uint64_t size;

	assert_int_equal(section_maker_init(bobbin_arch_amd64(), SECTION, 3, false, 1, &maker), 0);
	assert_int_equal(section_maker_add(&maker, &f), 0);
	assert_int_equal(section_maker_finish(&maker, &b->data, &size), 0);
	section_maker_fini(&maker);
	assert_int_equal(bobbin_sframe_view(b->data, size, SECTION, NULL, &b->before), 0);
}

static void take_correction(void *ctx, uint64_t start, uint64_t end, bool expressible)
{
	struct bench *b = ctx;

	b->start = start;
	b->end = end;
	b->expressible = expressible;
	b->corrections++;
}

static void correct(struct bench *b, unsigned int version)
{
	const struct bobbin_cfi_view cfi = {
		.arch = bobbin_arch_amd64(), .frame = b->frame, .frame_size = sizeof(b->frame)};
	const struct correction correction = {
		.cfi = &cfi,
		.cfi_count = 1,
		.options = {.version = version, .addr = SECTION},
		.corrected = take_correction,
		.ctx = b,
	};

	assert_int_equal(correct_section(&correction, &b->before, &b->result, &b->result_size), 0);
	assert_int_equal(bobbin_sframe_view(b->result, b->result_size, SECTION, NULL, &b->after),
			 0);
}

static void assert_cfa(const struct bench *b, uint64_t pc, uint8_t reg, int32_t off)
{
	struct bobbin_row row;

	assert_int_equal(bobbin_sframe_lookup(&b->after, pc, NULL, &row), 0);
	assert_int_equal(row.rule.cfa.reg, reg);
	assert_int_equal(row.rule.cfa.off, off);
}

static void what_agrees_stays(void **state)
{
	struct bench *b = *state;

	give(b, 8, 16);
	correct(b, 3);
	assert_int_equal(b->corrections, 0);
	assert_int_equal(b->result_size, b->before.size);
	assert_memory_equal(b->result, b->data, b->result_size);
}

static void a_wrong_rule_is_replaced(void **state)
{
	struct bench *b = *state;

	give(b, 24, 16);
	correct(b, 3);
	assert_int_equal(b->corrections, 1);
	assert_true(b->expressible);
	assert_int_equal(b->start, FUNCTION);
	assert_int_equal(b->end, FUNCTION + 4);
	assert_cfa(b, FUNCTION + 3, bobbin_arch_amd64()->sp, 8);
	assert_cfa(b, FUNCTION + 4, bobbin_arch_amd64()->sp, 16);
}

static void wrong_rules_in_a_row_become_one_function(void **state)
{
	struct bench *b = *state;

	give(b, 24, 32);
	correct(b, 2);
	assert_int_equal(b->corrections, 2);
	assert_int_equal(b->after.num_fdes, 1);
	assert_cfa(b, FUNCTION, bobbin_arch_amd64()->sp, 8);
	assert_cfa(b, FUNCTION + 15, bobbin_arch_amd64()->sp, 16);
}

static void a_rule_that_the_version_cannot_express_changes_nothing(void **state)
{
	struct bench *b = *state;

	b->frame[14] = R10;
	give(b, 24, 32);
	correct(b, 2);
	assert_int_equal(b->corrections, 2);
	assert_false(b->expressible);
	assert_cfa(b, FUNCTION, bobbin_arch_amd64()->sp, 24);
	free(b->result);
	correct(b, 3);
	assert_true(b->expressible);
	assert_cfa(b, FUNCTION, R10, 8);
}

static void code_without_call_frame_information_stays(void **state)
{
	struct bench *b = *state;

	b->frame[33] = 0x20; /* the FDE is about 0x2000 */
	give(b, 24, 32);
	correct(b, 3);
	assert_int_equal(b->corrections, 0);
	assert_cfa(b, FUNCTION, bobbin_arch_amd64()->sp, 24);
}

#define sentence(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		sentence(what_agrees_stays),
		sentence(a_wrong_rule_is_replaced),
		sentence(wrong_rules_in_a_row_become_one_function),
		sentence(a_rule_that_the_version_cannot_express_changes_nothing),
		sentence(code_without_call_frame_information_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
