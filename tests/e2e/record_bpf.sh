#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Stacks that are walked in the kernel are those that user space walks to.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/kernel_walks.sh"

it_agrees_on_a_program_in_c() {
	walks 80 "$(program chain)" 1000
	cuts_few
	walks 80 "$(program_as framed_chain chain -O0 -fno-omit-frame-pointer)" 1000
}

it_agrees_on_frame_pointers_without_tables() {
	walks 80 --no-code "$(program_as tableless chain -fno-omit-frame-pointer -fno-asynchronous-unwind-tables)" 1000
	"$bobbin" script -F tid,sym,source --no-inline | grep ' [abc]+' | mostly 99 '\[\(frame pointer\|code at the PC\)\]'
}

it_agrees_on_rules_that_are_inferred_from_code() {
	# copies of the stack end at pages that are not in memory, above frames without a table
	file=$(program_as ruleless roomy -O2 -fno-asynchronous-unwind-tables)
	objcopy -R .eh_frame -R .eh_frame_hdr "$file" bare
	for program in "$file" ./bare; do
		walks 60 "$program" 1000 200000 empty
		record --bpf -F 2000 "$program" 1000 200000 empty
		stacks | mostly 90 ' inside take_room main '
		"$bobbin" script -F tid,sym,source --no-inline | some ' take_room+0x[0-9a-f]* \[code\]' 400
	done
}

it_agrees_on_code_that_node_compiles() {
	needs node
	# what -e is given runs below a built-in function of V8 of which the code proves nothing
	cat >fib.js <<-END
		const end = Date.now() + 1500
		function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
		while (Date.now() < end) fib(15)
	END
	walks 30 node fib.js
}

it_waits_for_pages_that_are_not_in_memory() {
	[ "$(printf '%s\n' 6.18 "$(uname -r)" | sort -V | head -n 1)" = 6.18 ] ||
		skip "Linux before 6.18 has no work for a task on its way to user mode"
	record --bpf -F 2000 "$(program evicted)" 1000
	[ "$(count 'of them when their pages had been read in')" -ge 300 ] || fail "few: $(cat err)"
	reasons | mostly 90 '^OUTERMOST$'
	stacks | mostly 85 ' innermost \(descend \)\{101\}run start_thread '
	# the copies lack what the walks have waited for
	record --no-bpf -F 2000 "$(program evicted)" 1000
	reasons | some '^STACK_HOLE$' 400
}

it_has_code_read_in_that_is_not_in_memory() {
	[ "$(printf '%s\n' 6.18 "$(uname -r)" | sort -V | head -n 1)" = 6.18 ] ||
		skip "Linux before 6.18 has no work for a task on its way to user mode"
	file=$(program_as cold_code cold_code -fno-omit-frame-pointer -fno-asynchronous-unwind-tables)
	walks 60 "$file" 1000
	stacks | mostly 90 ' spin hot cold main '
}

it_agrees_on_exceptions_in_cxx() {
	g++ -O2 -o throwing "$sources/throwing.cc"
	walks 70 ./throwing 1000
}

it_agrees_on_python3() {
	cat >fib.py <<-'END'
		import time
		def fib(n):
		    return n if n < 2 else fib(n - 1) + fib(n - 2)
		end = time.process_time() + 1
		while time.process_time() < end:
		    fib(15)
	END
	walks 80 python3 fib.py
}

it_agrees_on_perl() {
	walks 80 perl -e 'sub fib { my $n = shift; $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
		fib(15) while times < 1'
}

it_agrees_on_a_deep_recursion() {
	walks 80 "$(program deep)" 1000 900
	walks 80 --max-stack 64 "$(program deep)" 1000 900
}

# With the number of frames between the inner and the outer ones that are given out
it_agrees_on_more_frames_than_it_gives_out() {
	walks 80 "$(program deep)" 1000 1500
	grep -q ' have more than 1024 frames' err
	walks 80 --max-stack 64 "$(program deep)" 1000 1500
}

# Copies end long before the root of these
it_walks_very_deep_recursions_to_the_root() {
	record --bpf -F 99 "$(program deep)" 4000 60000
	reasons | mostly 60 '^OUTERMOST$'
	"$bobbin" script -F comm,ip,sym,reason --no-inline | awk 'BEGIN { RS = "" } / OUTERMOST/' >deepest
	complete=$(grep -c ' OUTERMOST' deepest)
	[ "$(grep -c ' descend+' deepest)" -ge $((1000 * complete)) ] || fail "frames are missing"
	[ "$(grep -c ' main+' deepest)" -ge $((99 * complete / 100)) ] || fail "main() is missing"
	[ "$(count 'have more than 1024 frames')" -ge 50 ] || fail "few: $(cat err)"
}

