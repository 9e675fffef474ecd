#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `bobbin record` ends as the command that it runs, and says so when it cannot.
. "$(dirname "$0")/lib.sh"

it_passes_the_exit_status_on() {
	for status in 0 3 255; do
		expect $status "$bobbin" record "$(program chain)" 20 $status
		grep -q ' samples, ' err
		quietly "$bobbin" report
	done
}

it_turns_death_by_a_signal_into_128_and_its_number() {
	expect $((128 + 15)) "$bobbin" record -- sh -c 'kill -TERM $$'
	expect $((128 + 9)) "$bobbin" record -- sh -c 'kill -KILL $$'
	quietly "$bobbin" report
}

it_records_a_program_that_ends_at_once() {
	record -- true
	quietly "$bobbin" script
	quietly "$bobbin" report
	quietly "$bobbin" flamegraph -q
}

it_says_that_a_command_was_not_found() {
	expect 127 env PATH=/usr/bin:/bin "$bobbin" record no-such-command-here
	complains no-such-command-here 'No such file'
	expect 127 "$bobbin" record ./no/such/path
	complains ./no/such/path 'No such file'
	rm out err
	[ -z "$(ls -A)" ] || fail "left behind: $(ls -A)"
}

it_says_that_a_file_is_not_executable() {
	echo "just text" >text
	expect 126 "$bobbin" record ./text
	complains ./text 'Permission denied'
	expect 126 "$bobbin" record /
	complains 'Permission denied'
	rm out err text
	[ -z "$(ls -A)" ] || fail "left behind: $(ls -A)"
}

it_keeps_the_older_recording_if_there_is_no_new_one() {
	echo precious >perf.data
	expect 127 env PATH=/usr/bin:/bin "$bobbin" record no-such-command-here
	[ "$(cat perf.data)" = precious ]
	[ ! -e perf.data.old ]
}

it_hands_options_after_the_command_to_it() {
	record sh -c 'echo "$@" >arguments' sh -F 7 --quiet
	[ "$(cat arguments)" = "-F 7 --quiet" ]
	record -- sh -c 'echo "$@" >arguments' sh --help
	[ "$(cat arguments)" = --help ]
}

it_leaves_the_streams_to_the_program() {
	echo input | "$bobbin" record -- sh -c 'cat; echo error >&2' >out 2>err
	[ "$(cat out)" = input ]
	grep -q -x error err
}

it_leaks_no_descriptors_into_the_program() {
	record -- sh -c 'ls -l /proc/self/fd >fds'
	none perf_event <fds
	none perf.data <fds
}

it_leaves_the_limit_of_open_files_to_the_command() {
	[ "$(ulimit -n)" -le 1024 ] || ulimit -S -n 1024
	record sh -c 'ulimit -S -n; ulimit -H -n' >limits
	{
		ulimit -S -n
		ulimit -H -n
	} | diff - out
}

# Root's limit is what it is for others' sake.
it_samples_more_threads_than_files_may_be_open() {
	needs_root
	needs python3
	sh -c 'ulimit -n 100 && ulimit -n 200' 2>/dev/null || skip "root may not raise its limits here"
	spawn python3 -c 'import threading, time
for _ in range(200): threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
while True: pass'
	eventually sh -c "[ \$(ls /proc/$pid/task | wc -l) -gt 200 ]"
	expect 0 sh -c 'ulimit -n 100; exec "$@"' sh "$bobbin" record --duration 0.5 -p "$pid"
	grep -q 'samples, ' err
}

run_cases
