#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Code that is made at run time, and jumped to in the frame of a trampoline, has the trampoline's caller.
# Old return addresses in that frame leave it likely.
. "$(dirname "$0")/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "the program's code is x86-64's"

nest='\[anon\] run'
whole="$nest helper $nest helper $nest helper $nest helper $nest helper $nest main __libc_start_call_main"

running() {
	spawn "$(program entered)" "$@"
	works_on "$pid"
	target=$pid
}

check_recordings() {
	running "$@"
	record_while_it_works "$target"
	reasons | mostly 95 '^\(OUTERMOST\|LIKELY\)$'
	stacks >chains
	some ": $whole" 20 <chains
	some " spin helper $whole" 20 <chains
	# whatever comes to the root has all frames
	grep '_start *$' chains | mostly 100 "$whole"
}

it_is_left_in_recordings() {
	check_recordings
}

# which jumps to its argument
it_is_left_where_the_trampoline_is_a_function_of_a_file() {
	check_recordings file
}

it_is_left_in_a_live_process() {
	running
	for _ in 1 2 3 4 5 6 7 8; do
		quietly "$bobbin" stack -v "$target"
		none 'the trace ends here: [^o]' <out
		[ "$(grep -c '\[anon\].*\[\(code at the PC\|a guess\)\]' out)" -eq 6 ] || fail "not six in $(cat out)"
		[ "$(grep -c ' run+0x' out)" -eq 6 ] || fail "not six runs in $(cat out)"
	done
}

run_cases
