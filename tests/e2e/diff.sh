#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What has changed between two recordings.
. "$(dirname "$0")/lib.sh"

# Two recordings of a program that does more of one thing the second time; made once.
recordings() {
	[ -e "$work/after.data" ] || {
		file=$(program chain) other=$(program deep)
		"$bobbin" record -q -o "$work/before.data" sh -c '"$1" 600; "$2" 200 5' sh "$file" "$other"
		"$bobbin" record -q -o "$work/after.data" sh -c '"$1" 200; "$2" 600 5' sh "$file" "$other"
	}
	ln "$work/before.data" before.data
	ln "$work/after.data" after.data
}

it_shows_what_has_grown_and_shrunk() {
	recordings
	quietly "$bobbin" diff --sort comm,sym before.data after.data
	grep -Eq '^# Baseline: [0-9]+ samples, before.data$' out
	grep -Eq '^ +[0-9.]+% +-[0-9.]+%  chain +\[\.\] spin$' out
	grep -Eq '^ +[0-9.]+% +\+[0-9.]+%  deep +\[\.\] spin$' out
	# the greatest change first
	awk '/^ .*%/ { sub(/^ *([0-9.]+%)? *[-+ ]/, ""); print $1 + 0 }' out >changes
	sort -rn -c changes
	awk 'NR == 1 && $1 < 20 { exit 1 }' changes
}

it_finds_no_change_in_the_same_recording() {
	recordings
	quietly "$bobbin" diff before.data before.data
	! grep -q '^ .*%' out
	grep -q '^# Changes below 0.01% that are left out: [1-9]' out
}

it_draws_changes() {
	recordings
	needs xmllint
	quietly "$bobbin" diff --flamegraph before.data after.data
	xmllint --noout out
	grep -q 'changes:\[' out
	grep -q 'class="g7"' out
	grep -q 'class="s7"' out
	quietly "$bobbin" diff --flamegraph before.data before.data
	! grep -q 'class="[gs][0-7]" fill="[^"]*" d=' out
}

it_says_what_it_cannot_compare() {
	recordings
	expect 2 "$bobbin" diff before.data
	grep -q 'two recordings are needed' err
	expect 1 "$bobbin" diff before.data none.data
	complains none.data 'No such file'
	expect 1 "$bobbin" diff --comm nobody before.data after.data
	complains before.data 'no samples are what the options ask for'
	record -e page-faults -o faults.data true
	expect 1 "$bobbin" diff before.data faults.data
	grep -q "faults.data: no samples of '" err
}

run_cases
