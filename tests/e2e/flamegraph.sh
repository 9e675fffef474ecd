#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Views of a recording as a flame graph.
. "$(dirname "$0")/lib.sh"

# A recording of two commands, one of them twice and with threads; made once.
recording() {
	[ -e "$work/views.data" ] || "$bobbin" record -q -o "$work/views.data" \
		sh -c '"$1" 150; "$1" 150; "$2" 200 300' sh "$(program threads)" "$(program deep)"
	ln "$work/views.data" perf.data
}

# folded [OPTION…]: to ./out
folded() {
	quietly "$bobbin" flamegraph --folded "$@"
}

# total: of ./out
total() {
	awk '{ sum += $NF } END { print sum + 0 }' out
}

it_draws_processes_and_threads_apart() {
	recording
	folded
	all=$(total)
	folded --by-thread
	[ "$(total)" -eq "$all" ]
	# below its command, and one of a name has one function
	for function in first second in_main; do
		[ "$(grep "^threads;\[thread [0-9]*\];.*;$function;" out | cut -d ';' -f 2 | sort -u | wc -l)" -eq 2 ] ||
			fail "not two threads of $function"
	done
	folded --by-process
	[ "$(total)" -eq "$all" ]
	[ "$(grep '^threads;\[process [0-9]*\];' out | cut -d ';' -f 2 | sort -u | wc -l)" -eq 2 ]
	folded --by-process --by-thread --comm deep
	! grep -v '^deep;\[process \([0-9]*\)\];\[thread \1\];' out
	needs xmllint
	quietly "$bobbin" flamegraph --by-thread
	xmllint --noout out
	grep -q '"\[thread [0-9]' out
}

it_merges_stacks_from_their_ends() {
	recording
	folded --no-fold
	awk '{
		weight = $NF
		sub(/ [0-9]+$/, "")
		n = split($0, path, ";")
		line = path[n]
		while (--n) line = line ";" path[n]
		sum[line] += weight
	} END { for (line in sum) print line, sum[line] }' out | sort >wanted
	folded --no-fold --reverse
	sort out | diff wanted - || fail 'not the same stacks'
	needs xmllint
	quietly "$bobbin" flamegraph --reverse
	xmllint --noout out
}

it_draws_a_part_of_the_time() {
	recording
	folded
	all=$(total)
	folded --time 0%-50%
	first=$(total)
	folded --time 50%-100%
	# a sample in the middle may be in both
	[ $((first + $(total) - all)) -le 1 ]
	[ "$first" -gt 0 ]
	[ "$first" -lt "$all" ]
}

it_begins_at_the_top_of_a_high_picture() {
	recording
	quietly "$bobbin" flamegraph --no-fold --comm deep
	grep -q 'inverted:1,' out
	quietly "$bobbin" flamegraph --no-fold --comm deep --upright
	grep -q 'inverted:0,' out
	"$bobbin" record -q -o flat.data "$(program chain)" 100
	quietly "$bobbin" flamegraph -i flat.data --sym spin --no-inline
	grep -q 'inverted:0,' out || grep -q 'height="9[0-9][0-9]"' out
	quietly "$bobbin" flamegraph -i flat.data --inverted
	grep -q 'inverted:1,' out
}

# timed: ./perf.data and ./out of a program that sleeps and computes in turn; made once
timed() {
	needs_root
	file=$(program halves)
	# a machine that does much else may have no time to read all records
	for _ in 1 2 3 4; do
		[ ! -e "$work/timed.data" ] || break
		expect 0 "$bobbin" record -e cpu-clock --off-cpu --off-cpu-thresh 0 -- "$file" 25
		! grep -q ', 0 records lost; ' err || mv perf.data out "$work"
		[ ! -e "$work/perf.data" ] || mv "$work/perf.data" "$work/timed.data"
	done
	[ -e "$work/timed.data" ] || fail "records were lost: $(cat err)"
	ln "$work/timed.data" perf.data
	cp "$work/out" measured
}

# is_about NUMBER WANTED PERCENT
is_about() {
	awk -v is="$1" -v wanted="$2" -v percent="$3" 'BEGIN {
		exit !(is >= wanted * (1 - percent / 100) && is <= wanted * (1 + percent / 100))
	}' || fail "$1 is not $2"
}

# time_of THREAD [SIDE]: nanoseconds of ./out
time_of() {
	awk -v thread=";[thread $1];" -v side=";[${2:-}" 'index($0, thread) && index($0, ";in_turn;") &&
		index($0, side) { sum += $NF } END { printf "%.0f", sum }' out
}

it_adds_up_the_time_of_threads() {
	timed
	folded --wall-clock --by-thread
	while read -r thread wall cpu; do
		is_about "$(time_of "$thread")" "$wall" 6
		is_about "$(time_of "$thread" 'on CPU]')" "$cpu" 12
		is_about $(($(time_of "$thread" 'off CPU]') + $(time_of "$thread" 'preempted]'))) \
			$((wall - cpu)) 6
	done <measured
	# all of the sleeps are off the CPU
	grep ';sleeps;.*\[off CPU\] ' out | some . 1
	# of what runs in the program itself none is
	! grep ';computes;spin;\[off CPU\] ' out
}

it_colours_time_off_the_cpu() {
	timed
	needs xmllint
	quietly "$bobbin" flamegraph --wall-clock
	xmllint --noout out
	grep -q '>on CPU</text>' out
	grep -q '>off CPU</text>' out
	grep -q 'class="w[0-7]"' out
	grep -Eq '>[0-9]+\.[0-9]{3} s</text>' out
	grep -q 'time:1,' out
	quietly "$bobbin" flamegraph --event offcpu-time
	grep -q 'time:1,' out
	quietly "$bobbin" flamegraph -q --comm halves
	grep -q 'time:0,' out
}

it_reports_the_time_of_threads() {
	timed
	quietly "$bobbin" report --wall-clock --full -g none
	grep -q "^# Samples: [0-9]* of event 'wall-clock'" out
	[ "$(grep -c '^# Samples' out)" -eq 1 ]
	grep -Eq ' \[\.\] \[on CPU\]$' out
	grep -Eq ' \[\.\] \[off CPU\]$' out
	# they are where stacks begin
	awk '/\[(on|off) CPU\]$/ && $2 != "0.00%" { exit 1 }' out
}

it_says_what_the_time_lacks() {
	recording
	expect 1 "$bobbin" report --wall-clock
	complains perf.data 'no waits were recorded, see'
	expect 2 "$bobbin" flamegraph --wall-clock --event cpu-clock
	grep -q 'goes without --event' err
	needs_root
	expect 0 "$bobbin" record --off-cpu -e page-faults -o faults.data sleep 0.1
	expect 1 "$bobbin" report -i faults.data --wall-clock
	complains faults.data 'no clock was recorded'
}

run_cases
