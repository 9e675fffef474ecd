#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Debian's LLVM, as it is, says by libgcc's calls where its code is.
. "$(dirname "$0")/lib.sh"

shim=$(realpath "$2")
turns=500000000

# lli KIND TURNS: the words of a command that compiles nested.ll and runs it
lli() {
	echo lli-14 "--jit-kind=$1" "$sources/nested.ll" "$2"
}

# record_with_shim KIND: what record() does
record_with_shim() {
	needs lli-14
	export JITDUMPDIR=$PWD
	# shellcheck disable=SC2046 # words
	record -- env LD_PRELOAD="$shim" $(lli "$1" $turns)
}

# The first milliseconds of new code may pass before the profiler looks for it.
mostly_complete() {
	reasons | grep -v -x NO_USER | mostly 95 '^OUTERMOST$'
}

# Three functions of nested.ll and its main, then whatever LLVM has up to main.
whole=': jit_leaf jit_middle jit_outer main .*llvm::.* main __libc_start_call_main '

it_unwinds_and_names_what_mcjit_compiled() {
	record_with_shim mcjit
	stacks | some "$whole" 200
	stacks | grep ' jit_leaf ' | mostly 95 "$whole"
	frames | grep '^jit_' | mostly 95 '\[\.sframe\]$'
	mostly_complete
}

it_cannot_without_the_shim() {
	needs lli-14
	export JITDUMPDIR=$PWD
	# shellcheck disable=SC2046
	record -- $(lli mcjit $turns)
	stacks | some ': jit_leaf ' 200
	stacks | none "$whole"
	reasons | grep -c '^OUTERMOST$' >whole || :
	[ $((10 * $(cat whole))) -lt "$(reasons | wc -l)" ]
}

it_unwinds_what_orc_compiled() {
	for kind in orc orc-lazy; do
		record_with_shim $kind
		frames | some '\[\.sframe\]$' 800
		mostly_complete
	done
}

it_knows_code_that_was_compiled_before_the_profiler_came() {
	needs lli-14
	export JITDUMPDIR=$PWD
	# shellcheck disable=SC2046
	spawn env LD_PRELOAD="$shim" $(lli mcjit 1500000000)
	eventually grep -q bobbin-code "/proc/$pid/maps"
	sleep 0.2
	quietly "$bobbin" stack "$pid"
	tr '\n' ' ' <out | grep 'jit_leaf.*jit_middle.*jit_outer.* main.*llvm::.* main.*__libc_start'
	record -p "$pid"
	stacks | some "$whole" 200
	complete
}

run_cases
