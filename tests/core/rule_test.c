/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packed rules: a rule that fits is unpacked unchanged, others are refused.  Printed rules.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <bobbin/arch.h>
#include <bobbin/rule.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define KIB 1024
#define UNTOUCHED 0x5a5a5a5a5a5a5a5a

static struct bobbin_place at(enum bobbin_how how, uint8_t reg, int32_t off)
{
	return (struct bobbin_place){.how = (uint8_t)how, .reg = reg, .off = off};
}

/* The rule of most functions: CFA = reg 7 + 16, RA at CFA - 8, FP unchanged. */
static struct bobbin_rule plain(void)
{
	return (struct bobbin_rule){.cfa = at(BOBBIN_HOW_AT_REG, 7, 16),
				    .ra = at(BOBBIN_HOW_IN_CFA_MEM, 0, -8),
				    .fp = at(BOBBIN_HOW_SAME, 0, 0),
				    .index = BOBBIN_NO_INDEX};
}

static void assert_survives(const struct bobbin_rule *rule)
{
	struct bobbin_rule back;
	uint64_t word = 0, again = 0;

	assert_int_equal(bobbin_rule_pack(rule, &word), 0);
	assert_true(word != 0);
	bobbin_rule_unpack(word, &back);
	assert_true(bobbin_rule_equal(rule, &back));
	assert_int_equal(bobbin_rule_pack(&back, &again), 0);
	assert_true(word == again);
}

static void assert_refused(const struct bobbin_rule *rule)
{
	uint64_t word = UNTOUCHED;

	assert_int_equal(bobbin_rule_pack(rule, &word), -ERANGE);
	assert_true(word == UNTOUCHED);
}

/* Each kind of CFA, with the largest offsets of both signs. */
static const struct bobbin_rule cfas[] = {
	{.cfa = {8, BOBBIN_HOW_AT_REG, 0}, .index = BOBBIN_NO_INDEX},
	{.cfa = {0, BOBBIN_HOW_AT_REG, 31}, .index = BOBBIN_NO_INDEX},
	{.cfa = {4096 * KIB - 8, BOBBIN_HOW_AT_REG, 7}, .index = BOBBIN_NO_INDEX},
	{.cfa = {-4096 * KIB, BOBBIN_HOW_AT_REG, 7}, .index = BOBBIN_NO_INDEX},
	{.cfa = {0, BOBBIN_HOW_IN_REG_MEM, 7}, .index = BOBBIN_NO_INDEX},
	{.cfa = {16 * KIB - 8, BOBBIN_HOW_IN_REG_MEM, 31}, .plus = 1016, .index = BOBBIN_NO_INDEX},
	{.cfa = {-16 * KIB, BOBBIN_HOW_IN_REG_MEM, 6}, .plus = -1024, .index = BOBBIN_NO_INDEX},
	{.cfa = {0, BOBBIN_HOW_IN_REG_MEM, 7}, .plus = 8, .index = 0},
	{.cfa = {504, BOBBIN_HOW_IN_REG_MEM, 7}, .plus = 1016, .index = 31},
	{.cfa = {-512, BOBBIN_HOW_IN_REG_MEM, 31}, .plus = -1024, .index = 9},
};

static const struct bobbin_place ras[] = {
	{0, BOBBIN_HOW_SAME, 0},
	{0, BOBBIN_HOW_UNDEFINED, 0},
	{-8, BOBBIN_HOW_IN_CFA_MEM, 0},
	{0, BOBBIN_HOW_IN_CFA_MEM, 0},
	{16 * KIB - 8, BOBBIN_HOW_IN_CFA_MEM, 0},
	{-16 * KIB, BOBBIN_HOW_IN_CFA_MEM, 0},
	{0, BOBBIN_HOW_AT_REG, 31},
	{504, BOBBIN_HOW_AT_REG, 1},
	{-512, BOBBIN_HOW_AT_REG, 0},
	{0, BOBBIN_HOW_IN_REG_MEM, 31},
	{504, BOBBIN_HOW_IN_REG_MEM, 7},
	{-512, BOBBIN_HOW_IN_REG_MEM, 0},
};

