#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Debian's LLVM, as it is, says by libgcc's calls where its code is, and tells debuggers.
. "$(dirname "$0")/lib.sh"

shim=$(realpath "$2")
turns=500000000

# lli_words KIND TURNS: the words of a command that compiles nested.ll and runs it
lli_words() {
	echo lli "--jit-kind=$1" "$sources/nested.ll" "$2"
}

# record_with_shim KIND: what record() does
record_with_shim() {
	needs lli
	export JITDUMPDIR=$PWD
	# shellcheck disable=SC2046 # words
	record -- env LD_PRELOAD="$shim" $(lli_words "$1" $turns)
}

# Three functions of nested.ll and its main, then whatever LLVM has up to main.
whole=' jit_leaf jit_middle jit_outer main .*llvm::.* main __libc_start_call_main '

whole_orc=' jit_leaf jit_middle jit_outer main .*runOrcJIT main __libc_start_call_main '

# ends: a line a sample, "COMM TID REASON: leaf caller …"
ends() {
	"$bobbin" script -F comm,tid,ip,sym,reason --no-inline | awk -f "$sources/stacks.awk" | grep -v ' NO_USER '
}

# known PATTERN: the lines of stdin after the first that has it, up to the last one.  Before, the code is new to
# the recorder; after it the program has taken its code back, which the recorder may see before the last samples.
# Where these are more than a tenth, something else was forgotten.
known() {
	awk -v first="$1" '
		known { held = held $0 "\n"; count++ }
		$0 ~ first { printf "%s", held; held = ""; count = 0; known = 1 }
		END { if (10 * count > NR) printf "%s", held }'
}

it_unwinds_and_names_what_mcjit_compiled() {
	record_with_shim mcjit
	stacks | some "$whole" 200
	stacks | grep ' jit_leaf ' | mostly 99 "$whole"
	frames | grep '^jit_' | mostly 99 '\[\.sframe\]$'
	complete
}

# Names come from what LLVM tells debuggers.
it_unwinds_and_names_what_orc_compiled() {
	record_with_shim orc
	stacks | some "$whole_orc" 200
	stacks | known "$whole_orc" | grep ' jit_leaf ' | mostly 99 "$whole_orc"
	ends | known "$whole_orc" | mostly 99 ' OUTERMOST '
}

# lazy_ends: the same but for samples of the compiler.  A function is compiled when it is first called, by a
# stub that has no table; how long that takes depends on the machine.
lazy_ends() {
	ends | grep -v ' llvm::orc::LazyCallThroughManager::resolveTrampolineLandingAddress '
}

it_unwinds_what_orc_compiled_lazily() {
	record_with_shim orc-lazy
	stacks | some "$whole_orc" 200
	lazy_ends | known "$whole_orc" | mostly 99 ' OUTERMOST '
}

it_knows_code_that_was_compiled_before_the_profiler_came() {
	needs lli
	export JITDUMPDIR=$PWD
	# shellcheck disable=SC2046
	spawn env LD_PRELOAD="$shim" $(lli_words mcjit $((turns * 1000)))
	compiled=$pid
	has_leaf() {
		"$bobbin" stack "$compiled" >out 2>err && grep -q jit_leaf out
	}
	eventually has_leaf
	[ ! -s err ]
	tr '\n' ' ' <out | grep 'jit_leaf.*jit_middle.*jit_outer.* main.*llvm::.* main.*__libc_start'
	record_while_it_works "$compiled"
	stacks | some "$whole" 200
	complete
}

# record_alone KIND: what record() does, of LLVM as it is
record_alone() {
	needs lli
	export JITDUMPDIR=$PWD
	# shellcheck disable=SC2046
	record -- $(lli_words "$1" $turns)
}

it_unwinds_without_the_shim_what_debuggers_are_told_of() {
	for kind in mcjit orc; do
		rm -rf perf.data*
		record_alone $kind
		[ $kind = mcjit ] || whole=$whole_orc
		stacks | some "$whole" 200
		stacks | known "$whole" | grep ' jit_leaf ' | mostly 98 "$whole"
		frames | known '^jit_outer ' | grep '^jit_' | mostly 98 '\[\.eh_frame\]$'
		ends | known "$whole" | mostly 98 ' OUTERMOST '
	done
}

it_unwinds_without_the_shim_what_orc_compiled_lazily() {
	record_alone orc-lazy
	stacks | some "$whole_orc" 200
	lazy_ends | known "$whole_orc" | mostly 98 ' OUTERMOST '
}

it_asks_what_debuggers_were_told_before_the_profiler_came() {
	needs lli
	export JITDUMPDIR=$PWD
	# shellcheck disable=SC2046
	spawn $(lli_words orc $((turns * 1000)))
	compiled=$pid
	has_image() {
		"$bobbin" maps "$compiled" | grep -q '(JIT image)'
	}
	eventually has_image
	quietly "$bobbin" maps "$pid"
	# of 170 bytes of LLVM 19's, 39 are between functions
	some '^[0-9a-f]*-[0-9a-f]* \.eh_frame [7-9][0-9]\.[0-9]* % (JIT image)  //anon$' 1 <out
	quietly "$bobbin" maps --json "$pid"
	some '"registered": false, "jit_image": true, .*"covered": {".eh_frame": [1-9]' 1 <out
	quietly "$bobbin" stack -v "$pid"
	some '^#[0-9]* .* jit_\(leaf\|middle\|outer\)+0x[0-9a-f]* (\[JIT\]) \[\.eh_frame\]$' 2 <out
	some ' _start+' 1 <out
	none 'trace ends here' <out
	record_while_it_works "$compiled"
	stacks | some "$whole_orc" 200
	complete
}

run_cases
