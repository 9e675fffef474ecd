#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What programs allocate is sampled by its bytes, and what they do not free.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/go_programs.sh"
. "$(dirname "$0")/postgres.sh"

# heap ARGUMENT…: it succeeds; what it said is in ./err
heap() {
	expect 0 "$bobbin" heap "$@"
	grep -q ' 0 records lost; ' err || fail "$(cat err)"
}

# mib EVENT [OPTION…]: what was allocated, in MiB
mib() {
	event=$1
	shift
	"$bobbin" script -f -F tid,period,ip,sym --no-inline --event "$event" "$@" |
		awk '/^ *[0-9]+ +[0-9]+/ { sum += $2 } END { printf "%d\n", sum / 1048576 }'
}

# weighs LEAST MOST EVENT [OPTION…]: so many MiB
weighs() {
	least=$1 most=$2
	shift 2
	found=$(mib "$@")
	[ "$found" -ge "$least" ] && [ "$found" -le "$most" ] || fail "$* $found MiB, not $least to $most"
}

# With 1,600 samples and more of each, sums differ by a 40th, once in two thirds of all runs.
it_weighs_blocks_of_any_size_alike() {
	heap --sample-bytes 65536 "$(program blocks)" sizes
	for size in small_ones middle_ones large_ones; do
		weighs 85 115 allocated-bytes --sym $size
		weighs 40 60 live-bytes --sym $size
	done
	complete
	grep -q '^ *\(29\|30\|31\)[0-9]\.[0-9] MiB were allocated$' err
	grep -q '^ *1[3-6][0-9]\.[0-9] MiB of them were not freed$' err
}

it_samples_all_functions_that_allocate() {
	heap --sample-bytes 8192 "$(program blocks)" calls
	weighs 8 12 live-bytes --sym by_calloc
	# what is grown is allocated again
	weighs 8 12 allocated-bytes --sym by_realloc
	weighs 5 9 live-bytes --sym by_realloc
	weighs 8 12 live-bytes --sym by_alignment
	complete
}

it_begins_stacks_at_the_caller() {
	heap --sample-bytes 8192 "$(program blocks)" calls
	stacks --event allocated-bytes | none '^blocks: \(malloc\|calloc\|realloc\|slow_\|sampled\)'
	stacks --event allocated-bytes | some '^blocks: by_calloc main __libc_start_call_main ' 100
	"$bobbin" script -F event | awk "NF { print \$NF }" | sort -u >events
	[ "$(wc -l <events)" -eq 2 ] || fail "$(cat events)"
}

it_samples_each_thread() {
	heap --sample-bytes 65536 "$(program blocks)" threads
	weighs 180 220 live-bytes --sym in_thread
	threads=$("$bobbin" script -F tid --event allocated-bytes --sym in_thread | grep -o '^ *[0-9]*' | sort -u | wc -l)
	[ "$threads" -eq 20 ] || fail "$threads threads"
	complete
}

it_knows_whose_the_blocks_are_after_fork_and_exec() {
	heap --sample-bytes 16384 "$(program blocks)" fork "$(program blocks)" calls
	weighs 8 12 live-bytes --sym before_fork
	# at exec they are as they are at the end
	weighs 18 22 live-bytes --sym in_child
	weighs 8 12 live-bytes --sym by_calloc
	complete
}

it_samples_cpp() {
	needs g++
	cat >new.cc <<-'END'
		#include <cstring>
		struct block { char bytes[1000]; };
		#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")
		__attribute__((noipa)) block *kept() { auto b = new block; NO_TAIL_CALL(); return b; }
		__attribute__((noipa)) char *array() { auto a = new char[5000]; NO_TAIL_CALL(); return a; }
		int main()
		{
			for (int i = 0; i < 20000; i++) {
				block *b = kept();
				std::memset(b, 1, sizeof(*b));
				if (i % 2)
					delete b;
				delete[] array();
			}
		}
	END
	g++ -O2 -fomit-frame-pointer -fno-builtin -o new new.cc
	heap --sample-bytes 16384 ./new
	weighs 17 21 allocated-bytes --sym 'kept*'
	weighs 8 11 live-bytes --sym 'kept*'
	weighs 85 106 allocated-bytes --sym 'array*'
	weighs 0 0 live-bytes --sym 'array*'
	complete
}

