#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The example of a JIT compiler, which keeps no frame pointers, is unwound and named.
. "$(dirname "$0")/lib.sh"

rpn_jit=$(realpath "$2")

# From both tables: functions that stay, the one of the round, C above and below them.
below_spin='spin work outer round[0-9]* .*main __libc_start_call_main __libc_start_main.* _start'
below_fib='fib .*fib work outer round[0-9]* .*main __libc_start_call_main .*_start'

# running SECONDS [FOLDER]: the example, which has made its code; $pid
running() {
	spawn "$rpn_jit" "$@"
	eventually grep -q round1 "/tmp/perf-$pid.map"
}

it_finds_code_that_was_registered_before() {
	running 3
	record -p "$pid"
	# a round that has just begun may be sampled before its registration is read
	reasons | grep -v -x NO_USER | mostly 90 '^OUTERMOST$'
	stacks >chains
	frames >all
	forget_map "$pid"
	some " $below_spin" 100 <chains
	some " $below_fib" 20 <chains
	grep ' outer ' chains | mostly 95 ' main .* _start'
	# samples of the end may be unwound when the code has been taken back already
	grep -E '^(fib|work|outer) ' all | mostly 95 '\[JIT table\]$'
	grep -E '^round[0-9]* ' all | mostly 90 '\[\.sframe\]$'
}

it_finds_code_that_is_registered_meanwhile() {
	record "$rpn_jit" 4
	stacks >chains
	forget_map
	reasons | grep -v -x NO_USER | mostly 90 '^OUTERMOST$'
	some " $below_spin" 100 <chains
}

it_prints_stacks_through_such_code() {
	running 20
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		quietly "$bobbin" stack -v "$pid"
		none 'the trace ends here' <out
		grep -q ' _start+' out || fail "not complete: $(cat out)"
		cat out >>all
	done
	forget_map "$pid"
	grep ' outer+' all | mostly 100 '\[JIT table\]$'
	grep ' round[0-9]*+' all | mostly 100 '\[\.sframe\]$'
}

it_names_what_took_the_place_of_freed_code_by_time() {
	mkdir dumps
	running 3 "$PWD/dumps"
	record -p "$pid"
	forget_map "$pid"
	stacks | sed -n 's/.* \(round[0-9]*\) .*/\1/p' | sort -u >rounds
	[ "$(wc -l <rounds)" -ge 10 ] || fail "only $(cat rounds)"
}

it_writes_a_jitdump_that_perf_reads() {
	needs perf
	mkdir dumps
	perf_record -q -k 1 -e cpu-clock:u -o perf.data "$rpn_jit" 1 "$PWD/dumps" >/dev/null 2>perf.err ||
		skip "perf cannot record here: $(tail -n 1 perf.err)"
	forget_map
	perf inject --jit -i perf.data -o injected 2>perf.err || fail "perf inject: $(cat perf.err)"
	perf report -i injected --stdio 2>perf.err >report
	grep -q ' jitted-[0-9]*-0\.so .* fib$' report || fail "no fib in: $(cat report)"
}

run_cases
