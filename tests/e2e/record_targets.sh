#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What is sampled of processes that run, and what is not; what is said where there are no samples.
# shellcheck disable=SC2046 # options are words
. "$(dirname "$0")/lib.sh"

# pair OPTION…: record one and two, by chain.c; %1 and %2 in the options are their numbers
pair() {
	spawn "$(program_as one chain)" 1500
	one=$pid
	spawn "$(program_as two chain)" 1500
	expect 0 "$bobbin" record $(echo "$*" | sed "s/%1/$one/g; s/%2/$pid/g")
	"$bobbin" script -F comm | awk 'NF { print $1 }' >names
	some '^one$' 20 <names
	some '^two$' 20 <names
	none '[^onetw]' <names
}

it_samples_several_processes() {
	pair -p %1,%2
	pair -p %1 -p %2
	pair --pid %2 -p %1,%1
}

it_samples_single_threads() {
	spawn "$(program threads)" 1500
	eventually sh -c "[ \$(ls /proc/$pid/task | wc -l) -eq 3 ]"
	threads=$(ls "/proc/$pid/task" | tail -n 2)
	expect 0 "$bobbin" record -t "$(echo "$threads" | paste -s -d ,)"
	"$bobbin" script -F tid | awk 'NF { print $1 }' | sort -u >sampled
	echo "$threads" | sort >wanted
	diff wanted sampled
}

it_ends_with_the_last_of_them() {
	spawn "$(program_as one chain)" 1500
	one=$pid
	spawn "$(program_as two chain)" 2500
	expect 0 timeout 200 "$bobbin" record -p "$one,$pid"
	! [ -e "/proc/$pid/exe" ]
}

# rounds FILE: how often its recorder looked for samples
rounds() {
	python3 - "$1" <<-'END'
		import struct, sys
		data = open(sys.argv[1], "rb").read()
		at, size = struct.unpack_from("QQ", data, 40)
		end, rounds = at + size, 0
		while at < end:
		    kind, _, length = struct.unpack_from("IHH", data, at)
		    rounds, at = rounds + (kind == 68), at + length
		print(rounds)
	END
}

it_rests_when_one_of_them_has_ended() {
	needs python3
	spawn "$(program_as one chain)" 300
	one=$pid
	spawn "$(program_as two chain)" 2000
	expect 0 timeout 200 "$bobbin" record -p "$one,$pid"
	stacks | some '^two: .*spin c b a main '
	[ "$(rounds perf.data)" -le 5000 ] || fail "$(rounds perf.data) rounds"
}

it_refuses_lists_that_make_no_sense() {
	for list in '' , 1, ,1 1,x 0 1,-2; do
		for option in -p -t; do
			expect 2 "$bobbin" record $option "$list"
			complains "^bobbin record: $option: "
		done
	done
	expect 2 "$bobbin" record -p 1 -t 1
	grep -q '^bobbin record: -p and -t exclude each other$' err
	expect 1 "$bobbin" record -t 4194303
	complains 'thread 4194303: no such thread'
}

it_says_which_children_are_not_sampled() {
	spawn sh -c "$(program chain) 60000 & $(program chain) 60000 & sleep 1000; wait"
	eventually sh -c "[ \$(wc -w </proc/$pid/task/$pid/children) -eq 3 ]"
	children=$(sed 's/ $//; s/ /, /g' "/proc/$pid/task/$pid/children")
	expect 0 timeout --preserve-status -s INT 2 "$bobbin" record -p "$pid"
	grep -q "^bobbin record: children that run already are not sampled: $children; --with-children" err
	grep -q '^bobbin record: no samples: in [0-9]* ms nothing ran ' err
	grep -q '; 3 children, which ran already and are not sampled, used [1-9][0-9]* ms of CPU time' err
	none '%' <err
	expect 0 timeout --preserve-status -s INT 1 "$bobbin" record -q -p "$pid"
	[ ! -s err ]
}

it_samples_children_that_run_already() {
	spawn sh -c "'$(program_as one chain)' 60000 & '$(program_as two chain)' 60000 & wait"
	family=$pid
	eventually sh -c "[ \$(cat /proc/[0-9]*/comm | grep -c -x -e one -e two) -ge 2 ]"
	spawn "$bobbin" record --with-children -p "$family"
	recorder=$pid
	eventually samples "$recorder"
	for child in $(cat "/proc/$family/task/$family/children"); do
		works_on "$child"
	done
	kill -INT "$recorder"
	wait "$recorder"
	"$bobbin" script -F comm | awk 'NF { print $1 }' >names
	some '^one$' 10 <names
	some '^two$' 10 <names
}

