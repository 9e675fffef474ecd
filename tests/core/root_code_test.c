/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Code of C libraries that calls the first functions of programs, threads and fibers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/root_code.h"

/* Behind what is no call, and starts nothing. */
static bool is_root_of(const struct bobbin_arch *arch, const uint8_t code[ROOT_CODE_SIZE])
{
	uint8_t around[ROOT_CODE_AROUND] = {0xcc, 0xcc, 0xcc};

	memcpy(around + ROOT_CODE_BEFORE, code, ROOT_CODE_SIZE);
	return root_code(arch, around);
}

static bool is_root(const uint8_t code[ROOT_CODE_SIZE])
{
	return is_root_of(bobbin_arch_amd64(), code);
}

static void threads_end_where_their_function_returns_to(void **state)
{
	/* Debian 12's clone and clone3 */
	const uint8_t glibc[ROOT_CODE_SIZE] = {0x48, 0x89, 0xc7, 0xb8, 0x3c, 0x00,
					       0x00, 0x00, 0x0f, 0x05, 0x48, 0x8b};
	/* Debian 12's __clone of musl */
	const uint8_t musl[ROOT_CODE_SIZE] = {0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c,
					      0x0f, 0x05, 0xf4, 0xc3, 0x8b, 0x07};

	(void)state;
	assert_true(is_root(glibc));
	assert_true(is_root(musl));
	assert_false(is_root_of(bobbin_arch_aarch64(), glibc));
	assert_false(is_root_of(bobbin_arch_s390x(), musl));
}

static void another_system_call_ends_nothing(void **state)
{
	/* getpid */
	const uint8_t code[ROOT_CODE_SIZE] = {0x48, 0x89, 0xc7, 0xb8, 0x27, 0x00,
					      0x00, 0x00, 0x0f, 0x05, 0x48, 0x8b};

	(void)state;
	assert_false(is_root(code));
}

static void fibers_end_at_the_start_of_a_function(void **state)
{
	const uint8_t code[ROOT_CODE_SIZE + 1] = {0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c,
						  0x24, 0x48, 0x85, 0xff, 0x74, 0x08};

	(void)state;
	assert_true(is_root(code));
	assert_false(is_root(code + 1));
}

/* make_fcontext() of Debian 12's boost and PHP: from the jump that starts the function on */
static const uint8_t fcontext[ROOT_CODE_AROUND] = {0x55, 0xff, 0xe3, 0x48, 0x31, 0xff, 0xe8, 0x49,
						   0xfe, 0xff, 0xff, 0xf4, 0x0f, 0x1f, 0x84};

static void fibers_of_boost_end_behind_the_jump_that_starts_them(void **state)
{
	uint8_t goes_on[sizeof(fcontext)];

	(void)state;
	assert_true(root_code(bobbin_arch_amd64(), fcontext));
	assert_false(root_code(bobbin_arch_aarch64(), fcontext));
	memcpy(goes_on, fcontext, sizeof(goes_on));
	goes_on[ROOT_CODE_BEFORE + 8] = 0xc3;
	assert_false(root_code(bobbin_arch_amd64(), goes_on));
}

static void what_follows_a_call_is_no_end_of_a_fiber(void **state)
{
	uint8_t called[sizeof(fcontext)];

	(void)state;
	memcpy(called, fcontext, sizeof(called));
	called[2] = 0xd3; /* call *%rbx */
	assert_false(root_code(bobbin_arch_amd64(), called));
}

static void entries_are_written_for_an_initial_stack(void **state)
{
	const uint8_t entries[][ROOT_CODE_SIZE] = {
		{0x31, 0xed, 0x49, 0x89, 0xd1, 0x5e},             /* glibc's _start */
		{0xf3, 0x0f, 0x1e, 0xfa, 0x31, 0xed, 0x49, 0x89}, /* the same with endbr64 */
		{0x48, 0x31, 0xed, 0x48, 0x89, 0xe7},             /* musl's _start and _dlstart */
		{0x48, 0x89, 0xe7, 0xe8},                         /* ld-linux */
	};
	/* what a library begins with that an old linker gave an entry: deregister_tm_clones */
	const uint8_t none[ROOT_CODE_SIZE] = {0x48, 0x8d, 0x3d, 0xd1, 0x2e, 0x00,
					      0x00, 0x48, 0x8d, 0x05, 0xca, 0x2e};

	(void)state;
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		assert_true(root_code_entry(bobbin_arch_amd64(), entries[i]));
	assert_false(root_code_entry(bobbin_arch_amd64(), none));
	assert_true(root_code_entry(bobbin_arch_aarch64(), none));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_end_where_their_function_returns_to),
		cmocka_unit_test(another_system_call_ends_nothing),
		cmocka_unit_test(fibers_end_at_the_start_of_a_function),
		cmocka_unit_test(fibers_of_boost_end_behind_the_jump_that_starts_them),
		cmocka_unit_test(what_follows_a_call_is_no_end_of_a_fiber),
		cmocka_unit_test(entries_are_written_for_an_initial_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
