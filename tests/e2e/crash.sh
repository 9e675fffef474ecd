#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The stacks of a program that crashes, by libbobbin-crash.so.
. "$(dirname "$0")/lib.sh"

library=$(realpath "$2")

# crashing: crashing.c, as $work/bin/crashing, whose path is printed
crashing() {
	[ "$(uname -m)" = x86_64 ] || skip "the program's code is x86-64's"
	program crashing -w -D_GNU_SOURCE -I "$sources/../../include" "$library" \
		-Wl,-rpath,"$(dirname "$library")"
}

# crashes SIGNAL HOW [NAME=VALUE…]: it does, and says so first
crashes() {
	signal=$1 how=$2 status=0
	shift 2
	program=$(crashing)
	(
		ulimit -c 0
		exec env "$@" "$program" "$how"
	) >out 2>err || status=$?
	[ "$(kill -l $status)" = "$signal" ] || fail "$how: exit status $status: $(cat err)"
	grep -q "^bobbin: thread [0-9]* (crashing) gets SIG$signal" err || fail "$how: $(cat err)"
}

# chain NUMBER: functions of the program in the stack of that thread of ./err, each once in a row
chain() {
	awk -v wanted="$1" -v file="($work/bin/crashing)" '
		/^TID / { thread++ }
		/^#/ && thread == wanted && $4 == file { sub(/\+0x.*/, "", $3); print $3 }' err |
		uniq | tr '\n' ' '
}

# is_chain NUMBER FUNCTION…: of that thread, innermost first
is_chain() {
	number=$1
	shift
	[ "$(chain "$number")" = "$* " ] || fail "not '$*': '$(chain "$number")' in $(cat err)"
}

rest='crash_site middle outer main _start'

# complete THREADS: there are so many, and no trace ends before its outermost frame
complete() {
	[ "$(grep -c '^TID [0-9]*:$' err)" -eq "$1" ] || fail "not $1 threads: $(cat err)"
	! grep 'the trace ends here' err
}

# likely: the only trace is, but for nothing else
likely() {
	[ "$(grep -c 'the trace ends here' err)" -eq 1 ]
	grep -q 'ends here: outermost frame, likely: a frame before it was left by a guess' err
}

# shellcheck disable=SC2086 # functions
is_whole() {
	is_chain 1 "$@" $rest
	complete 1
}

it_names_the_callers_of_no_code() {
	crashes SEGV null-call
	is_whole null_call
	grep -q '^#0   0x0000000000000000 \[unknown\] (\[unknown\])$' err
	grep -q 'gets SIGSEGV at 0x0000000000000000: nothing is mapped there$' err
	crashes SEGV wild-call
	is_whole wild_call
	grep -q '^#0   0x0000000000123450 \[unknown\] (\[unknown\])$' err
}

# shellcheck disable=SC2086 # functions
it_names_the_callers_of_data() {
	for what in data heap; do
		crashes SEGV $what-call
		is_chain 1 ${what}_call $rest
		likely
		grep -q 'gets SIGSEGV at 0x[0-9a-f]*: the mapping does not permit it$' err
	done
}

it_names_what_an_instruction_has_done() {
	crashes SEGV null-read
	is_whole null_read
	grep -q 'at 0x0000000000000010: nothing is mapped there$' err
	crashes FPE divide
	is_whole divide
	grep -q ': an integer was divided by zero$' err
	crashes TRAP trap
	is_whole trap
	crashes ILL illegal
	is_whole illegal
	crashes XFSZ file-size
	is_whole file_size
}

# shellcheck disable=SC2086 # functions
it_reports_stacks_that_have_overflowed() {
	crashes SEGV overflow
	is_whole overflow stack_overflow
	grep -q '^     \[[0-9]* frames left out\]$' err
	# the main thread waits for it
	crashes SEGV overflow-in-thread
	is_chain 1 overflow stack_overflow thread_overflow
	is_chain 2 overflow_in_thread $rest
	complete 2
	crashes SEGV overflow-in-c-thread
	is_chain 1 overflow stack_overflow c_thread_overflow
	is_chain 2 overflow_in_c_thread $rest
	complete 2
}

it_needs_no_heap() {
	crashes ABRT corrupted-heap
	is_whole corrupted_heap
	grep -q '^#[0-9]* .* abort+0x[0-9a-f]* (.*/libc' err
	crashes SEGV crash-in-malloc
	is_whole crash_in_malloc
	grep -q '^#[01] .*(.*/libc' err
	crashes ABRT abort
	is_whole call_abort
}

it_leads_through_handlers() {
	crashes SEGV crash-in-handler
	is_whole null_read in_handler on_user crash_in_handler
	crashes SEGV small-stack
	is_whole null_read in_handler on_user small_stack
	crashes SEGV number-alone
	is_whole pass_number null_read number_alone
}

it_ends_where_the_stack_was_smashed() {
	crashes SEGV smashed-stack
	is_chain 1 smash
	grep -q '^#1   0x4141414141414141 \[unknown\] (\[unknown\])$' err
	grep -q '^     the trace ends here: no mapping holds this PC$' err
	crashes SEGV no-stack
	is_chain 1 lost_stack
	grep -q '^     the trace ends here: the stack is not readable$' err
}

# shellcheck disable=SC2086 # functions
it_stops_all_threads() {
	crashes SEGV many-threads
	is_chain 1 null_read many_threads $rest
	for number in $(seq 2 51); do
		is_chain "$number" stay
	done
	complete 51
	[ "$(grep '^TID' err | sort -u | wc -l)" -eq 51 ]
	crashes SEGV many-threads ONE_THREAD=1
	is_chain 1 null_read many_threads $rest
	complete 1
}

