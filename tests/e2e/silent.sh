#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# No process keeps its reader waiting: memory and files that nobody fills cost a deadline.
. "$(dirname "$0")/lib.sh"

includes="-I$sources/../../include -I$sources/../../include/uapi"

silent() {
	# shellcheck disable=SC2086
	started "$(program silent $includes)" "$@"
}

# in_time COMMAND…: it ends by itself, whatever its status; its output is in ./out and ./err
in_time() {
	status=0
	timeout -s KILL 60 "$@" >out 2>err || status=$?
	[ $status -ne 137 ] || fail "had to be killed: $*"
}

no_answer() {
	grep -q 'did not answer in time' "$1" || fail "no word of it in $1: $(cat "$1")"
}

# recorded PROGRAM: a recording that was made of $pid is whole
recorded() {
	in_time "$bobbin" record -p "$pid"
	[ $status -eq 0 ] || fail "record: $status: $(cat err)"
	no_answer err
	stacks | some ' main '
}

it_does_not_wait_for_a_page() {
	silent page
	in_time "$bobbin" maps "$pid"
	no_answer err
	grep -q '\.eh_frame .*libc' out
	in_time "$bobbin" stack "$pid"
	no_answer err
	grep -q '^TID ' out
}

it_does_not_wait_for_entries() {
	silent table
	in_time "$bobbin" maps "$pid"
	no_answer err
	grep -q '\.eh_frame .*libc' out
}

it_records_a_process_whose_page_is_silent() {
	silent page 3000
	recorded
}

it_ends_a_trace_in_a_silent_stack() {
	silent stack
	in_time "$bobbin" stack "$pid"
	no_answer out
	[ "$(grep -c '^TID ' out)" -eq 2 ]
}

it_does_not_wait_for_a_file() {
	needs_root
	started "$(program silent_file)"
	in_time "$bobbin" maps "$pid"
	grep -q '\.eh_frame .*libc' out
	in_time "$bobbin" stack "$pid"
	grep -q ' main+' out
}

it_records_a_process_with_a_silent_file() {
	needs_root
	started "$(program silent_file)" 6
	recorded
}

it_goes_on_when_somebody_kills_the_reader() {
	spawn "$(program asleep)"
	eventually sh -c "[ \$(ls /proc/$pid/task | wc -l) -eq 3 ]"
	for _ in 1 2 3; do
		"$bobbin" stack "$pid" >out &
		stack=$!
		kill -KILL "$(child_of $stack)" 2>/dev/null || :
		wait $stack || fail "exit status $?"
		grep -q ' main+' out
	done
}

run_cases
