#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What processes bring along to be unwound by serves walks in the kernel, too.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/kernel_walks.sh"

rpn_jit=$(realpath "$2")

it_agrees_on_sframe_of_each_version() {
	# gas 2.40 writes the first version
	walks 80 "$(program_as chain_v1 chain -Wa,--gsframe)" 1000
	frames | grep '^[abc] ' | mostly 99 '\[.sframe\]$'
	for version in 2.44 2.47; do
		assembler=$(dirname "$(dirname "$toolchain")")/$version/bin
		[ -d "$assembler" ] || skip "no binutils $version"
		walks 80 "$(program_as "chain_$version" chain -B "$assembler" -Wa,--gsframe)" 1000
		frames | grep '^[abc] ' | mostly 99 '\[.sframe\]$'
	done
}

it_agrees_where_sframe_covers_a_part() {
	gcc -O2 -fomit-frame-pointer -c -o with.o -Wa,--gsframe "$sources/covered.c"
	gcc -O2 -fomit-frame-pointer -c -o without.o -DREST "$sources/covered.c"
	gcc -o covered with.o without.o
	walks 80 ./covered 1000
	frames | grep '^with ' | mostly 99 '\[.sframe\]$'
	frames | grep '^without ' | mostly 99 '\[.eh_frame\]$'
	"$bobbin" script -F tid,sym --no-inline | grep -c ' with+' >count
	[ "$(cat count)" -ge 400 ]
}

it_agrees_on_sections_made_of_call_frame_information() {
	needs perl
	"$bobbin" sframe convert -q "$(readlink -f "$(command -v perl)")" -o perl
	walks 80 ./perl -e 'sub fib { my $n = shift; $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
		fib(15) while times < 1'
	frames | some '(.*/perl) \[.sframe\]$' 1000
}

# passes PERCENT: so many of the stacks that come from registered code go on to the program's root
passes() {
	stacks | grep ' spin back ' | mostly "$1" ' spin back \[anon\] call .*main __libc_start_call_main '
}

it_agrees_on_registered_sections() {
	walks 80 "$(with_library registered)" first 1000
	passes 99
	frames | grep '^\[anon\]' | mostly 99 '\[.sframe\]$'
	walks 80 "$(with_library registrations)" many 1000 500
	passes 99
}

it_agrees_on_a_process_that_has_registered_before() {
	spawn "$(with_library registered)" first 60000
	eventually [ -e ready ]
	end_once_sampled "$pid" &
	walks 40 -p "$pid"
	passes 99
}

it_agrees_on_sections_that_are_registered_later() {
	walks 40 "$(with_library registered)" later 2000
	passes 40
}

it_agrees_on_a_child_that_has_its_parents_code() {
	walks 80 "$(with_library registered)" child 1000
	passes 99
}

it_agrees_on_a_child_that_takes_the_place_of_its_parents_code() {
	walks 80 "$(with_library registrations)" child 2000
	passes 90
}

it_agrees_on_code_that_takes_turns_in_one_place() {
	record --bpf --also-copy -F 2000 "$(with_library registrations)" swap 2000
	[ "$(count 'were compared with user space')" -ge 1000 ] || fail "few: $(cat err)"
	grep -q ': 0 differ$' err || fail "the walks differ: $(cat err)"
	record --bpf -F 2000 "$(with_library registrations)" swap 2000
	reasons | grep -v -x NO_USER | mostly 90 '^OUTERMOST$'
	stacks | none ' spin back \[anon\] _start '
}

it_forgets_at_exec_what_was_registered() {
	ln -s "$(program_as with_tables chain -Wa,--gsframe)" next
	record --bpf --also-copy -F 2000 "$(with_library registrations)" exec 500
	[ "$(count 'were compared with user space')" -ge 1000 ] || fail "few: $(cat err)"
	grep -q ': 0 differ$' err || fail "the walks differ: $(cat err)"
	record --bpf -F 2000 "$(with_library registrations)" exec 500
	stacks | grep '^registrations:' | mostly 90 ' spin back \[anon\] call main '
	stacks | grep '^next:' | mostly 90 ' spin c b a main '
}

it_trusts_no_corrupt_section() {
	record --bpf --also-copy -F 2000 "$(with_library registrations)" corrupt 1000
	grep -q ': 0 differ$' err || fail "the walks differ: $(cat err)"
	frames | none '^\[anon\].*\[.sframe\]$'
	frames | some '^\[anon\].*\[\(a guess\|code at the PC\)\]$' 400
}

it_leaves_more_sections_than_there_is_room_for_to_user_space() {
	record --bpf --also-copy -F 2000 "$(with_library registrations)" many 2000 8000
	grep -q ': 0 differ$' err || fail "the walks differ: $(cat err)"
	passes 99
	[ "$(count 'files or registered sections have no table')" -ge 1 ] || fail "there was room: $(cat err)"
	[ "$(count 'stacks were walked in the kernel')" -ge 1 ] || fail "none: $(cat err)"
}

it_walks_no_stack_by_what_has_changed() {
	record --bpf --also-copy -F 2000 "$(with_library registrations)" churn 1000
	grep -q ': 0 differ$' err || fail "the walks differ: $(cat err)"
	passes 99
}

it_walks_through_code_that_a_process_without_privileges_has_registered() {
	needs setpriv
	chmod 777 .
	# the folder of the build may be closed to others
	cp "$(dirname "$bobbin")"/../libbobbin.so.0 .
	spawn env LD_LIBRARY_PATH="$PWD" setpriv --reuid 65534 --clear-groups \
		"$(with_library registrations)" many 60000 10
	eventually has_worked "$pid" 10
	end_once_sampled "$pid" &
	walks 40 -p "$pid"
	passes 99
}

it_agrees_on_a_jit_table_that_grows() {
	record --bpf --also-copy -F 2000 "$(with_library registered)" jit 2000
	grep -q ': 0 differ$' err || fail "the walks differ: $(cat err)"
	[ "$(count 'stacks were walked in the kernel')" -ge 1000 ] || fail "few: $(cat err)"
	frames | some '^\[anon\] (.*) \[JIT table\]$' 1000
}

it_agrees_on_code_of_a_compiler() {
	walks 60 "$rpn_jit" 4
	frames | some '\[JIT table\]$' 1000
	complete
	forget_map
}

run_cases