static const struct bobbin_place fps[] = {
	{0, BOBBIN_HOW_SAME, 0},
	{-16, BOBBIN_HOW_IN_CFA_MEM, 0},
	{256 * KIB - 8, BOBBIN_HOW_IN_CFA_MEM, 0},
	{-256 * KIB, BOBBIN_HOW_IN_CFA_MEM, 0},
	{0, BOBBIN_HOW_AT_CFA, 0},
	{256 * KIB - 8, BOBBIN_HOW_AT_CFA, 0},
	{-256 * KIB, BOBBIN_HOW_AT_CFA, 0},
	{0, BOBBIN_HOW_AT_REG, 31},
	{8 * KIB - 8, BOBBIN_HOW_AT_REG, 11},
	{-8 * KIB, BOBBIN_HOW_AT_REG, 0},
	{0, BOBBIN_HOW_IN_REG_MEM, 6},
	{8 * KIB - 8, BOBBIN_HOW_IN_REG_MEM, 31},
	{-8 * KIB, BOBBIN_HOW_IN_REG_MEM, 0},
};

static void every_combination_of_boundary_places_survives(void **state)
{
	for (size_t c = 0; c < COUNT(cfas); c++) {
		for (size_t r = 0; r < COUNT(ras); r++) {
			for (size_t f = 0; f < COUNT(fps); f++) {
				struct bobbin_rule rule = cfas[c];

				rule.ra = ras[r];
				rule.fp = fps[f];
				for (rule.flags = 0; rule.flags < 8; rule.flags++)
					assert_survives(&rule);
			}
		}
	}
}

/* One step beyond each limit above, and one that is no multiple of 8. */
static void a_cfa_offset_that_does_not_fit_is_refused(void **state)
{
	static const int32_t outside[][3] = {
		{4096 * KIB, -4096 * KIB - 8, 4},
		{16 * KIB, -16 * KIB - 8, -12},
		{512, -520, 1},
	};

	for (size_t i = 0; i < 3; i++) {
		for (size_t k = 0; k < 3; k++) {
			struct bobbin_rule rule = plain();

			rule.cfa = at(i ? BOBBIN_HOW_IN_REG_MEM : BOBBIN_HOW_AT_REG, 7,
				      outside[i][k]);
			rule.index = i == 2 ? 9 : BOBBIN_NO_INDEX;
			assert_refused(&rule);
		}
	}
}

static void an_addend_that_does_not_fit_is_refused(void **state)
{
	static const int16_t outside[] = {1024, -1032, 4, INT16_MAX, INT16_MIN};

	for (size_t i = 0; i < COUNT(outside); i++) {
		struct bobbin_rule rule = plain();

		rule.cfa = at(BOBBIN_HOW_IN_REG_MEM, 7, 8);
		rule.plus = outside[i];
		assert_refused(&rule);
		rule.index = 9;
		assert_refused(&rule);
	}
}

static void a_return_address_that_does_not_fit_is_refused(void **state)
{
	static const struct bobbin_place outside[] = {
		{16 * KIB, BOBBIN_HOW_IN_CFA_MEM, 0},
		{-16 * KIB - 8, BOBBIN_HOW_IN_CFA_MEM, 0},
		{-4, BOBBIN_HOW_IN_CFA_MEM, 0},
		{INT32_MIN, BOBBIN_HOW_IN_CFA_MEM, 0},
		{INT32_MAX, BOBBIN_HOW_IN_CFA_MEM, 0},
		{512, BOBBIN_HOW_AT_REG, 0},
		{-520, BOBBIN_HOW_AT_REG, 0},
		{512, BOBBIN_HOW_IN_REG_MEM, 0},
		{0, BOBBIN_HOW_AT_REG, 32},
		{0, BOBBIN_HOW_IN_REG_MEM, 32},
		{0, BOBBIN_HOW_AT_CFA, 0},
		{0, BOBBIN_HOW_NO_RULE, 0},
		{0, 8, 0},
	};

	for (size_t i = 0; i < COUNT(outside); i++) {
		struct bobbin_rule rule = plain();

		rule.ra = outside[i];
		assert_refused(&rule);
	}
}

