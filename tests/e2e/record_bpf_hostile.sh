#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs that make walks in the kernel as hard as they can harm nobody but themselves.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/kernel_walks.sh"

# walks that wait take work for a task on its way to user mode
needs_waiting() {
	[ "$(printf '%s\n' 6.18 "$(uname -r)" | sort -V | head -n 1)" = 6.18 ] ||
		skip "Linux before 6.18 has no work for a task on its way to user mode"
	! "$bobbin" doctor | grep -q '^no *walks that wait' || fail "no walks wait"
}

waited() {
	count 'of them when their pages had been read in'
}

# have_chain FUNCTION TIMES CALLER: complete stacks have so many of it below innermost(); there are some
have_chain() {
	chain=$(awk -v name="$1" -v times="$2" -v caller="$3" 'BEGIN {
		line = "innermost"
		while (times--)
			line = line " " name
		print line, caller " " }')
	"$bobbin" script -F comm,tid,ip,sym,reason --no-inline |
		awk '/^\t/ { sub(/\+0x.*/, ""); line = line " " $2 }
			!/^\t/ && NF { line = $NF }
			!NF { print line " " }' | grep '^OUTERMOST.* innermost ' >lines_whole
	[ "$(wc -l <lines_whole)" -ge 100 ] || fail "few complete stacks"
	! grep -v -q " $chain" lines_whole || fail "other callers: $(grep -v -m 1 " $chain" lines_whole)"
}

it_waits_for_pages_that_another_thread_brings() {
	needs_waiting
	record --bpf -F 2000 "$(program stalled)" 1500 2 1
	[ "$(waited)" -ge 100 ] || fail "few walks have waited: $(cat err)"
	have_chain descend 61 run
}

# Those that never come: the task that waits is the one that is sampled
it_is_not_held_up_by_pages_that_nobody_brings() {
	needs_waiting
	others=1
	stalled=$(program stalled) evicted=$(program evicted)
	cat >both <<-END
		'$stalled' 60000 60 0 &
		'$evicted' 3000
		cat /proc/\$!/task/*/wchan | grep -o handle_userfault | wc -l >stuck
		kill -KILL \$!
		wait
		:
	END
	record --bpf -a -F 2000 sh both
	[ "$(cat stuck)" -ge 40 ] || fail "only $(cat stuck) threads wait"
	[ "$(waited)" -ge 300 ] || fail "others have not waited: $(cat err)"
	"$bobbin" script -F comm,tid,reason | grep '^stalled ' >stalled
	grep -q ' STACK_HOLE' stalled || fail "no sample says why it is short"
	"$bobbin" script -F comm,tid,reason | grep '^evicted ' | some ' OUTERMOST' 100
}

it_walks_no_further_than_registers_and_tables_lead() {
	walks 0 "$(program wild)" 3000
	reasons | some '^\(STUCK\|MISALIGNED\|OTHER_STACK\|NO_MEMORY\|STACK_HOLE\|STACK_END\)$' 200
	record --bpf -F 2000 "$(program wild)" 3000
	reasons | some '^\(STUCK\|MISALIGNED\|OTHER_STACK\|NO_MEMORY\|STACK_HOLE\|STACK_END\)$' 200
	# what is called complete has a root: audit_roots()
}

it_survives_tasks_that_are_killed_while_walks_wait() {
	needs_waiting
	record --bpf -F 4999 "$(program vanishing)" 400 kill
	[ "$(count 'stacks were walked in the kernel')" -ge 100 ] || fail "few walks: $(cat err)"
	have_chain descend 101 run
	# places of walks that waited are free again
	record --bpf -F 2000 "$(program evicted)" 2000
	[ "$(waited)" -ge 100 ] || fail "few walks have waited: $(cat err)"
}

it_survives_programs_that_are_replaced_while_walks_wait() {
	needs_waiting
	record --bpf -F 4999 "$(program vanishing)" 300 exec
	have_chain descend 101 run
}

# stuck PID: many of its threads wait for pages
stuck() {
	[ "$(cat "/proc/$1/task/"*/wchan | grep -o handle_userfault | wc -l)" -ge 10 ]
}

# runs: of the programs, where the kernel counts them
runs() {
	while read -r id; do
		bpftool prog show id "$id" | grep -o 'run_cnt [0-9]*' || :
	done <programs
}

# written: what the recorder has left
written() {
	find . -name '*perf.data*' -type f -printf '%p %s\n' | sort
}

# A walk that waits keeps the program, and samples nothing
it_samples_no_more_when_it_is_killed_while_walks_wait() {
	others=1
	needs bpftool
	needs_waiting
	spawn "$bobbin" record -q --bpf -a -F 999 "$(program stalled)" 60000 20 0
	recorder=$pid
	eventually attached "$recorder"
	eventually child_of "$recorder"
	stalled=$(child_of "$recorder")
	eventually stuck "$stalled"
	ids "$recorder" prog >programs
	ids "$recorder" map >maps
	kill -KILL "$recorder"
	eventually gone "$recorder"
	written >files
	runs >before
	sleep 1
	runs >after
	cmp before after || fail "it still samples"
	kill -KILL "$stalled"
	eventually gone "$stalled"
	eventually gone_are
	written | cmp - files || fail "files grow"
	rm -rf perf.data*
}

run_cases
