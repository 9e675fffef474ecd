/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rule at each instruction of a PLT, and that nothing else is taken for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/stub_code.h"

#define START 0x40020
#define MOST_BYTES 32

#define PLAIN "CFA=sp+0 RA=u FP=u"
#define PUSHED "CFA=sp+16 RA=c-8 FP=u"
#define OF_S390X "CFA=sp+160 RA=u FP=u"

/* What stub_code() says @at bytes into @code, which NOPs or other code surround. */
static const char *rule_at(const struct bobbin_arch *arch, const uint8_t *code, size_t size,
			   size_t at, char *room)
{
	uint8_t around[STUB_CODE_BEFORE + MOST_BYTES + STUB_CODE_SIZE] = {0};
	struct bobbin_rule rule;

	memcpy(around + STUB_CODE_BEFORE, code, size);
	if (!stub_code(arch, START + at, around + at, &rule))
		return "none";
	bobbin_rule_str(arch, &rule, room);
	return room;
}

struct wanted {
	const struct bobbin_arch *arch;
	const char *code;
	size_t size;
	const char *rules[8];
	uint8_t sizes[8];
};

static void expect(const struct wanted *w)
{
	char room[BOBBIN_RULE_STR_MAX];
	size_t at = 0;

	for (unsigned int i = 0; w->rules[i]; i++) {
		assert_string_equal(rule_at(w->arch, (const uint8_t *)w->code, w->size, at, room),
				    w->rules[i]);
		for (size_t inside = at + 1; inside < at + w->sizes[i]; inside++)
			assert_string_equal(
				rule_at(w->arch, (const uint8_t *)w->code, w->size, inside, room),
				"none");
		at += w->sizes[i];
	}
	assert_int_equal(at, w->size);
}

/* adrp x16, …; ldr x17, [x16, #3040]; add x16, x16, #0xbe0; br x17 */
#define LOAD "\xf0\x08\x00\x90\x11\xf2\x45\xf9\x10\x82\x2f\x91"
#define STUB LOAD "\x20\x02\x1f\xd6"

static void stubs_of_aarch64_change_nothing(void **state)
{
	const struct bobbin_arch *arch = bobbin_arch_aarch64();
	const struct wanted plain = {arch, STUB, 16, {PLAIN, PLAIN, PLAIN, PLAIN}, {4, 4, 4, 4}};
	/* bti c; …; autia1716; br x17 */
	const struct wanted checked = {arch,
				       "\x5f\x24\x03\xd5" LOAD "\x9f\x21\x03\xd5\x20\x02\x1f\xd6",
				       24,
				       {PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, PLAIN},
				       {4, 4, 4, 4, 4, 4}};

	(void)state;
	expect(&plain);
	expect(&checked);
}

/* stp x16, x30, [sp, #-16]! */
static void the_first_entry_of_aarch64_pushes_two_registers(void **state)
{
	const struct bobbin_arch *arch = bobbin_arch_aarch64();
	const struct wanted plain = {arch,
				     "\xf0\x7b\xbf\xa9" STUB,
				     20,
				     {PLAIN, PUSHED, PUSHED, PUSHED, PUSHED},
				     {4, 4, 4, 4, 4}};
	const struct wanted marked = {arch,
				      "\x5f\x24\x03\xd5\xf0\x7b\xbf\xa9" STUB,
				      24,
				      {PLAIN, PLAIN, PUSHED, PUSHED, PUSHED, PUSHED},
				      {4, 4, 4, 4, 4, 4}};

	(void)state;
	expect(&plain);
	expect(&marked);
}

/* larl %r1, …; lg %r1, 0(%r1); br %r1; basr %r1, %r0; lgf %r1, 12(%r1); jg … */
#define STUB_OF_S390X \
	"\xc0\x10\x00\x08\xae\x08\xe3\x10\x10\x00\x00\x04\x07\xf1" \
	"\x0d\x10\xe3\x10\x10\x0c\x00\x14\xc0\xf4\xff\xff\xff\xe5"

static void stubs_of_s390x_change_nothing(void **state)
{
	const struct bobbin_arch *arch = bobbin_arch_s390x();
	const struct wanted stub = {arch,
				    STUB_OF_S390X,
				    28,
				    {OF_S390X, OF_S390X, OF_S390X, OF_S390X, OF_S390X, OF_S390X},
				    {6, 6, 2, 2, 6, 6}};
	/* stg %r1, 56(%r15); larl; mvc 48(8, %r15), 8(%r1); lg %r1, 16(%r1); br %r1 */
	const struct wanted first = {arch,
				     "\xe3\x10\xf0\x38\x00\x24\xc0\x10\x00\x08\xae\x09\xd2\x07\xf0"
				     "\x30\x10\x08\xe3\x10\x10\x10\x00\x04\x07\xf1",
				     26,
				     {OF_S390X, OF_S390X, OF_S390X, OF_S390X, OF_S390X},
				     {6, 6, 6, 6, 2}};

	(void)state;
	expect(&stub);
	expect(&first);
}

/* A bit of the opcodes and registers is another one: a switch, or any other code. */
static void nothing_else_is_a_stub(void **state)
{
	static const uint8_t stub[] = STUB, fixed[] = {0x1f, 0, 0,    0x9f, 0xff, 3,    0xc0, 0xff,
						       0xff, 3, 0xc0, 0xff, 0xff, 0xff, 0xff, 0xff};
	uint8_t changed[sizeof(stub) - 1];
	char room[BOBBIN_RULE_STR_MAX];

	(void)state;
	for (unsigned int bit = 0; bit < 8 * sizeof(fixed); bit++) {
		if (!(fixed[bit / 8] >> bit % 8 & 1))
			continue;
		memcpy(changed, stub, sizeof(changed));
		changed[bit / 8] ^= (uint8_t)(1u << bit % 8);
		for (size_t at = 0; at < sizeof(changed); at += 4)
			assert_string_equal(
				rule_at(bobbin_arch_aarch64(), changed, sizeof(changed), at, room),
				"none");
	}
	assert_string_equal(rule_at(bobbin_arch_amd64(), stub, sizeof(changed), 0, room), "none");
	assert_string_equal(rule_at(bobbin_arch_s390x(), stub, sizeof(changed), 0, room), "none");
	assert_string_equal(
		rule_at(bobbin_arch_aarch64(), (const uint8_t *)STUB_OF_S390X, 28, 0, room),
		"none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stubs_of_aarch64_change_nothing),
		cmocka_unit_test(the_first_entry_of_aarch64_pushes_two_registers),
		cmocka_unit_test(stubs_of_s390x_change_nothing),
		cmocka_unit_test(nothing_else_is_a_stub),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
