/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The end of a function with __builtin_eh_return(), as gcc writes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/eh_return.h"

#define AT 200 /* of the first call below in the function */

/* Where things are, from the first call on. */
#define INSTALL 0
#define HOOK 20
#define RESTORE 30
/* of gcc 12, and of gcc 14, which unrolls a loop over the shadow stack between */
#define SHORT 60
#define LONG 205
#define LAST_SIZE 6

static uint8_t function[1024];

static void put(size_t at, const uint8_t *code, size_t size)
{
	memcpy(function + AT + at, code, size);
}

/* @change: where the stack pointer changes */
static void make_function(int change)
{
	const uint8_t call[] = {0xe8, 0x95, 0xd2, 0xff, 0xff};
	/* mov -0x28(%rbp), %rbx; mov -0x20(%rbp), %r12; mov -0x18(%rbp), %r13; mov -0x10(%rbp), %r14 */
	const uint8_t restore[] = {0x48, 0x8b, 0x5d, 0xd8, 0x4c, 0x8b, 0x65, 0xe0,
				   0x4c, 0x8b, 0x6d, 0xe8, 0x4c, 0x8b, 0x75, 0xf0};
	const uint8_t last[] = {0x48, 0x89, 0xcc, 0x59, 0xff, 0xe1};

	memset(function, 0x90, sizeof(function));
	put(INSTALL, call, sizeof(call));
	put(HOOK, call, sizeof(call));
	put(RESTORE, restore, sizeof(restore));
	put((size_t)change, last, sizeof(last));
}

static bool is_end(int at)
{
	return eh_return_code(bobbin_arch_amd64(), function + AT + at - EH_RETURN_BEFORE);
}

static void a_frame_is_replaced_from_the_first_call_to_the_jump(void **state)
{
	const int changes[] = {SHORT, LONG};

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		make_function(changes[i]);
		/* the return addresses of both calls are looked up before themselves */
		for (int at = INSTALL + 4; at < changes[i] + LAST_SIZE; at++)
			assert_true(is_end(at));
	}
}

static void nothing_is_replaced_before_and_after(void **state)
{
	(void)state;
	make_function(SHORT);
	for (int at = 1 - AT + EH_RETURN_BEFORE; at <= INSTALL; at++)
		assert_false(is_end(at));
	for (int at = SHORT + LAST_SIZE; at < SHORT + 200; at++)
		assert_false(is_end(at));
}

static void other_machines_have_other_code(void **state)
{
	(void)state;
	make_function(SHORT);
	assert_false(eh_return_code(bobbin_arch_aarch64(), function + AT + RESTORE));
}

static void tables_without_the_last_rule_have_no_such_function(void **state)
{
	const uint8_t frames[] = {0x0c, 0x07, 0x08, 0x41, 0x0c, 0x02, 0x08};

	(void)state;
	assert_true(eh_return_possible(frames, sizeof(frames)));
	assert_false(eh_return_possible(frames, sizeof(frames) - 1));
	assert_false(eh_return_possible(NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_is_replaced_from_the_first_call_to_the_jump),
		cmocka_unit_test(nothing_is_replaced_before_and_after),
		cmocka_unit_test(other_machines_have_other_code),
		cmocka_unit_test(tables_without_the_last_rule_have_no_such_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
