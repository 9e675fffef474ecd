#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Processes that live for a few milliseconds are walked in the kernel, by what they have mapped.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/kernel_walks.sh"

can_list_mappings() {
	[ "$(printf '%s\n' 6.18 "$(uname -r)" | sort -V | head -n 1)" = 6.18 ] ||
		skip "Linux before 6.18 cannot list what a task has mapped on its way to user mode"
}

# of_comm NAME: lines of stacks of processes with that name, without those that have no user part
of_comm() {
	stacks | sed -n "s/^$1: //p" | grep -v '^$'
}

it_walks_most_of_five_milliseconds_in_the_kernel() {
	can_list_mappings
	brief=$(program_as brief chain)
	walks 50 sh -c "i=0; while [ \$i -lt 200 ]; do '$brief' 5; i=\$((i + 1)); done"
	record --bpf -F 2000 sh -c "i=0; while [ \$i -lt 200 ]; do '$brief' 5; i=\$((i + 1)); done"
	all=$(sed -n 's/^bobbin record: \([0-9]*\) samples.*/\1/p' err)
	whole=$(count 'stacks were walked in the kernel')
	[ $((100 * whole)) -ge $((50 * all)) ] || fail "few walks in the kernel: $(cat err)"
	complete
	of_comm brief >brief
	grep ' main ' brief | mostly 99 'spin c b a main __libc_start_call_main __libc_start_main'
}

# They have ended long before the recording does
it_keeps_names_and_build_ids_of_programs_that_are_gone() {
	program_as vanished chain
	cp "$work/bin/vanished" vanished
	id=$(readelf -n vanished | sed -n 's/.*Build ID: //p')
	record --bpf -F 2000 sh -c "i=0; while [ \$i -lt 100 ]; do ./vanished 5; i=\$((i + 1)); done; rm vanished"
	of_comm vanished | grep ' main ' | mostly 99 'spin c b a main '
	! command -v perf >/dev/null || perf buildid-list -i perf.data | grep "^$id " | grep vanished
}

# free_number: a number that a process can be given: not all are, since threads, groups and sessions keep theirs
free_number() {
	for number in 30000 30100 30200 30300 30400 30500 30600 30700; do
		for _ in 1 2 3 4 5; do
			echo $((number - 1)) >/proc/sys/kernel/ns_last_pid
			[ "$(sh -c 'echo $$')" != $number ] || break 2
		done
	done
	echo $number
}

# Two programs of which the same addresses hold different functions, by turns in the same process
# number: without position independence also the addresses are the same
it_is_not_deceived_by_numbers_that_are_used_again() {
	needs_root
	[ -w /proc/sys/kernel/ns_last_pid ] || skip "numbers of processes cannot be chosen"
	needs setarch
	one=$(program_as one chain -no-pie)
	two=$(program_as two deep -no-pie)
	number=$(free_number)
	cat >turns.sh <<-END
		i=0
		while [ \$i -lt 150 ]; do
			echo $((number - 1)) >/proc/sys/kernel/ns_last_pid
			'$one' 5
			echo $((number - 1)) >/proc/sys/kernel/ns_last_pid
			'$two' 5 20
			i=\$((i + 1))
		done
	END
	# a number is used for 5 ms, and chance decides whether its list is known before it changes
	walks 0 setarch -R sh turns.sh
	record --bpf -F 2000 setarch -R sh turns.sh
	"$bobbin" script -F pid | awk 'NF { print $1 }' | sort | uniq -c | sort -rn >numbers
	[ "$(awk -v n=$number '$2 == n { n = $1; exit } END { print n + 0 }' numbers)" -ge 500 ] || fail "few have the number: $(head numbers)"
	of_comm one | none descend
	of_comm two | none 'spin c b a'
	of_comm one | grep ' main ' | mostly 99 'spin c b a main '
	of_comm two | grep ' main ' | mostly 99 'descend main '
}

# Killed while they are sampled, while they load, and before they have called execve()
it_outlives_processes_that_are_killed() {
	chain=$(program chain)
	cat >killed.sh <<-END
		i=0
		while [ \$i -lt 200 ]; do
			'$chain' 1000 &
			p=\$!
			[ \$((i % 3)) -eq 0 ] || '$chain' \$((i % 3))
			kill -KILL \$p
			wait \$p
			i=\$((i + 1))
		done 2>/dev/null
	END
	record --bpf -F 4999 sh killed.sh
	reasons | grep -v -x -e NO_USER -e NEW_SPACE | mostly 98 '^OUTERMOST$'
}

run_cases
