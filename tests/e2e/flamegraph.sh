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

run_cases