it_knows_processes_by_their_name() {
	name=$(printf 'chain-%.9d-and-more' $$)
	spawn "$(program_as "$name" chain)" 60000
	one=$pid
	spawn "$(program_as "$name" chain)" 60000
	eventually grep -q chain- "/proc/$one/comm"
	eventually grep -q chain- "/proc/$pid/comm"
	record --duration 1 -p "$name"
	"$bobbin" script -F tid | awk 'NF { print $1 }' | sort -u >sampled
	printf '%d\n' "$one" "$pid" | sort >wanted
	diff wanted sampled
	expect 2 "$bobbin" record -p chain-nobody
	complains "^bobbin record: -p: no process is called 'chain-nobody'"
}

it_records_for_as_long_as_a_command_runs() {
	spawn "$(program chain)" 600000
	expect 3 "$bobbin" record -p "$pid" -- sh -c 'sleep 1; exit 3'
	"$bobbin" script -F comm | awk 'NF { print $1 }' >names
	some '^chain$' 10 <names
	none '^s' <names
}

# Then the command is told to end, and its status is none.
it_ends_before_a_command_with_what_it_records() {
	spawn "$(program chain)" 1000
	record -p "$pid" -- sleep 1000
	spawn "$(program chain)" 60000
	record --duration 0.5 -p "$pid" -- sleep 1000
	record --duration 0.5 -- "$(program_as one chain)" 60000
	stacks | some '^one: '
	for wrong in 0 -1 x '' 1e9; do
		expect 2 "$bobbin" record --duration "$wrong" true
		complains "^bobbin record: --duration: '$wrong' is not a number of seconds from 0.001 to"
	done
}

it_says_why_there_are_no_samples() {
	record -F 1 true
	grep -q '^bobbin record: no samples: the program ran for [0-9]* ms and used [0-9.]* ms of CPU' err
	none '%' <err
	quietly "$bobbin" report
	# what the command used is beside the point where others are sampled, or no time
	spawn sleep 1000
	record -p "$pid" -- "$(program chain)" 50
	grep -q '^bobbin record: no samples: in [0-9]* ms nothing ran that was to be sampled, ' err
	record -c 1000000000 -e page-faults true
	grep -q '^bobbin record: no samples: in [0-9]* ms no event came 1000000000 times, ' err
	record -e major-faults true
	grep -q '^bobbin record: no samples: in [0-9]* ms no event came from what ' err
}

# gcc-multilib is not needed for this.
it_says_that_32_bit_programs_are_not_unwound() {
	needs as ld
	[ "$(uname -m)" = x86_64 ] || skip "no 32-bit programs of x86 here"
	cat >small.s <<-'END'
		.globl _start
		.type _start, @function
		_start: call work
		movl $1, %eax
		xorl %ebx, %ebx
		int $0x80
		.size _start, . - _start
		.type work, @function
		work: movl $600000000, %ecx
		1: decl %ecx
		jnz 1b
		ret
		.size work, . - work
	END
	as --32 -o small.o small.s
	ld -m elf_i386 -o small small.o
	./small || skip "this kernel runs no 32-bit programs"
	record ./small
	grep -q ' samples, 0.0 % of [1-9][0-9]* user stacks complete' err
	grep -q '^ *[1-9][0-9]* ended early: a 32-bit program: not unwound$' err
	reasons | grep -v -x NO_USER | mostly 100 '^ABI_32$'
	frames | grep -v kernel | mostly 90 '^work (.*/small)'
	quietly "$bobbin" report
	grep -q '^# *100.00 %  a 32-bit program: not unwound' out
	grep -q ' \[\.\] work$' out
}

it_accepts_what_perf_users_type() {
	record -g "$(program chain)" 100
	complete
	for how in fp dwarf dwarf,8192 lbr; do
		record --call-graph $how "$(program chain)" 100
		complete
		grep -q "^bobbin record: --call-graph ${how%,*}: call chains are found by unwind tables" err
	done
	expect 2 "$bobbin" record --call-graph nonsense true
	complains "^bobbin record: --call-graph: 'nonsense'"
}

run_cases
