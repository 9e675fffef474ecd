/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* C++ and Rust names, and malicious names. */
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

static void ocaml_names_read_as_in_the_source(void **state)
{
	assert_reads("camlRe__Automata__delta_1_1597", "Re.Automata.delta_1_1597");
	assert_reads("camlRe__Core__pp$27_1444", "Re.Core.pp'_1444");
	assert_reads("camlRe__Category__$2b$2b_284", "Re.Category.++_284");
	assert_reads("camlStdlib__List.iter_291", "Stdlib.List.iter_291");
	assert_reads("camlRe__Core__fun_3249", "Re.Core.fun_3249");
	assert_reads("camlRe__Automata__entry", "Re.Automata.entry");
	assert_reads("camlRe__Automata__entry@plt", "Re.Automata.entry@plt");
}

static void haskell_names_read_as_in_the_source(void **state)
{
	assert_reads("base_GHCziBase_zpzp_info", "base:GHC.Base.++");
	assert_reads("ghczmprim_GHCziClasses_divIntzh_info", "ghc-prim:GHC.Classes.divInt#");
	assert_reads("base_GHCziTopHandler_runMainIO1_info", "base:GHC.TopHandler.runMainIO1");
	assert_reads(
		"randomzm1zi2zi1zi1zmC39Bl6vCcFv5bcBncES6Ba_SystemziRandom_zdfRandomZLz2cUZR_info",
		"random:System.Random.$fRandom(,)");
	assert_reads("ghczmprim_GHCziTuple_Z3T_con_info", "ghc-prim:GHC.Tuple.(,,)_con_info");
	assert_reads("ghczmprim_GHCziPrim_Z2H_con_info", "ghc-prim:GHC.Prim.(#,#)_con_info");
	assert_reads("DataziMine_zdwgo_slow", "Data.Mine.$wgo_slow");
	assert_reads("ZCMain_main_info", ":Main.main");
	assert_reads("Main_zdwgo_info", "Main.$wgo");
	assert_reads("base_GHCziBase_z3bbU_info", "base:GHC.Base.\xce\xbb");
}

static void d_names_read_as_in_the_source(void **state)
{
	assert_reads("_D3std5stdio4File5writeMFAyaZv", "std.stdio.File.write");
	assert_reads("_D2rt6dmain211_d_run_mainUiPPaPUAAaZiZi", "rt.dmain2._d_run_main");
}

/* A name that may be of another language is a C function's, unless that is certain. */
static void names_of_c_stay(void **state)
{
	static const char *const names[] = {
		"caml_alloc_shr",
		"camlidl_lookup_9",
		"caml",
		"camlRe",
		"camlRe__Core__pp$0a_1",
		"camlRe__Core__pp$2_1",
		"camlRuntime_init_2",
		"camlFoo__bar",
		"stg_ap_pp_info",
		"get_Max_size_info",
		"Main_window_info",
		"a_B_zi_info",
		"foo_info",
		"_info",
		"base_GHCziBase_z_info",
		"__info",
		"base_GHCziBase_ze_closure",
		"base_GHCziBase_z0aU_info",
		"base_GHCziBase_z110000U_info",
		"base_GHCziBase_Z65T_info",
		"_DYNAMIC",
		"_Dmain",
		"_D",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_stays(names[i]);
}

/* "Q" refers to earlier names: each level is twice as long as the one before. */
static void exponential_names_of_d_are_given_up(void **state)
{
	char mangled[1024] = "_D1a1bFS1c", text[4096];

	for (int i = 0; i < 40; i++)
		strcat(mangled, "HQcQe");
	strcat(mangled, "Zv");
	assert_stays(mangled);
	assert_false(demangle(mangled, text, sizeof(text)));
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
		cmocka_unit_test(ocaml_names_read_as_in_the_source),
		cmocka_unit_test(haskell_names_read_as_in_the_source),
		cmocka_unit_test(d_names_read_as_in_the_source),
		cmocka_unit_test(names_of_c_stay),
		cmocka_unit_test(exponential_names_of_d_are_given_up),
		cmocka_unit_test(stubs_keep_their_mark),
		cmocka_unit_test(plain_names_stay),
		cmocka_unit_test(exponential_names_are_given_up),
		cmocka_unit_test(deep_names_are_given_up),
		cmocka_unit_test(result_that_does_not_fit_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
