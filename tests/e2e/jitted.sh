#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Functions that are made at run time have no tables; the code itself proves where their callers are.
. "$(dirname "$0")/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "the program's code is x86-64's"

# seven of one kind and six of the other
nest='\(\[anon\] \)\{13\}'
whole="helper ${nest}run main __libc_start_call_main"

running() {
	spawn "$(program jitted)"
	works_on "$pid"
	target=$pid
}

it_is_left_in_recordings() {
	running
	record_while_it_works "$target"
	reasons | mostly 95 '^OUTERMOST$'
	stacks >chains
	some " spin $whole" 20 <chains
	# whatever comes to the root has all frames
	grep ' helper .*_start *$' chains | mostly 100 " $whole"
}

it_is_left_in_a_live_process() {
	running
	for _ in 1 2 3 4; do
		quietly "$bobbin" stack -v "$target"
		none 'the trace ends here: [^o]' <out
		none '\[a guess\]' <out
		[ "$(grep -c '\[anon\].*\[code at the PC\]' out)" -eq 13 ] || fail "not thirteen in $(cat out)"
	done
}

run_cases