# shellcheck disable=SC2086 # functions
it_names_threads_that_do_not_stop() {
	crashes SEGV blocked-thread
	is_chain 1 null_read blocked_thread $rest
	[ "$(grep -c '^TID' err)" -eq 2 ]
	tail -n 1 err | grep -q '^     the trace ends here: the thread blocks SIGSTKFLT, and was not stopped$'
}

# Which of them is first is not known.
it_reports_two_crashes_at_once() {
	crashes SEGV two-crashes
	complete 2
	[ "$(grep -c ' crash_too+0x' err)" -ge 1 ]
	[ "$(grep -c ' two_crashes+0x' err)" -eq 1 ]
	[ "$(grep -c ' main+0x' err)" -eq 1 ]
	[ "$(grep -c '^bobbin: ' err)" -eq 1 ]
}

it_survives_a_crash_of_its_own() {
	crashes SEGV unreadable-tables
	[ "$(grep -c '^TID' err)" -eq 2 ]
	[ "$(grep -c '^     the report itself has crashed: SIGSEGV at 0x' err)" -ge 1 ]
	[ "$(grep -c '^     the trace ends here: the walk has crashed$' err)" -ge 1 ]
	grep -q '^#0   0x[0-9a-f]* null_read+0x0 (' err
}

it_hands_the_signal_on() {
	program=$(crashing)
	expect 3 env OWN_HANDLER=1 "$program" null-read
	is_whole null_read
	pc=$(sed -n 's/^#0 *0x0*\([0-9a-f]*\) .*/\1/p' err)
	[ "$(cat out)" = "own handler: signal 11, address 0x10, pc $pc" ]
	# the threads run on by then
	expect 0 env OWN_HANDLER=1 RECOVER=1 "$program" many-threads
	tail -n 1 out | grep -q -x 'went on'
	complete 51
}

it_lets_an_ignored_signal_be_ignored() {
	status=0
	(
		ulimit -c 0
		exec env IGNORE=1 "$(crashing)" abort
	) 2>err || status=$?
	[ $status -eq 134 ]
	! grep '^bobbin:' err
}

it_reports_children() {
	crashes SEGV child
	# the parent has the same end
	[ "$(grep -c '^bobbin: ' err)" -eq 2 ]
	[ "$(grep '^PID' err | sort -u | wc -l)" -eq 2 ]
	is_chain 1 null_read crash_in_child "$rest"
}

it_does_not_wait_for_a_pipe_that_is_full() {
	program=$(crashing) status=0
	(
		ulimit -c 0
		exec env FULL_PIPE=1 "$program" many-threads
	) || status=$?
	[ $status -eq 139 ]
}

# waiting PROGRAM [NAME=VALUE…]: it waits, and will report to ./err; $pid
waiting() {
	program=$1
	shift
	ulimit -c 0
	started env "$@" "$program" wait 2>err
}

# SIGQUIT is ignored by what a shell has in the background.
aborts() {
	kill -ABRT "$pid"
	status=0
	wait "$pid" || status=$?
	[ $status -eq 134 ] || fail "exit status $status: $(cat err)"
}

# The first frame is that of pause(), in a system call.
it_says_what_bobbin_stack_says() {
	waiting "$(crashing)" SOURCES=1
	asleep() { [ "$(cut -d ' ' -f 3 "/proc/$pid/stat")" = S ]; }
	eventually asleep
	quietly "$bobbin" stack --verbose "$pid"
	aborts
	sed -n '2,$p' err >said
	# names of functions that debug files have are not known
	frames='s/^\(#[0-9]* *0x[0-9a-f]*\) .* \((.*\)$/\1 \2/; s/+0x[0-9a-f]*)/)/'
	sed "$frames" said >said.frames
	sed "$frames" out | diff - said.frames
	grep "($work/bin/" said >said.own
	grep "($work/bin/" out | diff - said.own
}

it_takes_no_names_from_another_file() {
	cp "$(crashing)" victim
	waiting ./victim
	rm victim
	cp /bin/true victim
	aborts
	[ "$(grep -c '(.*/victim' err)" -ge 5 ]
	! grep '^#' err | grep -v '\[unknown\]' | grep 'victim'
	rm -f ready victim
	cp "$(crashing)" victim
	waiting ./victim
	rm victim
	mkfifo victim
	aborts
	! grep '^#' err | grep -v '\[unknown\]' | grep 'victim'
}

# shellcheck disable=SC2016 # the inner shell's
it_can_be_preloaded() {
	needs sh
	status=0
	(
		ulimit -c 0
		exec env LD_PRELOAD="$library" BOBBIN_CRASH=report sh -c 'kill -SEGV $$; exit 1'
	) >out 2>err || status=$?
	[ $status -eq 139 ]
	! grep '^bobbin:' err
	grep -q '^bobbin: thread [0-9]* (sh) gets SIGSEGV by PID [0-9]*$' report
	grep -q ' __libc_start_main+0x' report
	[ "$(stat -c %a report)" = 600 ]
	quietly env LD_PRELOAD="$library" sh -c 'exit 0'
	expect 0 env LD_PRELOAD="$library" BOBBIN_CRASH=/nowhere/report true
	grep -q -x 'bobbin: BOBBIN_CRASH=/nowhere/report: No such file or directory' err
	expect 0 env LD_PRELOAD="$library" BOBBIN_CRASH=- true
}

# Frames of libraries that were loaded later have tables, too.
it_reports_what_python_has_loaded() {
	needs python3
	status=0
	(
		ulimit -c 0
		exec env LD_PRELOAD="$library" BOBBIN_CRASH=- python3 -c 'import ctypes; ctypes.string_at(0)'
	) >out 2>err || status=$?
	[ $status -eq 139 ]
	grep -q ' (.*/_ctypes' err
	! grep 'the trace ends here' err
}

run_cases
