#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A process lives for as long as a thread does, although its first thread has ended.
. "$(dirname "$0")/lib.sh"

# start [ARGUMENT…]: first_gone, for long; its first thread has ended
start() {
	spawn "$(program first_gone)" 600000 0 "$@"
	target=$pid
	eventually gone "$target"
	eventually sh -c "ls /proc/$target/task | grep -v -x $target"
	left=$(ls "/proc/$target/task" | grep -v -x "$target" | head -n 1)
	# one that stays works: some ticks of its time
	[ $# -gt 0 ] || eventually sh -c "[ \$(cut -d ' ' -f 14 /proc/$target/task/$left/stat) -ge 5 ]"
}

it_has_stacks() {
	start
	expect 0 "$bobbin" stack "$target"
	tr -d '\n' <out | some ' other_leaf+.* other+' 1
	complains "thread $target: " 'has ended'
	"$bobbin" stack -1 "$(ls "/proc/$target/task" | grep -v -x "$target")" >out
	some ' other_leaf+' 1 <out
}

it_has_mappings() {
	start
	quietly "$bobbin" maps "$target"
	grep ' \.eh_frame .*/first_gone$' out
	grep ' \.eh_frame .*libc\.so' out
	quietly "$bobbin" maps --json "$target"
	python3 -c 'import json; assert any(c["covered"] for c in json.load(open("out"))["code"])'
}

it_is_recorded_by_its_number() {
	start
	for how in -q --bpf; do
		[ "$how" = -q ] || [ "$(id -u)" -eq 0 ] || continue
		spawn "$bobbin" record $how -p "$target"
		eventually samples "$pid"
		works_on "$target"
		kill -INT "$pid"
		wait "$pid"
		stacks | mostly 90 ' other_leaf other '
		complete
	done
}

it_is_recorded_by_a_thread() {
	start
	spawn "$bobbin" record -q -t "$left"
	eventually samples "$pid"
	works_on "$target"
	kill -INT "$pid"
	wait "$pid"
	stacks | mostly 90 ' other_leaf other '
	complete
}

it_is_recorded_among_all() {
	needs_root
	others=1
	start
	cat >while_it_works <<-'END'
		used() { cut -d ' ' -f 14 "/proc/$1/stat"; }
		first=$(used "$1")
		until [ "$(used "$1")" -ge $((first + 50)) ]; do sleep 0.1; done
	END
	expect 0 "$bobbin" record -q -a sh while_it_works "$target"
	stacks | grep '^first_gone' | mostly 90 ' other_leaf other '
}

it_is_in_the_table_of_top() {
	start
	eventually top_shows ' other_leaf *$'
}

it_goes_on_when_the_first_thread_ends() {
	record "$(program first_gone)" 600 200
	stacks | some ' first_leaf main ' 50
	stacks | some ' other_leaf other ' 300
	complete
}

it_may_be_one_thread_after_another() {
	record "$(program first_gone)" 600 0 relay
	stacks | some ' other_leaf other ' 300
	complete
	start relay
	spawn "$bobbin" record -q -p "$target"
	eventually samples "$pid"
	works_on "$target"
	kill -INT "$pid"
	wait "$pid"
	stacks | mostly 90 ' other_leaf other '
	complete
}

it_may_be_a_child() {
	record "$(program first_gone)" 300 0 fork
	"$bobbin" script -q -F pid | awk 'NF { print $1 }' | sort -u >pids
	[ "$(wc -l <pids)" -eq 2 ]
	stacks | some ' other_leaf other ' 300
	complete
}

run_cases
