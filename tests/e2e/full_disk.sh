#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What cannot be written is said, and no half of a file is left.
. "$(dirname "$0")/lib.sh"

it_leaves_nothing_on_a_full_disk() {
	needs_root
	needs unshare
	mkdir full
	expect 1 timeout 60 unshare -m --propagation private sh -ec '
		mount -t tmpfs -o size=64k none full
		cd full
		status=0
		"$1" record "$2" 60000 || status=$?
		ls -A
		exit $status' sh "$bobbin" "$(program chain)"
	complains perf.data 'No space left on device'
	[ ! -s out ] || fail "left behind: $(cat out)"
}

it_keeps_the_older_recording_on_a_full_disk() {
	needs_root
	needs unshare
	mkdir full
	expect 1 timeout 60 unshare -m --propagation private sh -ec '
		mount -t tmpfs -o size=64k none full
		cd full
		echo precious >perf.data
		status=0
		"$1" record "$2" 60000 || status=$?
		ls -A
		cat perf.data
		exit $status' sh "$bobbin" "$(program chain)"
	[ "$(cat out)" = "$(printf 'perf.data\nprecious')" ] || fail "left behind: $(cat out)"
}

it_leaves_nothing_at_the_limit_of_a_files_size() {
	expect 1 timeout 60 sh -c 'ulimit -f 64; exec "$@"' sh \
		"$bobbin" record "$(program chain)" 60000
	complains perf.data 'File too large'
	ls -A | none perf
}

it_says_that_the_output_is_full() {
	record "$(program chain)" 100
	for command in report script flamegraph 'flamegraph --folded' help 'help record' --version; do
		status=0
		"$bobbin" $command >/dev/full 2>err || status=$?
		[ $status -eq 1 ] || fail "exit status $status of $command"
		complains 'standard output' 'No space left on device'
	done
}

it_is_silent_when_nobody_reads_on() {
	record "$(program family)" 100 "$(program chain)"
	for command in report script flamegraph 'flamegraph --folded' help; do
		{
			status=0
			"$bobbin" $command 2>err || status=$?
			echo $status >status
		} | head -n 1 >out
		[ -s out ]
		[ ! -s err ] || fail "$command said: $(cat err)"
		[ "$(cat status)" -lt 128 ]
	done
}

run_cases
