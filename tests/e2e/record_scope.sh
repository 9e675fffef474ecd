#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Parts of the machine: CPUs, cgroups, what a user runs.
# shellcheck disable=SC2086 # options are words
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cgroup_folders.sh"

"$bobbin" record -q -a -o /dev/null true 2>"$work/denied" || {
	echo "1..0 # skip $(cat "$work/denied")"
	exit 77
}

# samples_in_parts OPTION…: a second of everything in the scope
samples_in_parts() {
	expect 0 "$bobbin" record "$@" sleep 1
	"$bobbin" script -F comm,cpu | awk 'NF { print $1, $NF }' >parts
}

# runs PID NAME: a recorder has opened its events, and the command has begun
runs() {
	grep -q -x "$2" "/proc/$(child_of "$1")/comm"
}

# start_recording OPTION…: of what happens until stop_recording
start_recording() {
	[ -p stop ] || mkfifo stop
	spawn "$bobbin" record "$@" cat stop 2>err
	recorder=$pid
	eventually runs "$recorder" cat
}

# stop_recording: the samples are in ./parts
stop_recording() {
	: >stop
	wait "$recorder" || fail "exit status $? of the recorder: $(cat err)"
	"$bobbin" script -F comm,cpu | awk 'NF { print $1, $NF }' >parts
}

# only PATTERN: all lines of parts have it
only() {
	! grep -v -e "$1" parts | sort | uniq -c | grep . || fail "not '$1'"
}

two_cpus() {
	[ "$(nproc)" -ge 2 ] || skip "one CPU"
	needs taskset
}

it_samples_everything_on_some_cpus() {
	others=1
	two_cpus
	spawn taskset -c 0 "$(program_as one chain)" 60000
	spawn taskset -c 1 "$(program_as two chain)" 60000
	for cpu in 0 1; do
		samples_in_parts -C $cpu
		only " \[00$cpu\]$"
		[ $cpu -eq 0 ] && there=one || there=two
		some "^$there " 20 <parts
	done
	samples_in_parts -C 0-1
	some '^one \[000\]$' 20 <parts
	some '^two \[001\]$' 20 <parts
	"$bobbin" script -F comm,ip,sym --no-inline >stacks
	grep -q " main+" stacks
}

# What is mapped on one CPU and runs on another has its stacks
it_hears_of_code_that_is_mapped_on_other_cpus() {
	others=1
	two_cpus
	cat >moving.py <<-'END'
		import os, sys, ctypes
		os.sched_setaffinity(0, {0})
		there = ctypes.CDLL(sys.argv[1])
		os.sched_setaffinity(0, {1})
		there.spin_for(700)
	END
	cat >there.c <<-'END'
		#include <time.h>
		void spin_for(int ms) { clock_t end = clock() + ms * 1000L; while (clock() < end) ; }
	END
	gcc -O2 -shared -fPIC -o there.so there.c
	expect 0 "$bobbin" record --no-bpf --stack-size 2048 -C 1 -- python3 moving.py "$PWD/there.so"
	"$bobbin" script -F comm,tid,ip,sym,dso --no-inline | awk '/^python3/, !NF' >stacks
	[ "$(grep -c " spin_for+" stacks)" -ge 200 ] || fail "few: $(cat err)"
}

it_samples_a_process_on_some_cpus() {
	two_cpus
	spawn taskset -c 0 "$(program_as one chain)" 3000
	one=$pid
	spawn taskset -c 1 "$(program_as two chain)" 3000
	eventually grep -x one "/proc/$one/comm"
	eventually grep -x two "/proc/$pid/comm"
	expect 0 "$bobbin" record -C 1 -p "$one,$pid"
	"$bobbin" script -F comm,cpu | awk 'NF { print $1, $NF }' >parts
	some '^two \[001\]$' 200 <parts
	only '^two \[001\]$'
}

it_refuses_what_is_no_list_of_cpus() {
	for list in '' , 0, ,0 0,x 1-0 -1 0- 0--1 99999999999999999999; do
		expect 2 "$bobbin" record -C "$list" true
		complains "^bobbin record: -C: "
	done
	expect 2 "$bobbin" record -C 8191 true
	complains "^bobbin record: -C: this machine has no CPU 8191$"
}

