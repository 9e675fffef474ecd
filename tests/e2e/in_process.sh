#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs are sampled by timers of their own threads, where the kernel permits nothing.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/go_programs.sh"
. "$(dirname "$0")/postgres.sh"

# inside ARGUMENT…: record by the program's own timers; it succeeds
inside() {
	record --in-process "$@"
}

# cpu_ms [OPTION…]: the weight of all samples of perf.data, in milliseconds of CPU time
cpu_ms() {
	"$bobbin" script -f -F tid,period "$@" | awk '{ sum += $2 } END { printf "%d\n", sum / 1e6 }'
}

# weighs LEAST MOST [OPTION…]: so many milliseconds
weighs() {
	least=$1 most=$2
	shift 2
	found=$(cpu_ms "$@")
	[ "$found" -ge "$least" ] && [ "$found" -le "$most" ] || fail "$found ms, not $least to $most"
}

it_needs_no_perf_events() {
	library=$(program_as denied.so denied -shared -fPIC)
	expect 0 env LD_PRELOAD="$library" "$bobbin" record --in-process "$(program chain)" 1000
	stacks | mostly 90 '^chain: spin c b a main __libc_start_call_main'
	complete
	weighs 950 1100
	"$bobbin" script -F event | mostly 100 'task-clock: $'
	"$bobbin" report -q --stdio >out
	grep -q '\[\.\] spin$' out
	"$bobbin" flamegraph --folded | grep -q '^chain;_start;.*;a;b;c;spin '
	"$bobbin" export --format pprof -o profile.pb.gz
	[ -s profile.pb.gz ]
}

# As in a container: no capability, no permission, and a filter of system calls.
it_samples_where_nothing_is_permitted() {
	copy_for_all
	refused=$(program refused)
	# shellcheck disable=SC2086 # a list of words
	expect 1 "$refused" $as_nobody "$copied" record "$(program chain)" 500
	complains 'no permission to sample' '--in-process needs none$'
	# shellcheck disable=SC2086
	expect 0 "$refused" $as_nobody "$copied" record --in-process "$(program chain)" 1000
	stacks | mostly 90 '^chain: spin c b a main __libc_start_call_main'
	complete
	# shellcheck disable=SC2086
	expect 1 "$refused" $as_nobody "$copied" doctor
	grep -q '^no   own processes' out
	grep -q '^yes  from inside' out
}

it_samples_each_thread() {
	inside "$(program threads)" 1000
	stacks | some ' spin first start_thread ' 50
	stacks | some ' spin second start_thread ' 50
	stacks | some ' spin in_main main ' 50
	complete
	weighs 2800 3300
}

it_samples_threads_that_block_signals_and_leaves_the_program_its_own() {
	inside "$(program masked)" 700
	stacks | some ' spin blocking start_thread ' 40
	stacks | some ' spin waiting start_thread ' 40
	stacks | some ' spin main ' 40
	weighs 1950 2500
}

it_samples_children_and_what_they_become() {
	inside "$(program family)" 700 "$(program chain)"
	stacks | some '^family: spin in_parent main ' 40
	stacks | some '^family: spin in_child main ' 40
	stacks | some '^family: spin in_next main ' 40
	stacks | some '^chain: spin c b a main ' 40
	complete
}

it_samples_what_shells_start() {
	inside sh -c '"$1" 300; "$1" 300 & "$1" 300; wait' sh "$(program chain)"
	"$bobbin" script -F comm,pid | sort -u | grep -c '^chain ' >count
	[ "$(cat count)" -eq 3 ] || fail "$(cat count) processes, not 3"
	weighs 800 1100 --comm chain
}

it_learns_of_libraries_that_are_loaded_later() {
	plugin=$(program_as plugin.so plugin -shared -fPIC)
	inside "$(program loader)" 1000 "$plugin"
	frames | some '^plugin_work (.*plugin.so) \[.eh_frame\]' 50
	complete
}

