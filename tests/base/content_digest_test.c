/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Digests are those that Python's hashlib.blake2b(..., digest_size=32) gives.
 */
#include "base/content_digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Bytes 0, 1, 2, … that were added @at_once at a time. */
static void assert_digest(size_t size, size_t at_once, const char *expected)
{
	uint8_t digest[CONTENT_DIGEST_SIZE], bytes[1024];
	char text[2 * CONTENT_DIGEST_SIZE + 1];
	struct content_digest d;

	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)i;
	content_digest_init(&d);
	for (size_t i = 0; i < size; i += at_once)
		content_digest_add(&d, bytes + i, size - i < at_once ? size - i : at_once);
	content_digest_get(&d, digest);
	for (unsigned int i = 0; i < CONTENT_DIGEST_SIZE; i++)
		sprintf(text + 2 * i, "%02x", digest[i]);
	assert_string_equal(text, expected);
}

static void digests_are_those_of_others(void **state)
{
	static const struct {
		size_t size;
		const char *digest;
	} known[] = {
		{0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"},
		{1, "03170a2e7597b7b7e3d84c05391d139a62b157e78786d8c082f29dcf4c111314"},
		{127, "f2fe67ff342e21b8f45e8f2e0bcd1d9243245d50ee6c78042e9c491388791c72"},
		{128, "c3582f71ebb2be66fa5dd750f80baae97554f3b015663c8be377cfcb2488c1d1"},
		{129, "f7f3c46ba2564ff4c4c162da1f5b605f9f1c4aa6a20652a9f9a337c1a2f5b9c9"},
		{256, "39a7eb9fedc19aabc83425c6755dd90e6f9d0c804964a1f4aaeea3b9fb599835"},
		{1000, "c636324d47d89f2b2434dc2c994100663fbbaea880ff020fc5de89dd0f77a1ec"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		for (size_t at_once = 1; at_once <= known[i].size + 1; at_once += 1 + at_once / 3)
			assert_digest(known[i].size, at_once, known[i].digest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digests_are_those_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
