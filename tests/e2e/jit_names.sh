#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Names of code that programs made at run time, by what the compilers tell.
. "$(dirname "$0")/lib.sh"

# bitcode: compute.c as $work/bin/compute.bc, with frame pointers
bitcode() {
	needs clang lli
	[ -e "$work/bin/compute.bc" ] ||
		clang -O1 -g -fno-omit-frame-pointer -emit-llvm -c \
			-o "$work/bin/compute.bc" "$sources/compute.c"
}

# functions [OPTION…]: of perf.data, those in JIT-compiled code, a line a frame
functions() {
	"$bobbin" script -q -F ip,sym,dso "$@" | sed -n 's/^[[:blank:]]*[0-9a-f]* \(.*\) (\[JIT\])$/\1/p'
}

it_names_what_was_there_at_the_time() {
	record "$(program recompile)" 400
	forget_map
	functions | sed 's/+.*//' | sort | uniq -c >counts
	[ "$(awk '{ print $2 }' counts | tr '\n' ' ')" = 'early late ' ] || fail "$(cat counts)"
	awk '$1 < 20' counts | none .
	# in this order
	functions | sed 's/+.*//' | uniq >order
	[ "$(tr '\n' ' ' <order)" = 'early late ' ] || fail "$(cat order)"
	quietly "$bobbin" report --no-children -g none
	some ' \[JIT\] .* early$' 1 <out
	some ' \[JIT\] .* late$' 1 <out
}

it_names_code_in_memory_files() {
	record "$(program recompile)" 200 memfd
	forget_map
	functions | mostly 100 '^\(early\|late\)+'
	stacks | some ' \(early\|late\) ' 50
}

it_falls_back_on_the_perf_map() {
	record "$(program recompile)" 200
	rm jit-*.dump
	functions >names
	forget_map
	mostly 100 '^map+' <names
}

it_reads_recordings_of_another_clock() {
	needs perf
	perf_record -q -e cpu-clock:u -o perf.data -- "$(program recompile)" 200 2>log ||
		skip "perf cannot record here: $(tail -n 1 log)"
	forget_map
	functions | mostly 100 '^late+'
}

it_names_code_of_running_processes() {
	spawn "$(program recompile)" 10 wait >said
	eventually grep ready said
	quietly "$bobbin" stack "$pid"
	some '^#0 .* late+0x[0-9a-f]* (\[JIT\])$' 1 <out
	# as long as it is mapped
	rm "jit-$pid.dump"
	if [ "$(id -u)" -eq 0 ]; then
		quietly "$bobbin" stack "$pid"
		some '^#0 .* late+0x[0-9a-f]* (\[JIT\])$' 1 <out
	fi
	forget_map "$pid"
}

it_tells_of_damage_once() {
	record "$(program recompile)" 200
	forget_map
	file=$(echo jit-*.dump)
	head -c -70 "$file" >cut
	head -c 16 /dev/zero >>cut
	cp cut "$file"
	expect 0 "$bobbin" report -g none
	complains "$PWD/$file: " 'malformed record of a jitdump file'
	some ' early$' 1 <out
	none ' late$' <out
	quietly "$bobbin" report -q -g none
}

it_names_code_of_node() {
	needs node
	cat >hot.js <<-END
		function hot(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s }
		function outer(n) { let s = 0; for (let i = 0; i < n; i++) s += hot(20000); return s }
		outer(3000)
	END
	record node --perf-prof hot.js
	# node 18 says LazyCompile:*hot FILE:LINE, node 20 JS:*hot FILE:LINE:COLUMN
	functions | some '^[A-Za-z]*:[*^~]hot .*/hot.js:1[:0-9]*+0x' 50
	quietly "$bobbin" report --no-children -g none
	some ' \[JIT\] .* [A-Za-z]*:\*hot .*/hot.js:1' 1 <out
}

it_names_code_of_llvm() {
	bitcode
	export JITDUMPDIR="$PWD"
	record lli -jit-kind=mcjit "$work/bin/compute.bc" 100
	functions | mostly 99 '^\(compiled_leaf\|compiled_caller\|main\)+'
	"$bobbin" script -F ip,sym | tr -d '\n' | some 'compiled_leaf.* compiled_caller.* main' 1
	stacks | some ' compiled_leaf compiled_caller main ' 50
}

it_names_code_that_only_debuggers_are_told_of() {
	bitcode
	for kind in orc orc-lazy; do
		spawn lli -jit-kind=$kind "$work/bin/compute.bc" 1000000
		has_caller() {
			"$bobbin" stack "$pid" >out && grep -q ' compiled_caller+' out
		}
		eventually has_caller
		tr -d '\n' <out | some ' compiled_leaf+.* compiled_caller+.* main+0x[0-9a-f]* (\[JIT\])' 1
	done
}

it_keeps_names_that_only_debuggers_are_told_of() {
	bitcode
	for kind in orc orc-lazy; do
		rm -rf perf.data*
		record lli -jit-kind=$kind "$work/bin/compute.bc" 1000
		grep -q ' [1-9][0-9]* functions .* are named in perf.data.jit$' err
		functions | mostly 99 '^\(compiled_leaf\|compiled_caller\|main\)+'
		stacks | some ' compiled_leaf compiled_caller main ' 50
	done
	spawn lli -jit-kind=orc "$work/bin/compute.bc" 1000000
	compiled=$pid
	has_leaf() {
		"$bobbin" stack "$compiled" | grep -q ' compiled_leaf+'
	}
	eventually has_leaf
	mkdir running
	record_while_it_works "$compiled" -q -o running/it
	kill "$compiled"
	functions -i running/it | mostly 99 '^\(compiled_leaf\|compiled_caller\|main\)+'
}

it_keeps_names_for_perf() {
	bitcode
	needs perf
	record lli -jit-kind=orc "$work/bin/compute.bc" 1000
	perf inject --jit -i perf.data -o injected 2>log || skip "perf cannot inject: $(tail -n 1 log)"
	perf report --stdio -g none -i injected 2>>log | some ' compiled_leaf *$' 1
}

it_keeps_names_in_a_folder_of_its_own_only() {
	bitcode
	mkdir elsewhere
	ln -s elsewhere perf.data.jit
	record lli -jit-kind=orc "$work/bin/compute.bc" 50
	grep -q 'names .* are missing: Operation not permitted$' err
	rmdir elsewhere
	record -o /dev/null lli -jit-kind=orc "$work/bin/compute.bc" 50
	[ ! -e /dev/null.jit ]
}

run_cases
