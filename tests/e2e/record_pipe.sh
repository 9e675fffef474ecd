#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Recordings go through pipes, to and from bobbin and perf.
. "$(dirname "$0")/lib.sh"

# in_chain: the lines of `bobbin script` or `perf script` on stdin show chain.c
in_chain() {
	awk -f "$sources/stacks.awk" | sed 's/+0x[0-9a-f]*//g' | mostly 90 ' spin c b a main '
}

it_writes_to_a_pipe_what_it_reads_from_one() {
	file=$(program chain)
	"$bobbin" record -o - "$file" 300 2>err | "$bobbin" script -i - -F comm,tid,ip,sym --no-inline >out
	in_chain <out
	grep -q ' samples, 100.0 % of ' err
	"$bobbin" record -q -o - "$file" 300 | "$bobbin" report -i - >out
	grep -q "^# Samples: [1-9][0-9]* of event '" out
	grep -q '^# Stacks: 100.00 % of ' out
	"$bobbin" record -q -o - "$file" 300 | "$bobbin" flamegraph -i - --folded >out
	some ';main;a;b;c;spin ' 1 <out
	rm out err lines
	[ -z "$(ls -A)" ] || fail "left behind: $(ls -A)"
}

it_writes_what_perf_reads_from_a_pipe() {
	needs perf
	file=$(program chain)
	"$bobbin" record -q -o - "$file" 300 | perf script --no-demangle --no-inline -F comm,tid,ip,sym -i - 2>perf.log |
		in_chain
	"$bobbin" record -q -o - "$file" 300 | perf report --no-demangle --stdio -i - >out 2>perf.log
	grep -q ' spin$' out
	"$bobbin" record -q -o - "$file" 300 >data
	perf script --no-demangle --no-inline -F comm,tid,ip,sym -i - <data 2>perf.log | in_chain
}

it_reads_what_perf_writes_to_a_pipe() {
	needs perf
	perf_record -q -e cpu-clock -F 999 -g -o - \
		"$(program_as framed chain -fno-omit-frame-pointer)" 300 2>perf.log |
		"$bobbin" script -F comm,tid,ip,sym --no-inline -i - | in_chain
	perf_record -q -e cpu-clock -F 999 --call-graph dwarf,8192 -o - "$(program chain)" 300 2>perf.log |
		"$bobbin" script -F comm,tid,ip,sym --no-inline -i - | in_chain
}

it_knows_named_pipes_and_standard_input() {
	file=$(program chain)
	mkfifo pipe
	"$bobbin" record -q -o pipe "$file" 200 &
	"$bobbin" script -F comm,tid,ip,sym --no-inline -i pipe | in_chain
	wait $! || fail "exit status $?"
	# a file's form, too, by whatever way it comes
	record "$file" 200
	"$bobbin" script -F comm,tid,ip,sym --no-inline -i - <perf.data | in_chain
	cat perf.data | "$bobbin" script -F comm,tid,ip,sym --no-inline -i - | in_chain
	cat perf.data >pipe &
	quietly "$bobbin" report -i pipe
}

it_knows_process_substitution() {
	needs bash
	file=$(program chain)
	bash -c '"$1" report -i <("$1" record -q -o - "$2" 200)' sh "$bobbin" "$file" >out
	grep -q '^# Stacks: 100.00 % of ' out
	bash -c '"$1" record -q -o >("$1" script -i - >script.out; touch done) "$2" 200' sh "$bobbin" "$file"
	eventually [ -e done ]
	some ' spin+0x' 50 <script.out
}

it_leaves_the_pipe_to_the_recording() {
	"$bobbin" record -q -o - sh -c "echo aside; exec $(program chain) 100" 2>err | "$bobbin" script -i - >out
	grep -q -x aside err
	none aside <out
	"$bobbin" record -q -o /dev/stdout sh -c "echo aside; exec $(program chain) 100" 2>err |
		"$bobbin" report -i - >out
	grep -q -x aside err
}

# The reader sees samples while the program runs.
it_streams() {
	needs perf
	mkfifo pipe
	spawn "$bobbin" record -q -o pipe "$(program chain)" 60000
	recorder=$pid
	head -c 20000 pipe >some
	! gone "$recorder" || fail "it has ended"
	[ "$(stat -c %s some)" -eq 20000 ]
	quietly sh -c '"$1" script -q -i - <some' sh "$bobbin"
	some ' spin+0x' 10 <out
}

it_lets_the_program_run_on_when_nobody_reads() {
	file=$(program chain)
	{
		status=0
		"$bobbin" record -o - sh -c '"$1" 1500; touch ended; exit 3' sh "$file" 2>err || status=$?
		echo $status >status
	} | head -c 100 >start
	[ -e ended ] || fail "the program was ended"
	[ "$(cat status)" -eq 3 ]
	grep -q '^bobbin: -: nobody reads it any more: no more is recorded after' err
}

# writes PID: it is in write(2)
writes() {
	grep -q '^1 ' "/proc/$1/syscall"
}

it_can_be_ended_when_its_reader_has_stopped_reading() {
	mkfifo pipe
	spawn sh -c 'exec sleep 1000 <pipe'
	spawn "$bobbin" record -F 4999 -o pipe -- "$(program chain)" 600000 2>err
	for _ in 1 2 3; do
		eventually writes "$pid"
		sleep 0.2
	done
	kill -TERM "$pid"
	eventually gone "$pid"
	grep -q 'its reader has stopped reading' err || fail "$(cat err)"
}

it_refuses_what_is_no_recording_at_once() {
	status=0
	yes | timeout 20 "$bobbin" report -i - 2>err || status=$?
	[ $status -eq 1 ]
	complains '^bobbin: -: offset 0x0: not a perf.data file$'
	: | expect 1 "$bobbin" report -i -
	complains '^bobbin: -: '
}

it_says_that_the_end_of_a_stream_is_missing() {
	"$bobbin" record -q -o - "$(program chain)" 300 | head -c 30001 >cut
	"$bobbin" script -i - <cut >out 2>err
	complains 'the recording was cut off'
	some ' spin+0x' 50 <out
}

run_cases
