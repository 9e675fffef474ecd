# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=sh
#
# speedscope.sh - what the real speedscope makes of an export, after lib.sh and weights.sh.

# speedscope FILE [PATTERN]: what speedscope_reader.js prints, in ./view
speedscope() {
	needs node
	for script in "$sources"/../../build/viewers/speedscope/node_modules/speedscope/dist/release/speedscope-*.js; do
		[ -e "$script" ] || skip "no speedscope in build/viewers"
		timeout 120 node "$sources/speedscope_reader.js" "$script" "$@" >view 2>err ||
			fail "speedscope: $(cat err)"
	done
	[ ! -s err ] || fail "speedscope says: $(cat err)"
}

# speedscope_weights total|self: of ./view
speedscope_weights() {
	awk -F '\t' -v column="$1" '
		$1 == "profile" { all += $4 }
		$1 == "function" { printf "%s\t%.2f\n", $2, 100 * (column == "total" ? $4 : $3) / all }' view
}

# as_in_the_report FILE: which is of ./perf.data, of one event
as_in_the_report() {
	speedscope "$1"
	for column in self total; do
		report_weights $column
		speedscope_weights $column >weights
		has_the_weights weights
	done
}

# threads_recording: ./perf.data of three threads
threads_recording() {
	record -F 2500 "$(program threads)" 300
}

# cut_recording: ./perf.data of stacks that end too early
cut_recording() {
	record -F 2500 --no-bpf --stack-size 1024 "$(program deep)" 300 200
}

# empty_recording: ./perf.data without a sample
empty_recording() {
	record -e page-faults -c 1000000 true
	[ -z "$("$bobbin" script -q -F tid)" ] || skip "a sample all the same"
}
