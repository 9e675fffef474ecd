#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What counts as a complete trace: one whose last frame is known to have no caller.
. "$(dirname "$0")/lib.sh"

# Debian's musl has neither tables nor names of what is not exported.
musl_names='memset'

# musl NAME FILE [FLAG…]: FILE.c by musl's compiler, as $work/bin/NAME, whose path is printed
musl() {
	file=$work/bin/$1 source=$sources/$2.c
	shift 2
	[ -e "$file" ] || musl-gcc -O2 -fomit-frame-pointer -o "$file" "$source" "$@" >&2
	echo "$file"
}

# fast: the highest rate of samples up to 20,000 a second
fast() {
	rate=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
	echo $((rate < 20000 ? rate : 20000))
}

it_takes_a_zero_for_a_root_where_the_code_says_that_it_is_the_return_address() {
	roots_also='coroutine\|coroutine_that_returns'
	for bpf in '' --no-bpf; do
		record $bpf "$(program zero_caller)" 300
		stacks | some ' spin coroutine $' 100
		complete
		record $bpf "$(program zero_caller)" 300 returns
		stacks | some ' spin coroutine_that_returns $' 100
		complete
	done
	spawn "$(program zero_caller)" 60000
	eventually sh -c "'$bobbin' stack $pid | grep -w coroutine"
	"$bobbin" stack "$pid" | none 'the return address is 0'
}

it_does_not_take_a_zero_for_the_outermost_frame() {
	# which the last one jumps to: there the code says that the zero is the return address
	roots_also=_exit
	record "$(program zero_caller)" 300 part
	stacks | some ' spin spin_in_part part $' 100
	reasons | none OUTERMOST
	record "$(program zero_caller)" 300 leaves
	stacks | some ' spin coroutine_that_leaves $' 100
	reasons | grep -v -x NO_USER | mostly 90 '^ZERO_RA$'
	grep -q 'ended early: the return address is 0, in a frame that is not known as a root' err
}

# Walks in the kernel see it too, see record_bpf.sh
it_takes_a_zero_for_a_root_where_the_mapping_of_the_stack_ends() {
	roots_also='coroutine\|_exit'
	record --no-bpf "$(program mapped_stack)" 300
	stacks | some ' spin coroutine $' 100
	complete
	for how in old below; do
		record --no-bpf "$(program mapped_stack)" 300 $how
		stacks | some ' spin coroutine $' 100
		reasons | grep -v -x NO_USER | mostly 90 '^ZERO_RA$'
	done
}

it_sees_programs_and_threads_of_musl_whole() {
	needs musl-gcc
	roots_also=$musl_names
	for flags in -no-pie -pie -static '-static-pie -fPIE'; do
		record "$(musl "threads$(echo "$flags" | tr -d ' ')" threads $flags)" 300
		stacks | grep ' spin first ' | mostly 90 ' spin first [^ ]* [^ ]* $'
		stacks | some ' spin second [^ ]* [^ ]* $'
		stacks | some ' spin in_main main [^ ]* _start $'
		stacks | grep -e ' main ' -e ' spin first ' -e ' spin second ' >chains
		[ "$(reasons | grep -c -x OUTERMOST)" -ge $(($(wc -l <chains) * 95 / 100)) ]
	done
}

it_sees_threads_in_the_return_from_a_signal() {
	record "$(program signals)" 400
	stacks | some ' __restore_rt [^ ]* raise raise_signals main '
	complete
}

it_sees_threads_that_start_threads() {
	record -F "$(fast)" "$(program starter)" 1000
	stacks | some ' \(__\)*clone3 .*start_threads main '
	complete
}

it_knows_the_roots_of_fibers() {
	roots_also='libc\.so\.6+0x[0-9a-f]*'
	record "$(program fiber)" 300
	stacks | some ' spin in_fiber [^ ]* $' 100
	complete
}

it_knows_the_roots_of_fibers_that_are_jumped_to() {
	roots_also=begin_fiber
	record "$(program jumped_fiber)" 300
	stacks | some ' spin in_fiber begin_fiber $' 100
	complete
}

it_knows_the_entry_of_a_program_though_its_table_does_not() {
	gcc -O2 -nostdlib -static -o "$work/bin/first_in_c" "$sources/first_in_c.c"
	record "$work/bin/first_in_c"
	stacks | some ' add _start $'
	complete
}

it_does_not_take_the_code_after_the_entry_for_the_entry() {
	gcc -nostdlib -static -o "$work/bin/after_entry" "$sources/after_entry.c"
	record --no-code "$work/bin/after_entry"
	stacks | mostly 90 ' bare middle _start $'
	frames | grep '^bare ' | mostly 99 '\[code at the PC\]'
}

it_names_the_function_that_ends_in_a_system_call() {
	gcc -nostdlib -static -o "$work/bin/last_call" "$sources/last_call.c"
	spawn "$work/bin/last_call"
	eventually sh -c "'$bobbin' stack $pid | grep -w _start"
	"$bobbin" stack "$pid" | none after_last_call
}

it_does_not_follow_frames_that_handlers_replace() {
	g++ -O2 -fomit-frame-pointer -o throwing "$sources/throwing.cc"
	g++ -O2 -fno-omit-frame-pointer -o throwing-fp "$sources/throwing.cc"
	for file in throwing throwing-fp; do
		record -F "$(fast)" ./$file 1500
		stacks | some ' _Unwind_Resume passes catches loop main ' 100
		stacks | tr ' ' '\n' | awk '
			BEGIN {
				caller["throws"] = "destroys"
				caller["destroys"] = "passes"
				caller["passes"] = "catches"
				caller["catches"] = "loop"
				caller["loop"] = "main"
				caller["_Unwind_RaiseException"] = "__cxa_throw"
			}
			NF && last in caller && $1 != caller[last] { print $1, "called", last }
			{ last = $1 }' >wrong
		none . <wrong
		reasons | some '^EH_RETURN$'
		reasons | grep -v -x NO_USER | mostly 99 '^\(OUTERMOST\|EH_RETURN\)$'
	done
}

it_says_that_a_frame_is_found_by_memory_that_no_copy_has() {
	record --no-bpf "$(program below)" 300
	reasons | grep -v -x NO_USER | mostly 80 '^BELOW_SP$'
	spawn "$(program below)" 100000
	eventually sh -c "'$bobbin' stack $pid | grep -w -A 2 below | grep -w main"
}

run_cases
