#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What cannot be written is said; what could be is a whole file; programs run on.
. "$(dirname "$0")/lib.sh"

# on_a_small_disk SIZE COMMAND…: in a folder of that size; what is there then is in ./left
on_a_small_disk() {
	mkdir -p full left
	disk=$1
	shift
	timeout 120 unshare -m --propagation private sh -c '
		size=$1 left=$2
		shift 2
		mount -t tmpfs -o size=$size none full || exit 99
		cd full
		[ ! -e ../precious ] || cp ../precious perf.data
		"$@"
		status=$?
		cp -r . "$left"
		exit $status' sh "$disk" "$PWD/left" "$bobbin" "$@"
}

# kept_what_fits SAMPLES: of ./left, bobbin and perf read that many samples, and ./err says so
kept_what_fits() {
	[ "$1" -gt 50 ] || fail "only $1 samples"
	grep -q ", with the first $1 samples only: " err
	quietly "$bobbin" script -q -i left/perf.data -F tid
	[ "$(grep -c . out)" -eq "$1" ]
	quietly "$bobbin" report -q -i left/perf.data
	command -v perf >/dev/null || return 0
	[ "$(perf script -i left/perf.data -F tid 2>perf.log | grep -c .)" -eq "$1" ]
	perf report --header-only -i left/perf.data 2>perf.log | grep -q '^# cmdline : '
}

it_keeps_what_fits_on_a_full_disk() {
	needs_root
	needs unshare
	file=$(program chain)
	expect 1 on_a_small_disk 256k record -F 9999 sh -c '"$1" 2500; touch "$2"' sh "$file" "$PWD/ended"
	grep -q '^bobbin: perf.data: No space left on device: no more is recorded after' err
	[ -e ended ] || fail "the program did not run to its end"
	kept_what_fits "$("$bobbin" script -q -i left/perf.data -F tid | grep -c .)"
	[ "$(ls -A left)" = perf.data ] || fail "left behind: $(ls -A left)"
}

it_ends_as_the_program_even_if_the_disk_is_full() {
	needs_root
	needs unshare
	expect 7 on_a_small_disk 256k record -F 9999 "$(program chain)" 1500 7
	grep -q 'No space left on device' err
}

it_keeps_the_older_recording_on_a_full_disk() {
	needs_root
	needs unshare
	echo precious >precious
	expect 1 on_a_small_disk 256k record -F 9999 "$(program chain)" 1500
	[ "$(cat left/perf.data.old)" = precious ]
	kept_what_fits "$("$bobbin" script -q -i left/perf.data -F tid | grep -c .)"
}

it_runs_nothing_where_not_even_a_sample_fits() {
	needs_root
	needs unshare
	echo precious >precious
	expect 1 on_a_small_disk 8k record sh -c 'touch "$1"' sh "$PWD/started"
	grep -q '^bobbin: perf.data: No space left on device$' err
	[ ! -e started ] || fail "the program ran for nothing"
	[ "$(ls -A left)" = perf.data ] && [ "$(cat left/perf.data)" = precious ] ||
		fail "left behind: $(ls -A left)"
}

it_keeps_what_fits_into_the_limit_of_a_files_size() {
	expect 1 timeout 60 sh -c 'ulimit -f 512; exec "$@"' sh \
		"$bobbin" record -F 9999 "$(program chain)" 2500
	grep -q 'perf.data: File too large: ' err
	mkdir left
	mv perf.data left
	kept_what_fits "$("$bobbin" script -q -i left/perf.data -F tid | grep -c .)"
	ls -A | none 'perf.data'
}

it_says_that_the_output_is_full() {
	record "$(program chain)" 100
	for command in report annotate script flamegraph 'flamegraph --folded' help 'help record' --version; do
		status=0
		"$bobbin" $command >/dev/full 2>err || status=$?
		[ $status -eq 1 ] || fail "exit status $status of $command"
		complains 'standard output' 'No space left on device'
	done
}

it_says_that_the_output_is_closed() {
	record "$(program chain)" 100
	for command in report annotate script flamegraph help --version; do
		status=0
		"$bobbin" $command >&- 2>err || status=$?
		[ $status -eq 1 ] || fail "exit status $status of $command"
		complains 'standard output' 'Bad file descriptor'
	done
	# who prints nothing needs none
	"$bobbin" record -q "$work/bin/chain" 100 >&-
	"$bobbin" report >out
	grep -q spin out
}

it_is_silent_when_nobody_reads_on() {
	record "$(program family)" 100 "$(program chain)"
	for command in report annotate script flamegraph 'flamegraph --folded' help; do
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
