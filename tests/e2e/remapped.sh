#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A program has its own text in other memory: it is the file's where the bytes are.
. "$(dirname "$0")/lib.sh"

hows='anonymous shared memfd mremap'
whole=' inner outer main '

copies() {
	gcc -O2 -fomit-frame-pointer -o remapped "$sources/remapped.c"
}

# start HOW: it runs
start() {
	spawn ./remapped "$1" 600000
	target=$pid
	eventually has_worked "$target" 5
}

it_is_recorded_from_its_start() {
	copies
	for how in $hows; do
		record ./remapped "$how" 500
		stacks | mostly 90 "$whole"
		complete
		frames | none ' (\[anon\])'
	done
}

it_is_recorded_by_the_kernel() {
	needs_root
	copies
	for how in anonymous memfd; do
		record --bpf ./remapped "$how" 500
		stacks | mostly 90 "$whole"
	done
}

it_is_recorded_while_it_runs() {
	copies
	for how in anonymous mremap; do
		start "$how"
		record_while_it_works "$target"
		stacks | mostly 90 "$whole"
		kill "$target"
	done
}

# stands_in_outer PID: at times a program stands where it reads its clock
stands_in_outer() {
	"$bobbin" stack "$1" | tr -d '\n' | grep ' outer+.* main+'
}

it_has_stacks_and_mappings() {
	copies
	for how in $hows; do
		start "$how"
		eventually stands_in_outer "$target"
		quietly "$bobbin" maps "$target"
		[ "$(grep -c ' \.eh_frame .*/remapped$' out)" -ge 2 ]
		kill "$target"
	done
}

it_is_in_reports_and_tables() {
	copies
	record ./remapped anonymous 500
	quietly "$bobbin" report --no-children -g none
	some ' remapped  *\[\.\] inner *$' 1 <out
	start anonymous
	eventually top_shows ' remapped  *\[\.\] inner *$'
}

it_is_not_believed_where_a_byte_differs() {
	copies
	record ./remapped patched 500
	"$bobbin" script -F ip,sym,dso --no-inline >frames
	some ' inner+0x[0-9a-f]* (.*/remapped)$' 50 <frames
	none ' outer+' <frames
	some '^[[:blank:]]*[0-9a-f]* \[anon\]+0x[0-9a-f]* (\[anon\])$' 50 <frames
}

it_is_a_childs() {
	copies
	record ./remapped forked 500
	stacks | mostly 90 "$whole"
}

it_is_nodes() {
	needs node
	node --help --v8-options 2>/dev/null | grep -q . && node --use-largepages=on -e 0 2>log ||
		skip "node has no large pages"
	echo 'for (let e = Date.now() + 2000; Date.now() < e;) JSON.parse(JSON.stringify({a: [1, 2, 3]}))' >it.js
	# rules of 90 MB are inferred, and kept for the second one
	export BOBBIN_TABLE_CACHE="$PWD/cache"
	record node --use-largepages=on it.js
	record node --use-largepages=on it.js
	stacks | mostly 90 ' \(_start\|clone3\) $'
}

run_cases