it_takes_as_many_samples_as_asked_for() {
	inside -F 50 "$(program chain)" 2000
	weighs 1800 2200
	samples=$("$bobbin" script -F tid | wc -l)
	[ "$samples" -ge 85 ] && [ "$samples" -le 115 ] || fail "$samples samples, not 100"
}

# At most so many are kept for a recorder that does not run.
it_counts_what_is_lost() {
	mkfifo go
	spawn "$bobbin" record --in-process -o - -F 999 sh -c 'read -r _ <go; "$1" 3000; echo >done' sh "$(program chain)" >perf.data 2>err
	# before it is the command, it waits for the recorder
	eventually pgrep -P "$pid" -x sh
	kill -STOP "$pid"
	echo >go
	eventually [ -e done ]
	kill -CONT "$pid"
	wait "$pid" || fail "exit status $?"
	grep -q ' [1-9][0-9]* records lost' err || fail "$(cat err)"
	"$bobbin" report -q --stdio >out
	grep -q '\[\.\] spin$' out
}

it_says_what_cannot_be_preloaded() {
	expect 1 "$bobbin" record --in-process "$(program_as static chain -static)" 100
	grep -q '^bobbin[a-z ]*: no program of the command has loaded .*linked statically' err
}

it_refuses_what_only_the_kernel_can_do() {
	for option in '-p 1' -a '-C 0' '-e page-faults' '-c 5' --bpf --off-cpu '--call-graph fp,defer'; do
		# shellcheck disable=SC2086 # with its value
		expect 2 "$bobbin" record --in-process $option true
		grep -q -e '--in-process samples the CPU time of a command' err
		[ ! -e perf.data ]
	done
}

it_leaves_the_exit_status_and_the_output_alone() {
	expect 7 "$bobbin" record --in-process -q sh -c 'echo said; exit 7'
	[ "$(cat out)" = said ]
	[ ! -s err ] || fail "$(cat err)"
}

it_walks_python() {
	needs python3
	inside python3 -c '
import json, re, time
end = time.process_time() + 1
while time.process_time() < end:
    json.loads(json.dumps({"a": [1, 2, 3] * 100}))
    re.sub("x", "y", "x" * 1000)'
	complete
}

# complete_of PROGRAM [SHARE]: so many hundredths (99) of its own stacks are complete, and there are some
complete_of() {
	reasons --comm "$1" | sort | uniq -c | sort -rn >reasons_of
	awk -v name="$1" -v share="${2:-99}" '{ sum += $1; if ($2 == "OUTERMOST") good = $1 }
		END { printf "%s: %d of %d stacks complete\n", name, good, sum; exit sum < 100 || 100 * good < share * sum }' reasons_of ||
		fail "$(cat reasons_of)"
}

it_walks_redis() {
	needs redis-server redis-cli redis-benchmark
	inside sh -c 'redis-server --port 0 --unixsocket ./s --save "" --appendonly no >server.out & server=$!
		until redis-cli -s ./s ping; do sleep 0.1; done >/dev/null 2>&1
		redis-benchmark -s ./s -n 160000 -t set,get,lpush,lrange_100 -q >benchmark.out
		kill $server
		wait $server'
	complete_of redis-server
	complete_of redis-benchmark
}

# the first ones come before the mappings are known that its code is made in
it_walks_node() {
	needs node
	inside node "$sources/node_work.js" 80000
	complete_of node 97
}

it_walks_postgres() {
	copy_for_all
	postgres_by "$copied" record --in-process -F 999
	complete_of postgres
}

it_walks_a_service_with_200_threads() {
	needs g++
	g++ -O2 -std=c++17 -pthread -o service "$sources/service.cc"
	inside ./service 3000
	complete_of service
	[ "$("$bobbin" script -F tid | sort -u | wc -l)" -gt 100 ] || fail "few threads"
}

# C, collector and allocator are on the stacks of threads, and handlers of signals on others
it_walks_go_that_calls_c() {
	each_calls_c 3000 inside
	stacks | grep ' runtime.systemstack' | mostly 95 ' runtime.systemstack.* \(runtime.goexit\|runtime.mstart\)'
}

run_cases