it_agrees_on_signal_handlers() {
	walks 70 "$(program signals)" 1000
	walks 80 "$(program nested)" 1000
}

it_walks_fibers_to_their_roots() {
	roots_also='begin_fiber\|libc\.so\.6+0x[0-9a-f]*'
	walks 90 "$(program fiber)" 1000
	walks 90 "$(program jumped_fiber)" 1000
	cuts_few
}

it_takes_a_zero_for_a_root_where_the_mapping_of_the_stack_ends() {
	roots_also='coroutine\|_exit'
	walks 90 "$(program mapped_stack)" 1000
	record --bpf -F 2000 "$(program mapped_stack)" 1000
	stacks | some ' spin coroutine $' 1000
	# the kernel has the table a little later
	reasons | grep -v -x NO_USER | mostly 90 '^OUTERMOST$'
}

it_takes_no_zero_for_a_root_below_what_may_be_callers() {
	# the coroutine jumps there, and the code from its start on says that the zero is its return address
	roots_also=_exit
	for how in old below; do
		record --bpf -F 2000 "$(program mapped_stack)" 1000 $how
		stacks | some ' spin coroutine $' 1000
		reasons | grep -v -x NO_USER | mostly 95 '^ZERO_RA$'
	done
}

it_agrees_on_code_that_is_run_as_haskell_s_is() {
	walks 80 "$(program haskell)" 1000
	stacks | some ' haskell run main ' 200
	stacks | some ' work haskell run main ' 200
	cuts_few
}

it_agrees_on_threads() {
	walks 80 "$(program threads)" 1000
	cuts_few
}

it_agrees_on_what_is_loaded_during_the_recording() {
	walks 80 "$(program loader)" 1000 "$(program_as plugin.so plugin -shared -fPIC)"
}

it_agrees_on_forks_that_call_exec() {
	chain=$(program chain)
	walks 60 sh -c "i=0; while [ \$i -lt 8 ]; do '$chain' 200; i=\$((i + 1)); done"
}

it_agrees_on_a_running_process() {
	spawn "$(program chain)" 60000
	end_once_sampled "$pid" &
	walks 40 -p "$pid"
}

# A child has its parent's mappings until it calls exec
it_agrees_in_a_storm_of_forks() {
	walks 70 "$(program storming)" 1000 2
}

# The kernel's lists are always late here; frames of the two differ by 2,000 bytes
it_is_not_deceived_by_code_that_takes_the_place_of_other_code() {
	gcc -O2 -fomit-frame-pointer -shared -fPIC -DROOM=1000 -o a.so "$sources/swapped.c"
	gcc -O2 -fomit-frame-pointer -shared -fPIC -DROOM=3000 -o b.so "$sources/swapped.c"
	# on a busy machine the lists are mostly old
	walks 1 "$(program swapping)" 1500 "$PWD/a.so" "$PWD/b.so"
	record --bpf -F 2000 "$(program swapping)" 1500 "$PWD/a.so" "$PWD/b.so"
	"$bobbin" script -F comm,tid,ip,sym,reason --no-inline | awk 'BEGIN { RS = "" } / OUTERMOST/ && / work\+/' >whole
	[ "$(grep -c ' work+' whole)" -ge 200 ] || fail "few: $(cat err)"
	[ "$(grep -c ' call+' whole)" -eq "$(grep -c ' work+' whole)" ] || fail "other callers of work()"
	[ "$(grep -c ' main+' whole)" -eq "$(grep -c ' work+' whole)" ] || fail "other callers of call()"
	reasons | grep -v -x NO_USER | mostly 99 '^\(OUTERMOST\|UNLOADED\|NEW_SPACE\|NO_MAPPING\)$'
}

it_walks_among_ten_thousand_mappings() {
	walks 60 "$(program scattered)" 1500 10000
	# while there are more and more of them, too
	record --bpf -F 2000 "$(program scattered)" 1000 10000
	cuts_few
	# more than a list may have: user space walks
	record --bpf -F 2000 "$(program scattered)" 1000 20000
	stacks | mostly 80 ' work main __libc_start_call_main '
	[ "$(count 'processes had more mappings')" -eq 1 ] || fail "it does not say so: $(cat err)"
}

it_says_when_mappings_have_no_room() {
	others=1
	scattered=$(program scattered)
	for _ in 1 2 3 4 5; do
		spawn "$scattered" 60000 16000
	done
	works_on "$pid"
	record --bpf -a -F 499 sleep 1
	[ "$(count 'processes had more mappings')" -ge 1 ] || fail "there was room: $(cat err)"
}

