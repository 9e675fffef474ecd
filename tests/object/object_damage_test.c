/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A damaged relocatable file is refused, or converted to a sound one.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file_range.h"
#include "small_object.h"

/* What is added, at most. */
#define ADDED (2 * sizeof(Elf64_Shdr) + 512)

/* Damage that is not refused makes a file that can be converted again and does not grow then. */
static bool survives(const uint8_t *bytes, size_t size, unsigned int version)
{
	struct bobbin_error err = {0};
	uint64_t once;
	int out = convert_object_file(memory_file(bytes, size), version, &err);

	if (out < 0) {
		assert_true(err.reason != BOBBIN_REASON_NONE || out == -EFBIG);
		return false;
	}
	once = file_size(out);
	assert_true(once <= 2 * size + ADDED);
	out = convert_object_file(out, version, &err);
	if (out < 0)
		fail_msg("what was written is refused: %s at %llu", bobbin_reason_name(err.reason),
			 (unsigned long long)err.offset);
	assert_true(file_size(out) <= once);
	close(out);
	return true;
}

static void damage_each_byte(uint8_t *bytes, size_t size, unsigned int version,
			     unsigned int *refusals, unsigned int *survivals)
{
	static const uint8_t flips[] = {0x01, 0x02, 0x04, 0x80, 0xff, 0x10};

	for (size_t i = 0; i < size; i++) {
		for (size_t k = 0; k < sizeof(flips); k++) {
			bytes[i] ^= flips[k];
			*(survives(bytes, size, version) ? survivals : refusals) += 1;
			bytes[i] ^= flips[k];
		}
	}
}

static void damage_is_refused_or_survived(void **state)
{
	static const uint16_t machines[] = {EM_X86_64, EM_S390};
	unsigned int refusals = 0, survivals = 0;

	for (size_t i = 0; i < 2; i++) {
		struct small_object o = small_object(machines[i]);

		encode_object(&o);
		damage_each_byte(o.bytes, sizeof(o.bytes), 3 - (unsigned int)i, &refusals,
				 &survivals);
	}
	print_message("%u refused, %u survived\n", refusals, survivals);
	assert_true(refusals > 1000 && survivals > 1000);
}

/* The same for a file that was converted before and has a section. */
static void a_damaged_result_is_refused_or_survived(void **state)
{
	struct small_object o = small_object(EM_X86_64);
	unsigned int refusals = 0, survivals = 0;
	struct bobbin_error err;
	int fd = convert_object_file(file_of_object(&o), 3, &err);
	size_t size = file_size(fd);
	uint8_t *bytes = malloc(size);

	assert_non_null(bytes);
	assert_int_equal(file_range_read(fd, 0, bytes, size), 0);
	damage_each_byte(bytes, size, 3, &refusals, &survivals);
	print_message("%u refused, %u survived\n", refusals, survivals);
	assert_true(refusals > 1000 && survivals > 1000);
	free(bytes);
	close(fd);
}

/* Two numbers at a time, of headers and relocations. */
static void absurd_numbers_are_refused_or_survived(void **state)
{
	static const uint64_t absurd[] = {0,        1,          24,         OBJECT_SIZE,
					  1u << 31, UINT32_MAX, 1ull << 62, UINT64_MAX};
	const struct small_object sound = small_object(EM_X86_64);
	unsigned int refusals = 0, survivals = 0;
	const size_t count = sizeof(absurd) / sizeof(*absurd);

	for (size_t section = 0; section < OBJECT_SECTIONS; section++) {
		for (size_t i = 0; i < count * count; i++) {
			uint64_t a = absurd[i / count], b = absurd[i % count];

			for (int what = 0; what < 4; what++) {
				struct small_object o = sound;

				if (what == 0) {
					o.sections[section].sh_offset = a;
					o.sections[section].sh_size = b;
				} else if (what == 1) {
					o.sections[section].sh_link = (uint32_t)a;
					o.sections[section].sh_info = (uint32_t)b;
				} else if (what == 2) {
					o.relas[section & 1].r_addend = (int64_t)a;
					o.symbols[1 + section % 3].st_value = b;
				} else {
					o.relas[section & 1].r_offset = a;
					o.relas[section & 1].r_info = b;
				}
				encode_object(&o);
				*(survives(o.bytes, sizeof(o.bytes), 3) ? &survivals
									: &refusals) += 1;
			}
		}
	}
	print_message("%u refused, %u survived\n", refusals, survivals);
	assert_true(refusals > 300 && survivals > 300);
}

static void a_cut_file_is_refused(void **state)
{
	struct small_object o = small_object(EM_X86_64);

	encode_object(&o);
	for (size_t size = 0; size < OBJECT_SIZE; size++)
		assert_false(survives(o.bytes, size, 3));
	assert_true(survives(o.bytes, OBJECT_SIZE, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damage_is_refused_or_survived),
		cmocka_unit_test(a_damaged_result_is_refused_or_survived),
		cmocka_unit_test(absurd_numbers_are_refused_or_survived),
		cmocka_unit_test(a_cut_file_is_refused),
	};

	return cmocka_run_group_tests_name("object damage", tests, NULL, NULL);
}