static void a_frame_pointer_that_does_not_fit_is_refused(void **state)
{
	static const struct bobbin_place outside[] = {
		{256 * KIB, BOBBIN_HOW_IN_CFA_MEM, 0},
		{-256 * KIB - 8, BOBBIN_HOW_IN_CFA_MEM, 0},
		{-12, BOBBIN_HOW_IN_CFA_MEM, 0},
		{256 * KIB, BOBBIN_HOW_AT_CFA, 0},
		{8 * KIB, BOBBIN_HOW_AT_REG, 0},
		{-8 * KIB - 8, BOBBIN_HOW_IN_REG_MEM, 0},
		{0, BOBBIN_HOW_AT_REG, 32},
		{0, BOBBIN_HOW_UNDEFINED, 0},
		{0, BOBBIN_HOW_NO_RULE, 0},
		{0, 255, 0},
	};

	for (size_t i = 0; i < COUNT(outside); i++) {
		struct bobbin_rule rule = plain();

		rule.fp = outside[i];
		assert_refused(&rule);
	}
}

static void other_members_that_do_not_fit_are_refused(void **state)
{
	struct bobbin_rule rule = plain();

	rule.cfa.reg = 32;
	assert_refused(&rule);
	rule = plain();
	rule.flags = 16;
	assert_refused(&rule);
	rule = plain();
	rule.cfa = at(BOBBIN_HOW_IN_REG_MEM, 7, 0);
	rule.index = 32;
	assert_refused(&rule);
	for (int how = BOBBIN_HOW_SAME; how < 256; how++) {
		rule = plain();
		rule.cfa.how = (uint8_t)how;
		if (how != BOBBIN_HOW_AT_REG && how != BOBBIN_HOW_IN_REG_MEM)
			assert_refused(&rule);
	}
}

/* The return address is in memory then. */
static void a_switch_of_stacks_survives(void **state)
{
	for (size_t f = 0; f < COUNT(fps); f++)
		for (size_t r = 0; r < COUNT(ras); r++) {
			struct bobbin_rule rule = plain();

			rule.flags = BOBBIN_RULE_SWITCH | BOBBIN_RULE_MANGLED;
			rule.fp = fps[f];
			rule.ra = ras[r];
			if (rule.ra.how == BOBBIN_HOW_IN_CFA_MEM)
				assert_survives(&rule);
			else
				assert_refused(&rule);
		}
}

static void a_far_return_address_next_to_the_frame_pointer_fits(void **state)
{
	struct bobbin_rule rule = plain();

	for (int32_t off = -256 * KIB; off < 256 * KIB; off += 8) {
		rule.fp = at(BOBBIN_HOW_IN_CFA_MEM, 0, off);
		rule.ra = at(BOBBIN_HOW_IN_CFA_MEM, 0, off + 8);
		assert_survives(&rule);
	}
	rule.ra.off = rule.fp.off - 8;
	assert_refused(&rule);
}

