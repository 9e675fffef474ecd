#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Where threads wait, and for how long: compared with what they measure themselves.
. "$(dirname "$0")/lib.sh"

# time_in EVENT FUNCTION: nanoseconds of the event's samples that have it
time_in() {
	"$bobbin" script -F comm,tid,event,sym --no-inline | awk -v event="$1" -v name="$2" '
		BEGIN { RS = "" }
		index($0, " " event ": ") && $0 ~ "[ \t]" name "\\+" {
			match($0, /[0-9]+ [^ ]+: /)
			sum += substr($0, RSTART, RLENGTH) + 0
		}
		END { printf "%.0f\n", sum }'
}

# measured FUNCTION: the program says how long its calls took, and how much CPU time they used
measured() {
	read -r wall cpu <<-END
		$(sed -n "s/^$1 //p" out)
	END
	[ "$wall" -gt 0 ]
}

# waited FUNCTION [OPTION…]: what is recorded is what was measured, but for the time it ran
waited() {
	measured "$1"
	waits=$(time_in offcpu-time "$1") preempted=$(time_in preempted-time "$1")
	[ $((waits + preempted)) -le "$wall" ] || fail "$1: $waits + $preempted of $wall ns"
	# a millisecond for what the clocks say of switches
	[ $((waits + preempted + 1000000)) -ge $(((wall - cpu) * 95 / 100)) ] ||
		fail "$1: only $waits + $preempted of $wall ns, $cpu of which it ran"
}

# watch MODE [OPTION…]: record waits.c, with each wait that there is
watch() {
	program=$(program waits -D_GNU_SOURCE) mode=$1
	shift
	# a machine that does much else may have no time to read all of them
	for _ in 1 2 3 4; do
		expect 0 "$bobbin" record --off-cpu --off-cpu-thresh 0 "$@" -- "$program" "$mode"
		grep -q ', 0 records lost; ' err && return
	done
	fail "records were lost: $(cat err)"
}

it_finds_where_a_program_sleeps() {
	needs_root
	watch sleep
	waited sleeps_long
	[ "$waits" -ge 300000000 ]
	waited sleeps_often
	[ "$waits" -ge 200000000 ]
	"$bobbin" script -F event,ip,sym | grep -A 20 'offcpu-time' | grep -q ' do_nanosleep+'
}

it_finds_threads_that_wait_for_each_other() {
	needs_root
	watch pipe
	waited waits_for_question
	waited waits_for_answer
	watch lock
	waited waits_for_lock
	[ "$waits" -ge 200000000 ]
}

# timers_wake CPU: timers end sleeps there; other programs may wake up more threads than can be recorded
timers_wake() {
	expect 0 "$bobbin" record --off-cpu --wakers -F 49 -- taskset -c "$1" "$program" sleep
	[ "$(time_in offcpu-waker hrtimer_wakeup)" -ge 250000000 ]
}

it_says_who_ends_waits() {
	needs_root
	program=$(program waits -D_GNU_SOURCE)
	expect 0 "$bobbin" record --off-cpu --wakers -F 49 -- "$program" lock
	waits=$(time_in offcpu-time waits_for_lock)
	[ "$waits" -gt 0 ]
	woken=$(time_in offcpu-waker gives_lock_back)
	# the machine may do more than can be recorded
	[ "$woken" -ge $((waits / 2)) ] || fail "$woken of $waits ns"
	[ "$(time_in offcpu-waker waits_for_lock)" -eq 0 ]
	# in some virtual machines nothing is sampled in the idle loop of CPUs other than the first
	timers_wake 0 || timers_wake 1 || timers_wake 0 || fail "$(cat err)"
	"$bobbin" script --event offcpu-waker -F comm,tid,ip,sym --no-inline | none ' sleeps_'
	expect 2 "$bobbin" record --wakers true
	grep -q 'needs --off-cpu' err
}

