#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The fields of `bobbin script`, in the words of `perf script`.
. "$(dirname "$0")/lib.sh"

# One recording serves all cases.
recording() {
	[ -e "$work/recording" ] ||
		"$bobbin" record -q -o "$work/recording" "$(program_as lines chain -g)" 100
	cp "$work/recording" perf.data
}

it_adds_and_takes_off_fields() {
	recording
	quietly "$bobbin" script --no-inline
	mv out default
	some '^lines *[0-9]* *[0-9.]*: *[0-9]* [a-z:-]*: $' <default
	quietly "$bobbin" script --no-inline -F +pid,-period,-symoff
	some '^lines *[0-9]*/[0-9]* *[0-9.]*: [a-z:-]*: $' <out
	some '^	 *[0-9a-f]* spin (.*/lines)$' <out
	none ' spin+0x' <out
	quietly "$bobbin" script --no-inline -F -ip
	sed 's/^	 *[0-9a-f]* / /' default | diff - out
	# what is not printed is easily taken off
	quietly "$bobbin" script --no-inline -F -brstack
	diff default out
	quietly "$bobbin" script --no-inline -F hw:comm,tid,time,event,ip,sym,dso
	diff default out
}

it_prints_periods() {
	recording
	quietly "$bobbin" script -F period
	grep . out | mostly 100 '^ *[0-9][0-9]* $'
}

it_prints_source_lines() {
	recording
	quietly "$bobbin" script --no-inline -F ip,sym,srcline
	grep -A1 ' main+0x' out | some '^  chain\.c:[1-9][0-9]*$'
}

it_refuses_fields_by_name() {
	recording
	for field in brstack iregs data_src phys_addr; do
		expect 2 "$bobbin" script -F "ip,$field"
		complains "'$field'" 'not supported'
	done
	for field in nonsense '' comms; do
		expect 2 "$bobbin" script -F "ip,,$field"
		complains 'unknown field'
	done
	expect 2 "$bobbin" script -F foo:ip
	complains "type of events 'foo'"
	expect 2 "$bobbin" script -F comm,-comm
	complains 'no field is left'
}

# alike: a default output without what the manual says to differ
alike() {
	sed 's/^\( *[^ 	]*\)  *\([0-9]*\)  */\1 \2 /; s/^	 *[0-9a-f]* /	/; s/@[^ +]*+/+/' "$1"
}

it_prints_what_perf_prints() {
	needs perf
	for how in '' --call-graph=fp; do
		# shellcheck disable=SC2086
		perf_record -q $how "$(program chain)" 200 >log 2>&1 || skip "perf cannot record here"
		perf script --no-inline 2>log | grep -v '\[unknown\]' >theirs
		"$bobbin" script --no-inline >ours
		alike theirs >want
		alike ours >got
		[ "$(grep -c spin want)" -gt 50 ]
		# kernels' symbols may have two names, and not all code has one
		grep -E '^ *chain|/chain\)' want >want.own
		grep -E '^ *chain|/chain\)' got >got.own
		diff want.own got.own | grep -c '^[<>]' >differ || :
		[ $((50 * $(cat differ))) -le "$(wc -l <want.own)" ] || diff want.own got.own
	done
}

run_cases