/* In bytes, in the bits of a frame pointer that is unchanged. */
static void a_return_address_near_the_pc_fits(void **state)
{
	static const int32_t fit[] = {
		0, 1, -1, -27, 0x9f3a1, 128 * KIB * KIB - 1, -128 * KIB * KIB};
	static const int32_t outside[] = {128 * KIB * KIB, -128 * KIB * KIB - 1, INT32_MIN};
	struct bobbin_rule rule = plain();

	for (size_t i = 0; i < COUNT(fit); i++) {
		rule.ra = at(BOBBIN_HOW_AT_PC, 0, fit[i]);
		rule.cfa.off = -128;
		assert_survives(&rule);
	}
	rule.fp = at(BOBBIN_HOW_IN_CFA_MEM, 0, -16);
	assert_refused(&rule);
	rule = plain();
	for (size_t i = 0; i < COUNT(outside); i++) {
		rule.ra = at(BOBBIN_HOW_AT_PC, 0, outside[i]);
		assert_refused(&rule);
	}
}

static void why_there_is_no_rule_survives(void **state)
{
	for (int reason = BOBBIN_REASON_NONE + 1; reason < BOBBIN_REASON_COUNT; reason++) {
		struct bobbin_rule rule = bobbin_rule_none((enum bobbin_reason)reason);

		assert_int_equal(rule.cfa.how, BOBBIN_HOW_NO_RULE);
		assert_survives(&rule);
	}
}

static void no_rule_without_a_reason_packs_as_a_bad_rule(void **state)
{
	struct bobbin_rule rule = {0};
	uint64_t word = 0;

	assert_int_equal(bobbin_rule_pack(&rule, &word), 0);
	bobbin_rule_unpack(word, &rule);
	assert_int_equal(rule.cfa.how, BOBBIN_HOW_NO_RULE);
	assert_int_equal(rule.reason, BOBBIN_REASON_BAD_RULE);
}

static void different_rules_have_different_words(void **state)
{
	struct bobbin_rule a = plain(), b = plain();
	uint64_t first = 0, second = 0;

	assert_true(bobbin_rule_equal(&a, &b));
	for (b.cfa.off = -64; b.cfa.off <= 64; b.cfa.off += 8) {
		assert_int_equal(bobbin_rule_pack(&a, &first), 0);
		assert_int_equal(bobbin_rule_pack(&b, &second), 0);
		assert_int_equal(first == second, a.cfa.off == b.cfa.off);
		assert_int_equal(bobbin_rule_equal(&a, &b), a.cfa.off == b.cfa.off);
	}
}

static void each_member_counts_for_equality(void **state)
{
	const struct bobbin_rule a = plain();
	struct bobbin_rule changed[8];

	for (size_t i = 0; i < COUNT(changed); i++)
		changed[i] = a;
	changed[0].cfa.reg = 6;
	changed[1].ra.off = -16;
	changed[2].fp.how = BOBBIN_HOW_AT_CFA;
	changed[3].plus = 8;
	changed[4].index = 3;
	changed[5].flags = BOBBIN_RULE_SIGNAL;
	changed[6].reason = BOBBIN_REASON_DEPTH;
	changed[7].cfa.how = BOBBIN_HOW_NO_RULE;
	for (size_t i = 0; i < COUNT(changed); i++)
		assert_false(bobbin_rule_equal(&a, &changed[i]));
}

/* A 64-bit linear congruential generator; the numbers are Knuth's. */
static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed ^ *seed >> 29;
}

static struct bobbin_place random_place(uint64_t *seed, bool small)
{
	uint64_t r = next_random(seed);
	uint8_t how = r & 7;
	bool based = how == BOBBIN_HOW_AT_REG || how == BOBBIN_HOW_IN_REG_MEM;
	bool offset = based || how == BOBBIN_HOW_IN_CFA_MEM || how == BOBBIN_HOW_AT_CFA ||
		      how == BOBBIN_HOW_AT_PC;
	int32_t off = (int32_t)(r >> 32) >> (small ? 20 : r >> 16 & 31);

	return at((enum bobbin_how)how, based ? r >> 8 & 31 : 0, offset ? off & ~7 : 0);
}

static struct bobbin_rule random_rule(uint64_t *seed)
{
	uint64_t r = next_random(seed);
	struct bobbin_rule rule = {.index = BOBBIN_NO_INDEX, .flags = r & 7};

