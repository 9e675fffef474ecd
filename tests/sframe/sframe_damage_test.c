/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Damaged sections: each prefix, each flipped bit and each overwritten byte of
 * sections of each version and byte order keeps the contract.  Sections end
 * where their heap block ends; the build adds a sanitizer that sees reads
 * behind it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sframe_bytes.h"
#include "sframe_contract.h"

#define ADDR 0x400000

static struct section_spec amd64(uint8_t version, uint8_t flags)
{
	return (struct section_spec){
		.version = version,
		.flags = flags,
		.abi = AMD64,
		.fixed_ra = -8,
		.aux_len = 2,
		.addr = ADDR,
		.num_funcs = 4,
		.funcs = {{.start = 0x1000,
			   .size = 6,
			   .num_fres = 4,
			   ROWS(0, 3, 8, 1, 5, 0x10, 0xf0, 4, 4, 0x10, 0xf0, 5, 5, 8, 0xf0)},
			  {.start = 0x1010,
			   .size = 64,
			   .info = PCMASK,
			   .rep_size = 16,
			   .num_fres = 2,
			   ROWS(0, 3, 8, 11, 3, 16)},
			  {.start = 0x2000,
			   .size = 0x400,
			   .info = ADDR2,
			   .num_fres = 2,
			   ROWS(0, 0, 3, 8, 0x34, 0x01, 0x25, 40, 0, 0xf0, 0xff)},
			  {.start = 0x500000,
			   .size = 0x20000,
			   .info = ADDR4 | SIGNAL,
			   .info2 = version == 3 ? FLEX : 0,
			   .num_fres = 1,
			   ROWS(0, 0, 0, 0, 8, 0x39, 8, 2, 0xf0)}},
	};
}

static struct section_spec s390x(uint8_t version)
{
	return (struct section_spec){
		.version = version,
		.flags = SORTED | PCREL,
		.abi = S390X,
		.addr = ADDR,
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
		assert_false(obeys_contract(block, size, ADDR));
		free(block);
	}
}

static void each_flipped_bit_keeps_the_contract(const struct built *s)
{
	for (size_t bit = 0; bit < 8 * s->size; bit++) {
		s->data[bit / 8] ^= 1 << bit % 8;
		obeys_contract(s->data, s->size, ADDR);
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
			obeys_contract(s->data, s->size, ADDR);
		}
		s->data[at] = first;
		s->data[at + 1] = second;
	}
}

static void damage(const struct section_spec *spec)
{
	struct built s = build(spec);

	assert_true(obeys_contract(s.data, s.size, ADDR));
	each_prefix_keeps_the_contract(&s);
	each_flipped_bit_keeps_the_contract(&s);
	each_pair_of_overwritten_bytes_keeps_the_contract(&s);
	free(s.data);
}

static void damaged_sections_of_amd64_keep_the_contract(void **state)
{
	for (uint8_t version = 1; version <= 3; version++) {
		struct section_spec spec = amd64(version, SORTED);

		damage(&spec);
		spec = amd64(version, version == 1 ? 0 : PCREL);
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
		struct section_spec spec = amd64(3, SORTED | PCREL);

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
