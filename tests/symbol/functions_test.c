/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ends of functions whose symbols have no size, or an impossible one. */
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct symbolizer_options names_only = {.demangle = true};

/* Symbols of assemblers that give no sizes, with local ones stripped. */
static void sizeless_symbols_do_not_swallow_hidden_functions(void **state)
{
	struct symbolizer *s = open_symbolizer(&names_only);
	uint64_t first, second;

	write_text("hidden.S", ".text\n.globl first, second\n.p2align 4\n"
			       "first: nop\nje 1f\n.byte 0xb8, 0xc3, 0, 0, 0\nret\n1: nop\nret\n"
			       ".p2align 4\n"
			       "hidden: .fill 8192, 1, 0x40\n"
			       "second: .fill 8192, 1, 0x40\n"
			       ".section .note.GNU-stack\n");
	run("gcc -shared -nostdlib hidden.S -o hidden && strip hidden");
	first = offset_of_export("hidden", "first");
	second = offset_of_export("hidden", "second");
	assert_name_at(s, "hidden", first, "first");
	assert_name_at(s, "hidden", first + 9, "first");
	assert_name_at(s, "hidden", first + 16, NULL);
	assert_name_at(s, "hidden", second - 1, NULL);
	assert_name_at(s, "hidden", second, "second");
	assert_name_at(s, "hidden", second + 4095, "second");
	assert_name_at(s, "hidden", second + 4096, NULL);
	symbolizer_close(s);
}

static void no_symbol_reaches_beyond_its_section(void **state)
{
	struct symbolizer *s = open_symbolizer(&names_only);
	uint64_t first;

	write_text("absurd.S", ".text\n.globl _start\n"
			       "_start: .fill 16, 1, 0x90\n.size _start, 0x10000000\n"
			       ".section .other, \"ax\"\n.fill 32, 1, 0x90\n"
			       ".section .note.GNU-stack\n");
	run("gcc -nostdlib -static absurd.S -o absurd");
	first = offset_of("absurd", "_start", 0);
	assert_name_at(s, "absurd", first + 15, "_start");
	assert_name_at(s, "absurd", first + 16, NULL);
	assert_name_at(s, "absurd", first + 31, NULL);
	symbolizer_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizeless_symbols_do_not_swallow_hidden_functions),
		cmocka_unit_test(no_symbol_reaches_beyond_its_section),
	};

	return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
