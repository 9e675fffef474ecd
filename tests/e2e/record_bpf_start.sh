#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Without an option a command waits a moment for the program that walks in the kernel; else sampling
# begins at once, and they walk when the program is there.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/kernel_walks.sh"

# changed_over PID: the recorder has the program that walks beside the one that runs it
changed_over() {
	[ "$(ids "$1" prog | wc -l)" -ge 2 ]
}

# runs NAME: the recorder's command has become this program; sets child
runs() {
	child=$(child_of "$pid") && [ "$(cat "/proc/$child/comm")" = "$1" ]
}

# proof_takes MS: the kernel, from now on
proof_takes() {
	export PROOF_MS="$1" ASAN_OPTIONS="verify_asan_link_order=0:$ASAN_OPTIONS"
	gcc -O2 -shared -fPIC -D_GNU_SOURCE -o slow_proof.so "$sources/slow_proof.c" -ldl
	export LD_PRELOAD="$PWD/slow_proof.so"
}

# ends_the_recording PROCESS: when that has worked for a while, walked in the kernel
ends_the_recording() {
	eventually changed_over "$pid"
	works_on "$1"
	kill -INT "$pid"
	# the status is the command's
	wait "$pid" || :
	[ "$(count 'stacks were walked in the kernel')" -ge 100 ] || fail "few walks in the kernel: $(cat err)"
}

it_walks_a_command_in_the_kernel_when_it_can() {
	spawn "$bobbin" record "$(program chain)" 60000 2>err
	eventually runs chain
	ends_the_recording "$child"
	[ "$(sed -n 's/^bobbin record: \([0-9]*\) samples.*/\1/p' err)" -ge 300 ]
	stacks | mostly 95 'spin c b a main __libc_start_call_main __libc_start_main'
	cuts_few
}

# Copies end before the root, so complete stacks are the kernel's.  The kernel takes long to prove
# the program, so the command does not wait for it, and what it starts has inherited the events
it_walks_a_process_that_was_started_before() {
	program roomy >roomy
	proof_takes 2000
	spawn "$bobbin" record sh -c "'$(cat roomy)' 60000 204800; true" 2>err
	eventually runs sh
	shell=$child
	recorder=$pid
	pid=$shell
	eventually runs roomy
	pid=$recorder
	ends_the_recording "$child"
	reasons | some '^OUTERMOST$' 100
	reasons | some '^STACK_END$' 1
}

it_walks_a_process_that_runs() {
	spawn "$(program roomy)" 60000 204800
	process=$pid
	spawn "$bobbin" record -p "$process" 2>err
	ends_the_recording "$process"
	reasons | some '^OUTERMOST$' 100
}

it_walks_threads_that_run() {
	spawn "$(program threads)" 60000
	process=$pid
	spawn "$bobbin" record -t "$(ls "/proc/$process/task" | tail -n 1)" 2>err
	eventually changed_over "$pid"
	# the process has two more that work
	works_on "$process"
	works_on "$process"
	works_on "$process"
	ends_the_recording "$process"
}

it_copies_all_if_told_so() {
	spawn "$bobbin" record --no-bpf "$(program chain)" 60000 2>err
	eventually runs chain
	works_on "$child"
	[ -z "$(ids "$pid" prog)" ] || fail "it has a program"
	kill -INT "$pid"
	wait "$pid" || :
	none 'in the kernel' <err
}

# Where it may not be done, nobody is bothered
it_copies_where_programs_are_not_allowed() {
	needs setpriv
	cp "$(program chain)" chain
	chmod 777 .
	expect 0 setpriv --reuid 65534 --regid 65534 --clear-groups "$bobbin" record -o other ./chain 300
	[ "$(grep -c . err)" -eq 1 ] || fail "it says more: $(cat err)"
	reasons -i other | mostly 90 '^OUTERMOST$'
	rm -f other
}

it_does_not_wait_for_long() {
	proof_takes 30000
	expect 0 timeout 60 "$bobbin" record true
	none 'in the kernel' <err
}

# The first thing that the command does is to say when
it_waits_for_a_short_proof() {
	proof_takes 250
	before=$(date +%s%N)
	expect 0 "$bobbin" record sh -c 'date +%s%N >began'
	waited=$((($(cat began) - before) / 1000000))
	[ "$waited" -ge 250 ] || fail "it began after $waited ms"
}

run_cases