	rule.cfa = random_place(seed, r & 8);
	rule.ra = random_place(seed, r & 16);
	rule.fp = random_place(seed, r & 32);
	if (rule.cfa.how == BOBBIN_HOW_IN_REG_MEM) {
		rule.plus = (int16_t)(r >> 48) & ~7;
		rule.index = r & 64 ? r >> 8 & 31 : BOBBIN_NO_INDEX;
	}
	return rule;
}

static void random_rules_survive_or_are_refused(void **state)
{
	unsigned int packed = 0, refused = 0;
	uint64_t seed = 1;

	for (unsigned int i = 0; i < 2000000; i++) {
		struct bobbin_rule rule = random_rule(&seed);
		uint64_t word = UNTOUCHED;

		if (rule.cfa.how == BOBBIN_HOW_NO_RULE)
			continue;
		if (bobbin_rule_pack(&rule, &word)) {
			assert_true(word == UNTOUCHED);
			refused++;
			continue;
		}
		assert_survives(&rule);
		packed++;
	}
	assert_true(packed > 10000 && refused > 10000);
}

static bool has_sense(const struct bobbin_rule *rule)
{
	bool cfa = rule->cfa.how == BOBBIN_HOW_AT_REG || rule->cfa.how == BOBBIN_HOW_IN_REG_MEM;
	bool ra = rule->ra.how != BOBBIN_HOW_NO_RULE && rule->ra.how != BOBBIN_HOW_AT_CFA;
	bool fp = rule->fp.how != BOBBIN_HOW_NO_RULE && rule->fp.how != BOBBIN_HOW_UNDEFINED &&
		  rule->fp.how != BOBBIN_HOW_AT_PC;

	return cfa && ra && fp && rule->cfa.reg < 32 && rule->ra.reg < 32 && rule->fp.reg < 32 &&
	       (rule->index < 32 || rule->index == BOBBIN_NO_INDEX);
}

/* Words of another process's table may be any; reasons are indexes of counters. */
static void a_word_without_a_rule_has_a_reason_that_exists(void **state)
{
	for (uint64_t reason = 0; reason < 256; reason++) {
		struct bobbin_rule rule;

		bobbin_rule_unpack(reason << 2, &rule);
		assert_int_equal(rule.cfa.how, BOBBIN_HOW_NO_RULE);
		assert_int_equal(rule.reason, reason && reason < BOBBIN_REASON_COUNT
						      ? reason
						      : BOBBIN_REASON_BAD_RULE);
	}
}

/* A word of a corrupt cache gives a wrong rule, but one that means something. */
static void any_word_unpacks_to_a_rule(void **state)
{
	struct bobbin_rule rule;
	uint64_t seed = 2;

	for (unsigned int i = 0; i < 2000000; i++) {
		bobbin_rule_unpack(next_random(&seed), &rule);
		assert_true(rule.cfa.how == BOBBIN_HOW_NO_RULE || has_sense(&rule));
	}
	bobbin_rule_unpack(0, &rule);
	assert_int_equal(rule.cfa.how, BOBBIN_HOW_NO_RULE);
}

static void assert_spelled(const struct bobbin_rule *rule, const char *expected)
{
	char text[BOBBIN_RULE_STR_MAX];

	bobbin_rule_str(bobbin_arch_amd64(), rule, text);
	assert_string_equal(text, expected);
}