it_samples_what_is_in_a_cgroup() {
	cgroup_mount in
	mkdir "$mount/$group/below" "$mount/$group/other"
	spawn_in "$group" "$(program_as one chain)" 60000
	spawn_in "$group/below" "$(program_as two chain)" 60000
	spawn_in "$group/other" "$(program_as three chain)" 60000
	spawn "$(program_as four chain)" 60000
	works_on "$pid"
	samples_in_parts --cgroup "$group"
	for name in one two three; do
		some "^$name " 20 <parts
	done
	none '^four ' <parts
	reasons | mostly 99 '^OUTERMOST$'
	samples_in_parts -G "$mount/$group/other,$group/below"
	some '^two ' 20 <parts
	some '^three ' 20 <parts
	only '^t'
}

# count_events OPTION…: how many a recorder has, to $events
count_events() {
	start_recording "$@" -o /dev/null
	events=$(samples "$recorder" | wc -l)
	kill -INT "$recorder"
}

it_samples_nothing_twice() {
	cgroup_mount twice
	mkdir "$mount/$group/below" "$mount/$group/belowest"
	count_events -G "$group"
	one=$events
	[ "$one" -gt 0 ]
	count_events -G "$group/below,$group,$group/below/"
	[ "$events" -eq "$one" ]
	count_events -G "$group/below,$group/belowest"
	[ "$events" -gt "$one" ]
	two=$events
	count_events -G "$group/below" --cgroup "$group/belowest"
	[ "$events" -eq "$two" ]
}

it_samples_what_enters_a_cgroup() {
	cgroup_mount enters
	spawn "$(program chain)" 60000
	chain=$pid
	works_on "$chain"
	start_recording --cgroup "$group"
	echo "$chain" >"$mount/$group/cgroup.procs"
	works_on "$chain"
	stop_recording
	some '^chain ' 20 <parts
	reasons | mostly 95 '^OUTERMOST$'
}

it_refuses_cgroups_that_are_not_there() {
	for name in no-such-group ../../../etc 'no such,group'; do
		expect 1 "$bobbin" record --cgroup "$name" true
		complains "^bobbin: cgroup '${name%,*}': no such folder below /\|no cgroups are mounted"
	done
	for list in '' , x, ,x x,,y; do
		expect 2 "$bobbin" record -G "$list" true
		complains "^bobbin record: -G: '$list' is not a list of cgroups$"
	done
	expect 2 "$bobbin" record --cgroup x -p 1
	grep -q '^bobbin record: --cgroup and -p or -t exclude each other$' err
}

# as_user USER COMMAND…: in the background
as_user() {
	user=$1
	shift
	spawn setpriv --reuid "$user" --clear-groups "$@"
}

# samples_of_user [OPTION…]: of user 54321
samples_of_user() {
	needs setpriv
	needs_root
	as_user 54321 "$(program_as one chain)" 60000
	one=$pid
	as_user 54322 "$(program_as two chain)" 60000
	spawn "$(program_as three chain)" 60000
	works_on "$pid"
	start_recording "$@"
	as_user 54321 "$(program_as four chain)" 60000
	four=$pid
	# one that gives up what it was for others is its user's from then on
	"$(program_as five chain)" 10
	as_user 54322 "$(program_as six chain)" 60000
	for working in "$pid" "$four" "$one"; do
		works_on "$working"
	done
	stop_recording
	some '^one ' 20 <parts
	some '^four ' 20 <parts
	# what runs as root until it is the user's
	! grep -v -e '^one ' -e '^four ' -e '^record_scope' -e '^setsid ' -e '^setpriv ' parts | sort | uniq -c | grep . || fail "others"
}

it_samples_what_a_user_runs() {
	samples_of_user --no-bpf --user 54321
	reasons | mostly 98 '^OUTERMOST$'
}

it_samples_what_a_user_runs_by_walks_in_the_kernel() {
	"$bobbin" record -q --bpf -o /dev/null true 2>err || skip "$(cat err)"
	samples_of_user --bpf -u 54321
	reasons | mostly 98 '^OUTERMOST$'
	samples_of_user --bpf --also-copy --uid 54321
	grep -q ': 0 differ$' err
}

it_refuses_users_that_are_not_there() {
	for user in '' no-such-user 4294967295 -1 '1 '; do
		expect 2 "$bobbin" record --user "$user" true
		complains "^bobbin record: --user: "
	done
	expect 2 "$bobbin" record --user root -p 1
	grep -q '^bobbin record: --user and -p or -t exclude each other$' err
}

run_cases