# a shell wakes the program up, and then as another program: bash
it_describes_wakers_that_are_not_sampled() {
	needs_root
	needs bash
	mkfifo fifo
	spawn cat fifo
	target=$pid
	spawn sh -c '
		exec >fifo
		while ! [ -e "$0" ]; do echo; sleep 0.02; done
		exec bash -c "while echo; do sleep 0.02; done"' change
	spawn "$bobbin" record --off-cpu --wakers -p "$target"
	recorder=$pid
	# what it is, is asked when the first of its records is read, and told in the file
	eventually sh -c "grep -a -q '/dash\|/sh' .perf.data.*"
	touch change
	eventually sh -c "grep -a -q /bash .perf.data.*"
	sleep 0.5
	kill -INT "$recorder"
	wait "$recorder" || fail "exit status $? of the recorder"
	"$bobbin" script --event offcpu-waker -F comm,tid,event,ip,sym,dso --no-inline >wakers
	grep -q '/dash)\|/sh)' wakers
	grep -q '/bash)' wakers
}

it_refuses_a_threshold_of_nothing() {
	expect 2 "$bobbin" record --off-cpu-thresh 5 true
	grep -q 'off-cpu-thresh needs --off-cpu' err
}

it_finds_waits_whatever_part_is_sampled() {
	needs_root
	watch sleep -e cpu-clock:u
	waited sleeps_long
	"$bobbin" script -F event,ip,sym | grep -A 20 'offcpu-time' | grep -q ' do_nanosleep+'
	watch sleep -e cpu-clock:k
	waited sleeps_often
}

it_tells_preempted_threads_from_waiting_ones() {
	needs_root
	watch share
	waited computes
	# each has a CPU only while the other has none
	[ "$preempted" -ge 300000000 ]
	[ "$waits" -le $((preempted / 10)) ]
}

it_says_how_much_short_waits_are() {
	needs_root
	program=$(program waits -D_GNU_SOURCE)
	expect 0 "$bobbin" record --off-cpu --off-cpu-thresh 200 -- "$program" sleep
	measured sleeps_long
	[ "$(time_in offcpu-time sleeps_long)" -ge 300000000 ]
	grep -q '^ *[1-9][0-9]* shorter ones are left out, [0-9.]* s$' err
	"$bobbin" script -F event | awk '/offcpu-time|preempted-time/ && $1 < 200000000' | none .
}

# record_running MODE TARGET…: waits.c, which runs already; it stops and goes on once meanwhile
record_running() {
	spawn "$(program waits -D_GNU_SOURCE)" "$1"
	target=$pid
	shift
	eventually grep -q 'pause\|nanosleep' "/proc/$target/wchan"
	spawn "$bobbin" record --off-cpu "$@" "$target"
	recorder=$pid
	# the file comes after the events
	eventually sh -c 'ls .perf.data.*'
	kill -STOP "$target"
	kill -CONT "$target"
	sleep 0.3
	kill -INT "$recorder"
	wait "$recorder" || fail "exit status $? of the recorder"
}

it_counts_threads_that_still_wait() {
	needs_root
	record_running forever -p
	[ "$(time_in offcpu-time waits_forever)" -ge 250000000 ]
}

it_records_threads_and_everybody() {
	needs_root
	others=1
	record_running again -p
	[ "$(time_in offcpu-time sleeps_often)" -gt 0 ]
	record_running again -t
	[ "$(time_in offcpu-time sleeps_often)" -gt 0 ]
	expect 0 "$bobbin" record --off-cpu -a -F 49 -- "$(program waits -D_GNU_SOURCE)" sleep
	# the machine may do more than can be recorded
	[ "$(time_in offcpu-time 'sleeps_[a-z]*')" -gt 0 ]
}

# the machine may do more than can be recorded, and the ends of processes are lost, too; stacks,
# of which nothing is asked, take most of the room
record_short_ones() {
	expect 0 "$bobbin" record -a --off-cpu --off-cpu-thresh 0 -F 49 --stack-size 256 -- sh -c '
		for i in $(seq 100); do sh -c "echo \$\$; $(command -v env) true; :"; done
		sleep 2'
	grep -q ', 0 records lost; ' err
}

# each leaves its CPU for good after its end is told of
it_leaves_ended_processes_alone() {
	needs_root
	others=1
	record_short_ones || record_short_ones || record_short_ones || record_short_ones || fail "$(cat err)"
	"$bobbin" script -F tid,event | awk '
		FNR == NR { ended[$1]; next }
		$1 in ended && $3 == "offcpu-time:" { print $2 }' out - >waits
	grep -q . waits
	# as long as the recording went on
	awk '$1 >= 2000000000' waits | none .
}

