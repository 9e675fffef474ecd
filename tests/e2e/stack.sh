#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `bobbin stack` prints what a live process does, as eu-stack does.
. "$(dirname "$0")/lib.sh"

# The threads, numbers of frames and PCs; inlined functions share those
frame_list() {
	sed -n 's/^\(TID [0-9]*\):.*/\1/p; s/^\(#[0-9]*\)  *\(0x[0-9a-f]*\).*/\1 \2/p' | uniq
}

# asleep PID COUNT: all of the COUNT threads wait for something
asleep() {
	[ "$(cat "/proc/$1/task/"*/stat | awk '{ n += $3 == "S" } END { print n }')" -eq "$2" ]
}

# same_frames PID FRAMES: both tools show the same, and that many frames
same_frames() {
	quietly "$bobbin" stack "$1"
	eu-stack -p "$1" >eu 2>eu.err || fail "eu-stack: $(cat eu.err)"
	frame_list <out >ours
	frame_list <eu >theirs
	diff ours theirs
	[ "$(grep -c '^#' ours)" -ge "$2" ] || fail "only $(grep -c '^#' ours) frames: $(cat out)"
	none 'the trace ends here' <out
}

it_agrees_on_a_sleeping_program() {
	needs eu-stack
	spawn sleep 1000
	eventually grep -q sleep "/proc/$pid/comm"
	eventually asleep "$pid" 1
	same_frames "$pid" 4
	# glibc 2.41 calls the kernel by a function for what can be cancelled
	grep -q '^#0 .*\(nanosleep\|syscall_cancel\)' out
}

it_finds_a_debug_file_beside_the_program() {
	gcc -O2 -g -Wl,--build-id=none -o linked "$sources/asleep.c" -pthread
	objcopy --only-keep-debug linked linked.debug
	strip -s linked
	objcopy --add-gnu-debuglink=linked.debug linked
	spawn ./linked
	eventually asleep "$pid" 3
	quietly "$bobbin" stack "$pid"
	grep -q ' main+' out || fail "no names: $(cat out)"
}

it_agrees_on_all_threads() {
	needs eu-stack
	spawn "$(program asleep)"
	eventually asleep "$pid" 3
	same_frames "$pid" 16
	[ "$(grep -c '^TID ' out)" -eq 3 ]
}

it_keeps_both_ends_of_a_deep_recursion() {
	spawn "$(program deep)" 600000 100000
	eventually sh -c '"$1" stack "$2" | grep -q "frames left out"' sh "$bobbin" "$pid"
	quietly "$bobbin" stack "$pid"
	grep -q '^     \[98[0-9]* frames left out\]$' out
	[ "$(grep -c '^#' out)" -eq 1024 ]
	[ "$(grep -c ' descend+' out)" -gt 1000 ]
	tail -n 5 out | grep -q '^#10000[0-9] .* main+'
	none 'the trace ends here' <out
}

it_agrees_on_perl() {
	needs eu-stack perl
	spawn perl -e 'open my $f, ">", "ready"; close $f; sub nap { sleep 1000 } nap'
	eventually [ -e ready ]
	eventually asleep "$pid" 1
	same_frames "$pid" 8
	grep -q ' main+' out
}

it_agrees_on_python() {
	needs eu-stack python3
	spawn python3 -c 'import time; open("ready", "w").close(); time.sleep(1000)'
	eventually [ -e ready ]
	eventually asleep "$pid" 1
	same_frames "$pid" 8
}

it_names_the_functions_of_each_thread() {
	spawn "$(program asleep)"
	eventually asleep "$pid" 3
	quietly "$bobbin" stack "$pid"
	sed 's/^#[0-9]*  *0x[0-9a-f]* //; s/+0x[0-9a-f]* .*//; /(inlined)/d; s/:$//' out |
		tr '\n' ' ' >line
	grep -Eq "^PID $pid TID $pid ([^ ]*syscall_cancel[^ ]* )*[^ ]*pause doze main __libc_start_call_main " line
	grep -Eq ' TID [0-9]+ ([^ ]*syscall_cancel[^ ]* )*[^ ]*read[^ ]* wait_for_bytes reader start_thread ' line
	grep -Eq ' TID [0-9]+ .*lock[^ ]* locker start_thread ' line
}