static void a_rule_is_printed_with_its_three_places(void **state)
{
	struct bobbin_rule rule = {.cfa = {16, BOBBIN_HOW_AT_REG, 7},
				   .ra = {-8, BOBBIN_HOW_IN_CFA_MEM, 0},
				   .fp = {0, BOBBIN_HOW_SAME, 0},
				   .index = BOBBIN_NO_INDEX};

	assert_spelled(&rule, "CFA=sp+16 RA=c-8 FP=u");
	rule.fp = (struct bobbin_place){-16, BOBBIN_HOW_AT_CFA, 0};
	rule.ra = (struct bobbin_place){0, BOBBIN_HOW_UNDEFINED, 0};
	rule.flags = BOBBIN_RULE_SIGNAL;
	assert_spelled(&rule, "CFA=sp+16 RA=end FP==c-16 signal");
	rule.cfa = (struct bobbin_place){-8, BOBBIN_HOW_IN_REG_MEM, 6};
	rule.plus = 8;
	rule.fp = (struct bobbin_place){0, BOBBIN_HOW_AT_REG, 10};
	rule.ra = (struct bobbin_place){8, BOBBIN_HOW_IN_REG_MEM, 31};
	rule.flags = BOBBIN_RULE_MANGLED;
	assert_spelled(&rule, "CFA=(fp-8)+8 RA=(r31+8) FP=r10+0 key A");
	rule.index = 9;
	rule.ra = (struct bobbin_place){-27, BOBBIN_HOW_AT_PC, 0};
	rule.flags = 0;
	assert_spelled(&rule, "CFA=(fp-8+8*r9)+8 RA=pc-27 FP=r10+0");
	rule.ra = (struct bobbin_place){8, BOBBIN_HOW_IN_REG_MEM, 31};
	rule.flags = BOBBIN_RULE_MANGLED | BOBBIN_RULE_KEY_B;
	assert_spelled(&rule, "CFA=(fp-8+8*r9)+8 RA=(r31+8) FP=r10+0 key B");
}

static void the_longest_rule_is_printed_whole(void **state)
{
	const struct bobbin_place far = {INT32_MIN, BOBBIN_HOW_IN_REG_MEM, 200};
	const struct bobbin_rule rule = {
		.cfa = far, .ra = far, .fp = far, .plus = INT16_MIN, .index = 201, .flags = 0xff};

	assert_spelled(&rule, "CFA=(r200-2147483648+8*r201)-32768 RA=(r200-2147483648) "
			      "FP=(r200-2147483648) key B signal");
}

static void each_reason_for_no_rule_is_printed_whole(void **state)
{
	for (unsigned int reason = 0; reason < 256; reason++) {
		const struct bobbin_rule rule = bobbin_rule_none((enum bobbin_reason)reason);
		char expected[BOBBIN_RULE_STR_MAX];

		snprintf(expected, sizeof(expected), "none (%s)",
			 bobbin_reason_str((enum bobbin_reason)reason));
		assert_int_equal(expected[strlen(expected) - 1], ')');
		assert_spelled(&rule, expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_combination_of_boundary_places_survives),
		cmocka_unit_test(a_cfa_offset_that_does_not_fit_is_refused),
		cmocka_unit_test(an_addend_that_does_not_fit_is_refused),
		cmocka_unit_test(a_return_address_that_does_not_fit_is_refused),
		cmocka_unit_test(a_frame_pointer_that_does_not_fit_is_refused),
		cmocka_unit_test(other_members_that_do_not_fit_are_refused),
		cmocka_unit_test(a_switch_of_stacks_survives),
		cmocka_unit_test(a_far_return_address_next_to_the_frame_pointer_fits),
		cmocka_unit_test(a_return_address_near_the_pc_fits),
		cmocka_unit_test(why_there_is_no_rule_survives),
		cmocka_unit_test(no_rule_without_a_reason_packs_as_a_bad_rule),
		cmocka_unit_test(different_rules_have_different_words),
		cmocka_unit_test(each_member_counts_for_equality),
		cmocka_unit_test(random_rules_survive_or_are_refused),
		cmocka_unit_test(a_word_without_a_rule_has_a_reason_that_exists),
		cmocka_unit_test(any_word_unpacks_to_a_rule),
		cmocka_unit_test(a_rule_is_printed_with_its_three_places),
		cmocka_unit_test(the_longest_rule_is_printed_whole),
		cmocka_unit_test(each_reason_for_no_rule_is_printed_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