# Others may work at the same time: what they run is compared, too
it_agrees_on_everything_that_runs() {
	others=1
	spawn "$(program chain)" 60000
	spawn "$(program deep)" 60000 200
	spawn perl -e 'sub f { my $n = shift; $n < 2 ? $n : f($n - 1) + f($n - 2) } f(15) while 1'
	record --bpf --also-copy -a -F 999 sleep 3
	[ "$(count 'stacks were walked in the kernel')" -ge 2000 ] || fail "few: $(cat err)"
	[ "$(count 'were compared with user space')" -ge 2000 ] || fail "few: $(cat err)"
	grep -q ': 0 differ$' err || fail "the walks differ: $(cat err)"
	stacks | grep '^chain:' | mostly 95 'spin c b a main __libc_start_call_main __libc_start_main'
	stacks | grep '^deep:' | mostly 95 ' descend descend main __libc_start_call_main '
	stacks | grep '^perl:' | mostly 95 ' main __libc_start_call_main '
}

it_samples_all_until_it_is_stopped() {
	others=1
	spawn "$(program chain)" 60000
	chain=$pid
	spawn "$bobbin" record -a 2>said
	eventually grep 'walked in the kernel' said
	works_on "$chain"
	kill -INT "$pid"
	wait "$pid" || fail "exit status $? of the recorder"
	stacks | grep '^chain:' | mostly 95 'spin c b a main __libc_start_call_main __libc_start_main'
}

# What is recorded is what a recording without the option has.
it_records_the_stacks_of_the_walks() {
	record --bpf -F 2000 "$(program chain)" 1000
	[ "$(count 'stacks were walked in the kernel')" -ge 1500 ] || fail "few: $(cat err)"
	stacks | mostly 95 'spin c b a main __libc_start_call_main __libc_start_main'
	frames | mostly 99 '\[\(.eh_frame\|entry point\)\]$'
	complete
}

# However late the kernel has the program, the command starts when it is sampled.
it_samples_a_command_from_its_first_moment_on() {
	for _ in 1 2 3 4 5 6; do
		spawn "$(program chain)" 600000
	done
	for _ in 1 2 3; do
		record --bpf -F 1000 "$(program chain)" 100
		[ "$(stacks | grep -c 'spin c b a main')" -ge 80 ] || fail "few: $(cat err)"
	done
}

it_leaves_nothing_when_it_is_killed() {
	needs bpftool
	spawn "$bobbin" record -q --bpf "$(program chain)" 60000
	eventually attached "$pid"
	ids "$pid" prog >programs
	ids "$pid" map >maps
	[ -s programs ] && [ "$(wc -l <maps)" -ge 5 ]
	! gone_are
	kill -9 "$pid"
	eventually gone_are
}

# The verifier gives up after a million instructions
it_is_verified_with_half_of_the_effort_that_is_allowed() {
	spawn "$bobbin" record -q --bpf "$(program chain)" 60000
	eventually attached "$pid"
	ids "$pid" prog >programs
	verified=$("$(program verification)" "$(head -n 1 programs)")
	[ "$verified" -gt 0 ] || skip "the kernel does not tell"
	echo "# $verified instructions were verified" >&3
	[ "$verified" -lt 500000 ] || fail "$verified instructions were verified"
}

it_walks_all_in_the_kernel_by_itself_where_that_can_be_done() {
	needs unshare
	others=1
	expect 0 "$bobbin" record -a true
	grep -q '^bobbin record: stacks are walked in the kernel, as with --bpf$' err
	grep -q ' stacks were walked in the kernel$' err
	expect 0 "$bobbin" record -a --no-bpf true
	! grep 'in the kernel' err
	expect 0 unshare --pid --fork "$bobbin" record -a true
	grep -q '^bobbin record: stacks are copied, and walked here: --bpf: .*namespace' err
	expect 1 unshare --pid --fork "$bobbin" record --bpf -a true
	expect 2 "$bobbin" record --bpf --no-bpf true
	grep -q -e '--bpf and --no-bpf exclude each other' err
}

it_says_what_is_missing() {
	needs setpriv
	chmod 777 .
	expect 1 setpriv --reuid 65534 --clear-groups "$bobbin" record --bpf true
	complains 'does not allow it' CAP_BPF
	expect 1 setpriv --reuid 65534 --clear-groups "$bobbin" record -a true
	complains 'no permission to sample everything' CAP_PERFMON
	expect 2 "$bobbin" record --also-copy true
	grep -q 'also-copy compares with --bpf' err
}

run_cases