it_prints_one_thread() {
	spawn "$(program asleep)"
	eventually asleep "$pid" 3
	tid=$(ls "/proc/$pid/task" | sort -n | tail -n 1)
	quietly "$bobbin" stack -1 "$tid"
	[ "$(grep -c '^TID ' out)" -eq 1 ]
	grep -q "^TID $tid:" out
}

it_tells_the_tables_of_each_frame() {
	spawn "$(program asleep)"
	eventually asleep "$pid" 3
	quietly "$bobbin" stack -v "$pid"
	grep '^#' out | grep -v '(inlined)' | mostly 100 '\[[^]]*\]$'
	grep '/asleep)' out | mostly 100 '\[\.eh_frame\]$'
}

it_leaves_the_process_running() {
	spawn "$(program threads)" 2000
	eventually sh -c "[ \$(ls /proc/$pid/task | wc -l) -eq 3 ]"
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		"$bobbin" stack "$pid" >>out
	done
	some ' main+' 5 <out
	wait "$pid" || fail "exit status $?"
}

it_takes_no_signal_from_the_process() {
	: >go
	spawn "$(program counted)" >told
	eventually child_of "$pid"
	for _ in $(seq 50); do
		"$bobbin" stack "$pid" >>out
	done
	rm go
	wait "$pid" || fail "exit status $?: $(cat told)"
	grep '^sent [1-9][0-9]*, received [1-9][0-9]*, values whole$' told
}

# state PID LETTER: all of its threads are in it
state() {
	! awk '{ print $3 }' "/proc/$1/task/"*/stat | grep -v "$2"
}

it_leaves_a_stopped_process_stopped() {
	spawn "$(program asleep)"
	eventually asleep "$pid" 3
	kill -STOP "$pid"
	eventually state "$pid" T
	quietly "$bobbin" stack "$pid"
	[ "$(grep -c '^#' out)" -ge 16 ]
	state "$pid" T
	kill -CONT "$pid"
	eventually asleep "$pid" 3
}

it_passes_over_a_thread_that_does_not_stop() {
	: >hold
	spawn "$(program held)"
	eventually child_of "$pid"
	eventually grep -q '^State:[[:space:]]D' "/proc/$pid/status"
	expect 1 timeout 20 "$bobbin" stack "$pid"
	complains "thread $pid" 'does not stop'
	[ "$(grep -c ' doze+' out)" -eq 2 ]
	rm hold
	wait "$pid" || fail "exit status $?"
}

it_unwinds_a_program_that_was_deleted() {
	cp "$(program asleep)" ./asleep
	spawn ./asleep
	eventually asleep "$pid" 3
	rm asleep
	quietly "$bobbin" stack "$pid"
	none 'the trace ends here' <out
	[ "$(grep -c '^#' out)" -ge 16 ]
	# map_files is root's
	[ "$(id -u)" -ne 0 ] || grep '^#.* wait_for_bytes+0x' out
}

# named_frames FILE: names of functions in FILE and where in them, as printed for it
named_frames() {
	spawn "$1"
	eventually asleep "$pid" 3
	quietly "$bobbin" stack -v "$pid"
	# a line a thread; they come in any order
	sed -n "s|^#\\([0-9]*\\) *0x[0-9a-f]* \\(.*\\) (.*/$(basename "$1")).*|\\1 \\2|p" out |
		awk 'NR > 1 && $1 <= last { print stack; stack = "" }
			{ last = $1; $1 = ""; stack = stack $0 }
			END { print stack }' | sort
	kill "$pid"
}