it_adds_what_lives_when_it_is_asked() {
	spawn "$bobbin" heap --sample-bytes 4096 "$(program blocks)" wait 2>err
	eventually [ -e ready ]
	kill -USR1 "$pid"
	eventually sh -c '"$0" script -i .perf.data.* -F tid --event dumped-bytes 2>&1 | grep .' "$bobbin"
	echo >go
	wait "$pid" || fail "exit status $?"
	weighs 9 11 dumped-bytes --sym waiting
	weighs 9 11 allocated-bytes --sym waiting
	weighs 0 0 live-bytes --sym waiting
	grep -q '^ *1 times what was not freed then was added' err
}

it_stands_a_storm() {
	for _ in 1 2 3; do
		heap --sample-bytes 65536 "$(program blocks)" storm
		weighs 0 0 live-bytes --sym storm_thread
	done
}

it_writes_bytes_for_other_viewers() {
	heap --sample-bytes 65536 "$(program blocks)" calls
	quietly "$bobbin" export -o out.speedscope.json
	grep -q '"unit": *"bytes"' out.speedscope.json
	quietly "$bobbin" flamegraph --event live-bytes
	grep -q '</svg>' out
	grep -q 'by_calloc' out
	"$bobbin" flamegraph --event live-bytes --folded | grep -q '^blocks;_start;.*;main;by_calloc [0-9]*$'
	quietly "$bobbin" export -o heap.pb.gz
	zcat heap.pb.gz | grep -q -a bytes
}

it_says_what_cannot_be_preloaded() {
	expect 1 "$bobbin" heap "$(program_as static chain -static)" 10
	grep -q '^bobbin[a-z ]*: no program of the command has loaded .*libbobbin-heap.so' err
}

it_leaves_the_exit_status_and_the_output_alone() {
	expect 7 "$bobbin" heap -q sh -c 'echo said; exit 7'
	[ "$(cat out)" = said ]
	[ ! -s err ] || fail "$(cat err)"
	expect 2 "$bobbin" heap --sample-bytes 0 true
}

it_walks_python() {
	needs python3
	heap --sample-bytes 8192 python3 -c 'import json; x = [json.dumps(list(range(1000))) for _ in range(300)]'
	complete
}

it_walks_node() {
	needs node
	heap --sample-bytes 131072 node "$sources/node_work.js" 40000
	reasons | mostly 97 OUTERMOST
}

it_samples_redis() {
	needs redis-server redis-cli
	spawn "$bobbin" heap --sample-bytes 16384 redis-server --port 0 --unixsocket "$PWD/s" --save '' \
		--daemonize no >log 2>err
	eventually redis-cli -s s ping
	awk 'BEGIN { for (i = 0; i < 20000; i++) printf "SET key%d %0512d\n", i, i }' | redis-cli -s s >replies
	[ "$(grep -c '^OK' replies)" -eq 20000 ]
	redis-cli -s s shutdown nosave
	wait "$pid" || fail "exit status $?: $(cat err)"
	# 20,000 values of 512 bytes, beside their keys and the table
	weighs 9 60 live-bytes
	complete
}

it_samples_postgres() {
	copy_for_all
	postgres_by "$copied" heap
	complete
}

it_samples_a_service_with_200_threads() {
	needs g++
	g++ -O2 -std=c++17 -pthread -o service "$sources/service.cc"
	heap --sample-bytes 65536 ./service 1000
	complete
}

# Go allocates by itself, and C by malloc(), on the stack of the thread
it_walks_go_that_calls_c() {
	each_calls_c 1000 heap --sample-bytes 65536
}

run_cases
