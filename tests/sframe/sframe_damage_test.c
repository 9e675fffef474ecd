/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Damaged sections: each prefix, each flipped bit and each overwritten byte of
 * sections of each version and byte order keeps the contract.  Sections end
 * where their heap block ends; the build adds a sanitizer that sees reads
 * after it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sframe_contract.h"
#include "sframe_forms.h"

static struct section_spec s390x(uint8_t version)
{
	return (struct section_spec){
		.version = version,
		.flags = SORTED | PCREL,
		.abi = S390X,
		.addr = FORMS_ADDR,
		.num_funcs = 2,
		.funcs = {{.start = 0x1000,
			   .size = 8,
			   .num_fres = 2,
			   ROWS(0, 3, 0, 4, 7, 1, 0xd0, 0xb8)},
			  {.start = 0x2000,
			   .size = 0x400,
			   .info = ADDR2,
			   .num_fres = 2,
			   ROWS(0, 0, 3, 8, 0x01, 0x34, 0x27, 0, 1, 0, 33, 0, 35)}},
	};
}

static void each_prefix_keeps_the_contract(const struct built *s)
{
	for (size_t size = 0; size < s->size; size++) {
		uint8_t *block = malloc(size ? size : 1);

		memcpy(block, s->data, size);
		assert_false(obeys_contract(block, size, FORMS_ADDR));
		free(block);
	}
}

static void each_flipped_bit_keeps_the_contract(const struct built *s)
{
	for (size_t bit = 0; bit < 8 * s->size; bit++) {
		s->data[bit / 8] ^= 1 << bit % 8;
		obeys_contract(s->data, s->size, FORMS_ADDR);
		s->data[bit / 8] ^= 1 << bit % 8;
	}
}

static void each_pair_of_overwritten_bytes_keeps_the_contract(const struct built *s)
{
	static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};

	for (size_t at = 0; at + 1 < s->size; at++) {
		uint8_t first = s->data[at], second = s->data[at + 1];

		for (size_t i = 0; i < 25; i++) {
			s->data[at] = values[i / 5];
			s->data[at + 1] = values[i % 5];
			obeys_contract(s->data, s->size, FORMS_ADDR);
		}
		s->data[at] = first;
		s->data[at + 1] = second;
	}
}

static void damage(const struct section_spec *spec)
{
	struct built s = build(spec);

	assert_true(obeys_contract(s.data, s.size, FORMS_ADDR));
	each_prefix_keeps_the_contract(&s);
	each_flipped_bit_keeps_the_contract(&s);
	each_pair_of_overwritten_bytes_keeps_the_contract(&s);
	free(s.data);
}

static void damaged_sections_of_amd64_keep_the_contract(void **state)
{
	for (uint8_t version = 1; version <= 3; version++) {
		struct section_spec spec = amd64_forms(version, SORTED);

		damage(&spec);
		spec = amd64_forms(version, version == 1 ? 0 : PCREL);
		damage(&spec);
	}
}

static void damaged_sections_of_s390x_keep_the_contract(void **state)
{
	for (uint8_t version = 2; version <= 3; version++) {
		struct section_spec spec = s390x(version);

		damage(&spec);
	}
}

static void damaged_sections_of_aarch64_keep_the_contract(void **state)
{
	for (uint8_t version = 1; version <= 3; version++) {
		struct section_spec spec = s390x(version);

		spec.flags = SORTED;
		spec.abi = AARCH64_BE;
		spec.funcs[0].info = KEY_B;
		damage(&spec);
		spec.abi = AARCH64_LE;
		damage(&spec);
	}
}

static void damaged_single_functions_agree_with_a_plain_walk(void **state)
{
	for (size_t i = 0; i < 4; i++) {
		struct section_spec spec = amd64_forms(3, SORTED | PCREL);

		spec.num_funcs = 1;
		spec.funcs[0] = spec.funcs[i];
		damage(&spec);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damaged_sections_of_amd64_keep_the_contract),
		cmocka_unit_test(damaged_sections_of_s390x_keep_the_contract),
		cmocka_unit_test(damaged_sections_of_aarch64_keep_the_contract),
		cmocka_unit_test(damaged_single_functions_agree_with_a_plain_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