it_names_functions_alike_whatever_parts_their_tables_have() {
	needs strip
	mkdir plain converted
	cp "$(program asleep)" plain/asleep
	strip plain/asleep
	"$bobbin" sframe convert -q --share -o converted/asleep plain/asleep
	named_frames ./plain/asleep >want
	named_frames ./converted/asleep >got
	grep '/asleep)' out | mostly 100 '\[\.sframe\]$'
	diff want got
	[ "$(grep -o ' asleep+0x' got | wc -l)" -ge 6 ]
}

it_says_that_there_is_no_such_process() {
	sh -c 'echo $$' >ended
	expect 1 "$bobbin" stack "$(cat ended)"
	complains "$(cat ended)" 'No such process'
	expect 1 "$bobbin" stack -1 "$(cat ended)"
	complains "$(cat ended)" 'No such process'
}

it_says_that_a_process_belongs_to_somebody_else() {
	needs_root
	needs setpriv
	cp "$bobbin" "$work/bin/bobbin"
	spawn sleep 1000
	expect 1 setpriv --reuid=65534 --regid=65534 --clear-groups "$work/bin/bobbin" stack "$pid"
	complains "$pid" 'not allowed' 'root' 'yama'
}

# traces_sleep PID: it does, and $child is the sleep; before that it tries what it can trace
traces_sleep() {
	child=$(child_of "$1") && grep -q sleep "/proc/$child/comm" &&
		grep -q '^TracerPid:.*[1-9]' "/proc/$child/status"
}

it_says_that_a_debugger_holds_the_process() {
	needs strace
	spawn strace -o /dev/null sleep 1000
	eventually traces_sleep "$pid"
	expect 1 "$bobbin" stack "$child"
	complains "$child" 'debugger'
}

# has_zombie PID: its child has ended, and it does not wait for it; that is $child
has_zombie() {
	child=$(child_of "$1") && grep -q '^State:.*Z' "/proc/$child/status"
}

it_says_that_a_process_is_a_zombie() {
	spawn sh -c 'sleep 0 & exec sleep 1000'
	eventually has_zombie "$pid"
	for command in 'stack' 'stack -1' 'maps' 'record -q -p' 'record -q -t'; do
		# shellcheck disable=SC2086 # with its options
		expect 1 "$bobbin" $command "$child"
		complains "$child: has ended; it is a zombie, since process $pid has not waited"
		[ ! -s out ] || fail "$command printed $(cat out)"
	done
}

it_says_that_a_process_is_the_kernels() {
	needs_root
	[ -d /proc/2 ] && ! readlink /proc/2/exe >exe || skip "no thread of the kernel is 2"
	for command in 'stack' 'stack -1' 'maps'; do
		# shellcheck disable=SC2086 # with its options
		expect 1 "$bobbin" $command 2
		complains "2: is the kernel's own"
	done
}

it_names_the_debugger_that_holds_a_process() {
	needs strace
	spawn strace -o /dev/null sleep 1000
	eventually traces_sleep "$pid"
	tracer=$(sed -n 's/^TracerPid:[^0-9]*//p' "/proc/$child/status")
	expect 1 "$bobbin" stack "$child"
	complains "a debugger holds it: process $tracer (strace)"
}

it_shows_the_process_of_a_thread() {
	spawn "$(program threads)" 100000
	eventually has_thread "$pid"
	quietly "$bobbin" stack "$thread"
	grep -qx "PID $pid" out
	grep -qx "TID $pid:" out
	quietly "$bobbin" stack -1 "$thread"
	[ "$(grep -x 'TID [0-9]*:' out)" = "TID $thread:" ]
}

# has_thread PID: it has another thread, $thread
has_thread() {
	thread=$(ls "/proc/$1/task" | grep -vx "$1" | head -n 1)
	[ -n "$thread" ]
}

run_cases
