#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs read by the library what `bobbin script` prints.
. "$(dirname "$0")/lib.sh"

printer() {
	libraries=$(dirname "$bobbin")/../recording
	with_library print_recording -L "$libraries" -Wl,-rpath,"$libraries" -lbobbin-recording
}

# says_the_same FILE: as the command, but for columns
says_the_same() {
	program=$(printer)
	expect 0 "$program" "$1"
	tr -s ' \t' ' ' <out >by-library
	quietly "$bobbin" script -F comm,tid,cpu,time,period,event,reason,ip,sym,symoff,dso -i "$1"
	tr -s ' \t' ' ' <out | diff - by-library
	[ "$(grep -c '^$' by-library)" -ge 10 ] || fail "too few samples"
}

it_reads_recordings_of_bobbin() {
	quietly "$bobbin" record -q -o data "$(program_as lines chain -g)" 100
	says_the_same data
	some ' spin+0x' <by-library
	some ' OUTERMOST $' <by-library
}

it_unwinds_recordings_of_perf() {
	needs perf
	perf_record -q -e cpu-clock:u --call-graph dwarf,16384 -o data "$(program_as lines chain -g)" 30 2>err ||
		skip "perf cannot record here: $(tail -n 1 err)"
	says_the_same data
	some ' spin+0x' <by-library
}

it_refuses_what_is_no_recording() {
	program=$(printer)
	expect 1 "$program" /bin/true
	some '^-74 at 0: not a perf.data file$' 1 <err
}

run_cases
