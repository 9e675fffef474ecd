#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Stacks lead through code that a process has registered, before a profiler came and after.
. "$(dirname "$0")/lib.sh"

registered() {
	with_library registered
}

# through: lines of "FUNCTION …" from stacks, of those that came to the registered code
through() {
	stacks | grep ' spin back '
}

whole=' spin back \[anon\] call main '

# stack_of_sleeper WHEN: the frames of the program, asleep below its code, a line
stack_of_sleeper() {
	spawn "$(registered)" "$1" 0
	eventually [ -e ready ]
	eventually grep -q 'State:.S' "/proc/${2:-$pid}/status"
	quietly "$bobbin" stack -v "$pid"
	sed -n 's/^#[0-9]*  *0x[0-9a-f]* \([^+ ]*\).*\(\[[a-z_. A-Z]*\]\)$/\1\2/p' out | tr '\n' ' ' >line
}

it_shows_the_stack_through_a_registered_section() {
	stack_of_sleeper first
	grep -q ' back\[.eh_frame\] \[anon\]\[.sframe\] call\[.eh_frame\] main\[.eh_frame\] ' line
	none 'the trace ends here' <out
}

it_shows_the_stack_through_a_jit_table() {
	stack_of_sleeper jit
	grep -q ' back\[.eh_frame\] \[anon\]\[JIT table\] call\[.eh_frame\] main\[.eh_frame\] ' line
	none 'the trace ends here' <out
}

it_asks_the_code_itself_where_it_is_not_registered() {
	stack_of_sleeper never
	grep -q ' back\[.eh_frame\] \[anon\]\[\(code at the PC\|a guess\)\] call\[.eh_frame\] main\[.eh_frame\] ' line
	# who knows whether what was called returns
	grep 'a guess' line >guesses || :
	[ ! -s guesses ] || grep -q 'outermost frame, likely' out
}

it_records_code_that_is_registered_in_the_meantime() {
	record "$(registered)" first 500
	through | mostly 98 "$whole"
	frames | some '^\[anon\] (.*) \[.sframe\]$'
	"$bobbin" report --no-children >report 2>/dev/null || "$bobbin" report >report
	grep -q spin report
}

it_records_code_that_was_registered_before() {
	spawn "$(registered)" first 2000
	eventually [ -e ready ]
	record -p "$pid"
	through | mostly 100 "$whole"
	complete
}

it_records_code_that_is_registered_while_it_is_attached() {
	spawn "$(registered)" later 3000
	eventually [ -e ready ]
	record -p "$pid"
	through | mostly 98 "$whole"
	frames | some '^\[anon\] (.*) \[.sframe\]$'
}

it_records_a_jit_table_that_grows() {
	record "$(registered)" jit 1000
	through | mostly 98 "$whole"
	frames | some '^\[anon\] (.*) \[JIT table\]$'
}

it_records_children_of_a_process_that_registered() {
	record "$(registered)" child 500
	through | mostly 98 "$whole"
	rm ready
	spawn "$(registered)" child 2000
	eventually [ -e ready ]
	record -p "$(child_of "$pid")"
	through | mostly 100 "$whole"
}

# make_carried: a library, as ./carried.so; $offset: where its function is
make_carried() {
	gcc -O1 -fno-omit-frame-pointer -shared -fPIC -nostdlib -o carried.so "$sources/carried.c"
	offset=$(nm -D carried.so | sed -n 's/ T carry$//p')
}

it_names_functions_of_images_that_were_loaded_without_the_kernel() {
	make_carried
	spawn "$(with_library carrier)" "$PWD/carried.so" "$offset" 0
	eventually [ -e ready ]
	eventually grep -q 'State:.S' "/proc/$pid/status"
	quietly "$bobbin" stack "$pid"
	grep -q " carry+0x[0-9a-f]* ($PWD/carried.so)" out
	grep -q ' main+' out
}

it_records_the_names_of_such_images() {
	make_carried
	record "$(with_library carrier)" "$PWD/carried.so" "$offset" 500
	stacks | grep ' spin back ' | mostly 98 ' spin back carry main '
	rm ready
	spawn "$(with_library carrier)" "$PWD/carried.so" "$offset" 2000
	eventually [ -e ready ]
	record -p "$pid"
	stacks | grep ' spin back ' | mostly 100 ' spin back carry main '
}

it_records_their_names_though_it_hears_of_their_memory_later() {
	make_carried
	record "$(with_library carrier)" "$PWD/carried.so" "$offset" 500 late
	stacks | grep ' spin back ' | mostly 98 ' spin back carry main '
}

it_asks_code_itself_that_was_never_registered() {
	record "$(registered)" never 300
	through | mostly 98 "$whole"
	frames | some '^\[anon\] (.*) \[\(code at the PC\|a guess\)\]$'
}

run_cases
