#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs with several stacks: the kernel copies the one that is in use.
. "$(dirname "$0")/lib.sh"

it_says_that_a_handler_has_a_stack_of_its_own() {
	record --no-bpf "$(program handler)" 400 alternate
	stacks | grep ' on_alarm ' | mostly 99 ' on_alarm [^ ]* interrupted $'
	reasons | some '^OTHER_STACK$' 200
	reasons | mostly 99 '^\(OTHER_STACK\|OUTERMOST\)$'
	grep -q 'ended early: the next frame is on another stack' err
	quietly "$bobbin" report --stdio
	grep -q 'the next frame is on another stack' out
}

it_says_that_a_function_switched_stacks() {
	for how in above below record; do
		record --no-bpf "$(program switch)" 300 $how
		reasons | mostly 95 '^OTHER_STACK$'
		stacks | mostly 95 ' work call_[a-z]* $'
	done
}

in_spin() {
	"$bobbin" stack "$1" | grep ' spin+'
}

# What the kernel finds by frame pointers: the C library's functions keep none, and are found in the
# process's memory.  Samples that are read after its end have what was found before
it_goes_on_by_frame_pointers_on_another_stack() {
	record --no-bpf "$(program_as framed_handler handler -O0 -fno-omit-frame-pointer)" 400 alternate
	stacks | grep ' on_alarm ' |
		mostly 95 ' on_alarm [^ ]* interrupted main __libc_start_call_main __libc_start_main[^ ]* _start $'
	reasons | mostly 95 '^\(LIKELY\|OUTERMOST\)$'
	frames | some "^interrupted (.*) \\[kernel's call chain\\]$" 200
	record --no-bpf "$(program_as framed_switch switch -O0 -fno-omit-frame-pointer)" 300 record
	stacks | mostly 95 ' work call_framed switching main __libc_start_call_main __libc_start_main[^ ]* _start $'
	reasons | mostly 95 '^LIKELY$'
	frames | some '^__libc_start_call_main (.*) \[a guess\]$' 200
}

it_loses_no_caller_of_a_frame_record_that_two_share() {
	record --no-bpf "$(program switch)" 300 shared
	stacks | mostly 95 ' work tableless call_shared switching main '
	complete
}

it_follows_a_switch_of_stacks_in_a_process() {
	for how in above below record; do
		spawn "$(program switch)" 20000 $how
		eventually in_spin "$pid"
		expect 0 "$bobbin" stack "$pid"
		awk '/^#/ { sub(/\+.*/, "", $3); printf "%s ", $3 }' out |
			some ' work call_[a-z]* \(on_[a-z]* call_saved \|\)switching main .*_start ' 1
		! grep 'the trace ends here' out || exit 1
		kill -9 "$pid"
	done
}

it_says_that_execve_gave_the_stack_back() {
	[ "$(id -u)" -eq 0 ] || skip "needs root, others may not sample the kernel"
	for count in 400 1600 6400; do
		record -F 5000 sh -c 'i=0; while [ $i -lt '$count' ]; do (exec /bin/true); i=$((i+1)); done'
		[ "$(reasons | grep -c '^NEW_SPACE$')" -lt 100 ] || break
	done
	reasons | some '^NEW_SPACE$'
	reasons | none '^STACK_END$'
	"$bobbin" script -F tid,reason,ip,sym --no-inline |
		awk 'BEGIN { RS = "" } $2 == "NEW_SPACE" { print $NF }' | mostly 85 '^execve+0x'
	grep -q 'ended early: the process was giving up its memory' err
}

# Where the chains of user addresses on stdin end, the most frequent first; 0x400000 less
last_addresses() {
	awk '/^[ \t]+[0-9a-f]/ { last = $1; next } last { print last; last = "" }' |
		sed 's/^40*//' | sort | uniq -c | sort -rn | awk '{ print $2 }'
}

# fzf is a stripped Go program: goroutines, allocation, garbage collection
it_walks_go_by_its_own_table() {
	needs fzf
	roots_also='fzf+0x[0-9a-f]*'
	seq 400000 >numbers
	record -F 2000 fzf -f 99 <numbers
	reasons | mostly 98 '^\(OUTERMOST\|OTHER_STACK\)$'
	reasons | mostly 40 '^OUTERMOST$'
	frames | grep '/fzf)' >own
	mostly 98 ' \[\.gopclntab\]$' <own
	# and names are that table's
	grep -c '^fzf+0x' own | awk -v all="$(wc -l <own)" '{ exit !($1 * 50 <= all) }'
	some '^runtime\.goexit (' <own
	# goexit, mcall, mstart, rt0_go and the entry
	"$bobbin" script -F ip,sym,dso,reason --no-inline | awk -f "$sources/last_frames.awk" |
		awk '/\/fzf$/ { print $1 }' | sort -u >ends
	[ "$(wc -l <ends)" -le 5 ] || fail "complete at many functions: $(cat ends)"
}

it_ends_goroutines_where_their_frame_pointers_end() {
	needs fzf perf
	roots_also='fzf+0x[0-9a-f]*'
	seq 400000 >numbers
	record -F 2000 fzf -f 99 <numbers
	perf_record -q -F 2000 -g -o fp.data fzf -f 99 <numbers >/dev/null 2>&1 ||
		skip "perf cannot record here"
	"$bobbin" script -F tid,ip | last_addresses | head -n 1 >ends
	# perf shows offsets in the file where it knows no symbol
	perf script -i fp.data -F ip 2>/dev/null | last_addresses | sed 's/^40*//' | head -n 1 |
		diff - ends
}

run_cases
