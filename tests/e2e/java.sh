#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Compiled and interpreted methods of Java are unwound and named.
. "$(dirname "$0")/lib.sh"

# Either has compiled it or interprets it still.
frames_of_chain='\(\(Chain\.b\|Interpreter\) \)\{5\}\(Chain\.a\|Interpreter\) \(Chain\.main\|Interpreter\) StubRoutines '
all_interpreted='^[^I]* \(Interpreter \)\{8\}StubRoutines '

# chains: "REASON: leaf caller …" of each sample of the thread that runs the program
chains() {
	"$bobbin" script -f -F tid,reason,ip,sym --no-inline | awk '
		/^\t/ { sub(/^\t *[0-9a-f]+ /, ""); sub(/\+0x[0-9a-f]+$/, ""); line = line " " $0; next }
		NF { tid = $1; line = $2 ":"; next }
		{ print tid, line " " }' >all
	thread=$(grep "${1#^}" all | cut -d ' ' -f 1 | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')
	sed -n "s/^$thread //p" all
}

# recorded RECORD-OPTIONS FRAME [JAVA-OPTION…]: until it has 200 samples of a frame; ./chains
recorded() {
	needs java javac
	[ -e "$work/bin/Chain.class" ] || javac -d "$work/bin" "$sources/Chain.java"
	record_options=$1 frame=$2
	shift 2
	# nothing is inlined
	set -- java -XX:-UsePerfData -XX:CompileCommand=quiet "-XX:CompileCommand=dontinline,Chain::*" \
		"$@" -cp "$work/bin" Chain
	"$@" 0 >java.out 2>&1 || skip "java does not know: $(head -n 1 java.out)"
	for time in 2 4 8 16 32; do
		# shellcheck disable=SC2086 # several options or none
		record $record_options -F 499 "$@" $time
		chains "$frame" >chains
		[ "$(grep -c "$frame" chains)" -lt 200 ] || return 0
	done
	fail "few samples of $frame: $(cut -c 1-200 chains | sort | uniq -c | sort -rn | head)"
}

# What stands in ./chains is whole, but while the machine starts: there a page within the frame of its
# launcher is not touched yet, and copies end at it.
whole() {
	grep -v '^STACK_HOLE: .* Threads::create_vm ' chains | mostly 97 '^\(OUTERMOST\|LIKELY\): '
}

# As the machine does by default, or with further options, is a compiled chain found in all complete stacks.
compiled() {
	recorded "$1" ' Chain\.c ' "${2--XX:+TieredCompilation}"
	# what is complete has nothing left out, and nothing else
	grep '^OUTERMOST:.* Chain\.c ' chains | mostly 100 " Chain\.c $frames_of_chain"
	some ' Chain\.c \(Chain\.b \)\{5\}Chain\.a ' 100 <chains
	whole
}

it_finds_compiled_methods_in_copies_of_stacks() {
	compiled --no-bpf
}

it_finds_compiled_methods_by_default() {
	compiled ''
	# it is compiled while it runs
	recorded '' ' Chain\.main StubRoutines '
}

it_finds_methods_of_the_first_compiler() {
	compiled --no-bpf -XX:TieredStopAtLevel=1
}

it_finds_methods_of_the_second_compiler() {
	compiled --no-bpf -XX:-TieredCompilation
}

it_finds_methods_beside_a_parallel_collector() {
	compiled '' -XX:+UseParallelGC
}

it_finds_methods_with_barriers_of_zgc() {
	compiled --no-bpf -XX:+UseZGC
}

it_finds_methods_that_are_interpreted() {
	for options in --no-bpf ''; do
		recorded "$options" "$all_interpreted" -Xint
		whole
		# the rest is before main, or between calls
		grep '^OUTERMOST:' chains | mostly 85 "$all_interpreted"
	done
}

run_cases