# Of events that several recorders have the kernel says the number of the first one to all.
it_knows_its_waits_beside_other_recorders() {
	needs_root
	others=1
	program=$(program waits -D_GNU_SOURCE)
	for one in 1 2 3; do
		spawn "$bobbin" record -q -a --off-cpu --wakers -F 49 --stack-size 1024 -o "all.$one" -- \
			sh -c 'echo >"$1"; while [ ! -e go ]; do sleep 0.01; done; "$2" sleep; "$2" lock' \
			sh "ready.$one" "$program" >"said.$one"
		eval "recorder$one=\$pid"
	done
	eventually [ -e ready.1 -a -e ready.2 -a -e ready.3 ]
	touch go
	wait "$recorder1" && wait "$recorder2" && wait "$recorder3"
	for one in 1 2 3; do
		mv "all.$one" perf.data
		# recorders of everything lose some where the machine is busy
		least=100000000
		! "$bobbin" script -F tid 2>&1 >/dev/null | grep -q ' records were lost ' || least=1
		[ "$(time_in offcpu-time sleeps_often)" -ge $least ] || fail "no waits in the $one. recording"
		[ "$(time_in offcpu-waker gives_lock_back)" -ge $least ] ||
			fail "no wakers in the $one. recording"
	done
}

it_records_one_user() {
	needs_root
	needs setpriv
	program=$(program waits -D_GNU_SOURCE)
	chmod 755 . "$(dirname "$program")"
	for how in --bpf --no-bpf; do
		expect 0 "$bobbin" record --user 54322 --off-cpu "$how" -F 49 -- sh -c "
			$program sleep
			setpriv --reuid 54322 --clear-groups $program lock"
		[ "$(time_in offcpu-time waits_for_lock)" -gt 0 ]
		[ "$(time_in offcpu-time 'sleeps_[a-z]*')" -eq 0 ]
	done
}

it_is_refused_where_the_kernel_may_not_be_seen() {
	needs_root
	needs setpriv
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ] || skip "everybody may see the kernel"
	chmod 777 .
	expect 1 setpriv --reuid 65534 --clear-groups "$bobbin" record --off-cpu true
	complains 'off-cpu' 'perf_event_paranoid'
}

it_refuses_wakers_in_a_namespace() {
	needs_root
	needs unshare
	expect 1 unshare --pid --fork --mount-proc "$bobbin" record --off-cpu --wakers true
	complains wakers namespace
}

it_shows_each_event() {
	needs_root
	program=$(program waits -D_GNU_SOURCE)
	expect 0 "$bobbin" record --off-cpu -- sh -c "$program share; $program sleep"
	quietly "$bobbin" report -g none --no-children
	grep "^# Samples: [1-9]" out | grep -q "of event 'offcpu-time'"
	grep "^# Samples: [1-9]" out | grep -q "of event '[a-z]*-*c[a-z]*'"
	quietly "$bobbin" report -g none --event offcpu-time
	[ "$(grep -c '^# Samples: ' out)" -eq 1 ]
	grep -q ' sleeps_long$' out
	# by their time, not by their number
	quietly "$bobbin" flamegraph --folded --event offcpu-time
	[ "$(awk '/;sleeps_long;/ { sum += $NF } END { printf "%.0f", sum }' out)" -ge 300000000 ]
	expect 0 "$bobbin" flamegraph --folded
	grep -q "samples of the event 'offcpu-time' are not shown" err
	"$bobbin" script --event offcpu-time -F event | grep -v offcpu-time | none '[a-z]'
	expect 1 "$bobbin" report --event nothing
	complains "no samples of an event 'nothing'"
}

it_is_read_by_perf() {
	needs_root
	needs perf
	watch sleep
	perf report --stdio --no-children -g none -s sym 2>/dev/null >shown
	grep -q "of event 'offcpu-time'" shown
	waits=$(perf script -F event,period 2>/dev/null | awk '/offcpu-time/ { s += $1 } END { print s }')
	[ "$waits" -ge 500000000 ]
}

run_cases
