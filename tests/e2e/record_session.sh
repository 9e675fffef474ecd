#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Where a recording goes, what it attaches to, and how it ends.
. "$(dirname "$0")/lib.sh"

# The stacks of ./perf.data in functions of threads.c
in_threads() {
	stacks | mostly 90 'spin \(first\|second\|in_main main\) '
	stacks | some ' spin first start_thread '
	stacks | some ' spin second start_thread '
	stacks | some ' spin in_main main '
}

it_keeps_the_older_file() {
	record "$(program chain)" 10
	cp perf.data first
	record "$(program chain)" 10
	cmp perf.data.old first
	cp perf.data second
	record "$(program chain)" 10
	cmp perf.data.old second
	[ "$(ls -A | grep -c perf)" -eq 2 ]
}

it_writes_where_it_is_told_to() {
	mkdir folder
	record -o folder/file "$(program chain)" 200
	grep -q '; folder/file, ' err
	[ ! -e perf.data ]
	stacks -i folder/file | some 'spin c b a main'
	expect 1 "$bobbin" record -o missing/file true
	complains missing/file 'No such file'
	expect 1 "$bobbin" record -o folder true
	complains folder
}

it_samples_as_often_as_it_is_told_to() {
	for frequency in 100 997 4000; do
		record -F $frequency "$(program chain)" 600
		samples=$("$bobbin" script -F tid | grep -c .)
		[ "$samples" -ge $((frequency * 4 / 10)) ] && [ "$samples" -le $((frequency * 9 / 10)) ] ||
			fail "$samples samples in 0.6 s at $frequency Hz"
	done
}

it_can_be_quiet() {
	quietly "$bobbin" record --quiet "$(program chain)" 10
	quietly "$bobbin" record -q true
	[ ! -s out ]
}

it_attaches_to_a_process_and_all_its_threads() {
	spawn "$(program threads)" 60000
	eventually sh -c "[ \$(ls /proc/$pid/task | wc -l) -eq 3 ]"
	program=$pid
	record_while_it_works "$program"
	in_threads
	complete
	! gone "$program" || fail "it ended the program"
}

it_attaches_to_threads_to_come() {
	spawn sh -c "until [ -e recorded ]; do sleep 0.1; done; exec '$(program threads)' 400"
	spawn "$bobbin" record -p "$pid" 2>said
	eventually samples "$pid"
	touch recorded
	wait "$pid" || fail "exit status $?"
	(in_threads) || fail "of this recording: $(cat said)"
}

# On the last CPU, whose events are opened last.
it_samples_threads_that_start_while_it_attaches() {
	needs strace
	last=$(($(nproc --all) - 1))
	spawn sh -c "until [ -e recorded ]; do :; done; exec taskset -c $last '$(program threads)' 1500"
	target=$pid
	ASAN_OPTIONS="detect_leaks=0:$ASAN_OPTIONS" \
		spawn strace -o /dev/null -e inject=perf_event_open:delay_exit=150000 "$bobbin" record -p "$target"
	eventually is_sampled "$target"
	touch recorded
	wait "$pid" || fail "exit status $?"
	stacks | some ' spin first start_thread ' 300
	stacks | some ' spin second start_thread ' 300
}

it_ends_with_the_process_that_it_is_attached_to() {
	spawn "$(program chain)" 2500
	expect 0 timeout 100 "$bobbin" record -p "$pid"
	stacks | mostly 90 'spin c b a main'
}

it_says_that_there_is_no_such_process() {
	sh -c 'echo $$' >ended
	expect 1 "$bobbin" record -p "$(cat ended)"
	complains "$(cat ended)" 'No such process'
	[ ! -e perf.data ]
}

# works_below PID: its child, or the child's, has used half a second of CPU time
works_below() {
	below=$(child_of "$1")
	has_worked "$below" 50 || has_worked "$(child_of "$below")" 50
}

# busy_for_a_minute: spawn a recording of a program, in the mood for signals
busy_for_a_minute() {
	spawn "$bobbin" record "$@" 2>said
	recorder=$pid
	eventually child_of "$recorder"
	eventually works_below "$recorder"
	child=$(child_of "$recorder")
}

# ended_with STATUS: the recorder did, the program is gone, the file is good
ended_with() {
	status=0
	eventually gone "$recorder"
	wait "$recorder" || status=$?
	[ $status -eq "$1" ] || fail "exit status $status, not $1: $(cat said)"
	eventually gone "$child"
	quietly "$bobbin" report
	stacks | some 'spin c b a main'
	[ "$(ls -A | grep -c perf)" -eq 1 ] || fail "left behind: $(ls -A)"
}

it_ends_when_its_process_group_is_interrupted() {
	busy_for_a_minute "$(program chain)" 60000
	kill -INT "-$recorder"
	ended_with $((128 + 2))
	grep -q ' samples, ' said
}

it_ends_when_it_alone_is_terminated() {
	busy_for_a_minute "$(program chain)" 60000
	kill -TERM "$recorder"
	ended_with $((128 + 15))
}

it_waits_for_a_program_that_tidies_up() {
	program chain
	busy_for_a_minute sh -c "trap 'echo tidy >tidied; exit 5' TERM
		'$work/bin/chain' 1000; while :; do sleep 0.1; done"
	kill -TERM "$recorder"
	ended_with 5
	[ "$(cat tidied)" = tidy ]
}

# What it leaves later can be read; a file of no bytes is nobody's.
it_leaves_no_empty_file_when_it_is_killed() {
	spawn "$bobbin" record "$(program chain)" 60000
	eventually samples "$pid"
	kill -KILL "$pid"
	[ -z "$(find . -name '.*' -type f -size 0)" ] || fail "left behind: $(ls -A)"
}

# grown LEAST: what is being written has so many bytes
grown() {
	[ "$(stat -c %s .perf.data.*)" -ge "$1" ]
}

# However few they are.
it_leaves_the_samples_when_it_is_killed() {
	spawn "$bobbin" record -q -F 10 "$(program chain)" 60000
	eventually grown 2000
	kill -KILL "$pid"
	eventually gone "$pid"
	"$bobbin" script -q -i .perf.data.* -F ip,sym | some ' spin+' 3
}

it_insists_if_the_user_does() {
	busy_for_a_minute sh -c "trap '' TERM INT; exec '$(program chain)' 60000"
	kill -INT "$recorder"
	eventually grep -q "^bobbin record: sh (process $child) was told to end and has not yet; Ctrl-C kills it\$" said
	kill -INT "$recorder"
	ended_with $((128 + 9))
}

# chain_here: the program of this case that runs
chain_here() {
	for child in $(pgrep -x chain); do
		[ "$(readlink "/proc/$child/exe")" != "$work/bin/chain" ] || echo "$child"
	done | grep .
}

# Type Ctrl-C where bobbin is in the foreground.
type_interrupt() {
	eventually chain_here
	child=$(chain_here)
	works_on "$child"
	printf '\003'
	eventually gone "$child"
}

it_ends_on_the_terminals_interrupt() {
	needs script pgrep
	type_interrupt | expect 130 script -qec "'$bobbin' record '$(program chain)' 60000" /dev/null
	stacks | some 'spin c b a main'
	[ "$(ls -A | grep -c perf)" -eq 1 ]
}

run_cases
