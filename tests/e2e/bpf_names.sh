#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs of BPF have names, also those that have gone since.
. "$(dirname "$0")/lib.sh"

# runs_programs: the path of a program for which the kernel runs others
runs_programs() {
	needs_root
	[ "$(cat /proc/sys/net/core/bpf_jit_enable)" != 0 ] || skip "programs of BPF are not compiled here"
	status=0
	"$(program bpf_program)" 1 || status=$?
	[ $status -ne 77 ] || skip "no programs of BPF can be loaded here"
	program bpf_program
}

# shows_programs: in lines "FUNCTION" of stdin, first the one, then the other
shows_programs() {
	sed -n 's/.*bpf_prog_[0-9a-f]*_\(early\|late\).*/\1/p' >functions
	[ "$(uniq functions | tr '\n' ' ')" = 'early late ' ] || fail "other programs: $(uniq -c functions)"
	[ "$(wc -l <functions)" -ge 100 ]
}

it_names_programs_of_bpf_that_have_gone() {
	runs_programs >path
	record -F 999 "$(cat path)" 200
	"$bobbin" script -q -F ip,sym | shows_programs
	quietly "$bobbin" report -g none --no-children
	some ' \[k\] bpf_prog_[0-9a-f]*_late$' 1 <out
	# in another form that keeps what it knows of addresses
	quietly "$bobbin" export -o programs.speedscope.json
	grep -q -a 'bpf_prog_[0-9a-f]*_early' programs.speedscope.json
	grep -q -a 'bpf_prog_[0-9a-f]*_late' programs.speedscope.json
}

it_tells_perf() {
	needs perf
	runs_programs >path
	record -F 999 "$(cat path)" 200
	perf script -F ip,sym 2>perf.log | shows_programs
}

it_is_told_by_perf() {
	needs perf
	runs_programs >path
	perf_record -q -e cpu-clock -F 999 -g -o perf.data "$(cat path)" 200 2>perf.log
	"$bobbin" script -q -F ip,sym | shows_programs
}

run_cases
