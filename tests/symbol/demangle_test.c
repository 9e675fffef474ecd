/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* C++ and Rust names, and names that are made to do harm. */
#include "symbol/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void assert_reads(const char *mangled, const char *readable)
{
	char text[1024];

	assert_true(demangle(mangled, text, sizeof(text)));
	assert_string_equal(text, readable);
}

static void assert_stays(const char *name)
{
	char text[1024];

	assert_false(demangle(name, text, sizeof(text)));
}

static void cplusplus_names_read_as_in_the_source(void **state)
{
	assert_reads("_ZN3foo3barEi", "foo::bar");
	assert_reads("_ZNKSt6vectorIiSaIiEE4sizeEv",
		     "std::vector<int, std::allocator<int> >::size");
	assert_reads("_ZN3foo3barEi.cold", "foo::bar");
	assert_reads("_ZN3fooC2Ev", "foo::foo");
}

static void rust_names_read_as_in_the_source(void **state)
{
	assert_reads("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad");
	assert_reads("_RNvC6_123foo3bar", "123foo::bar");
	assert_reads("_RNvNtNtCs1234_7mycrate3foo3bar3baz", "mycrate::foo::bar::baz");
	assert_reads("_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>");
	assert_reads("_RNCNvC7mycrate4main0B3_", "mycrate::main::{closure#0}");
}

static void stubs_keep_their_mark(void **state)
{
	assert_reads("_ZnwmPv@plt", "operator new@plt");
}

static void plain_names_stay(void **state)
{
	assert_stays("main");
	assert_stays("");
	assert_stays("_Z");
	assert_stays("_Zfoo");
	assert_stays("_R");
	assert_stays("i");
}

/* Each pair holds the previous one twice: 2^33 pairs from 300 characters. */
static void exponential_names_are_given_up(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char mangled[1024] = "_Z1fISt4pairIiiE", text[4096];

	for (int i = 1; i < 34; i++) {
		char pair[16];

		snprintf(pair, sizeof(pair), "S0_IS%c_S%c_E", digits[i], digits[i]);
		strcat(mangled, pair);
	}
	strcat(mangled, "Evv");
	assert_false(demangle(mangled, text, sizeof(text)));
}

static void deep_names_are_given_up(void **state)
{
	char mangled[8000], text[4096];

	memcpy(mangled, "_Z1fI", 5);
	memset(mangled + 5, 'P', sizeof(mangled) - 5);
	strcpy(mangled + sizeof(mangled) - 5, "iEvv");
	assert_false(demangle(mangled, text, sizeof(text)));
	memset(mangled, 'x', sizeof(mangled) - 1);
	memcpy(mangled, "_RNv", 4);
	assert_false(demangle(mangled, text, sizeof(text)));
}

static void result_that_does_not_fit_is_none(void **state)
{
	char text[9];

	assert_false(demangle("_ZN3foo3barEi", text, sizeof(text) - 1));
	assert_true(demangle("_ZN3foo3barEi", text, sizeof(text)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cplusplus_names_read_as_in_the_source),
		cmocka_unit_test(rust_names_read_as_in_the_source),
		cmocka_unit_test(stubs_keep_their_mark),
		cmocka_unit_test(plain_names_stay),
		cmocka_unit_test(exponential_names_are_given_up),
		cmocka_unit_test(deep_names_are_given_up),
		cmocka_unit_test(result_that_does_not_fit_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
