#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The live table as text: what it counts, of whom, and how it ends.
. "$(dirname "$0")/lib.sh"

# weight COLUMN SYMBOL: per cent, of its row in ./table
weight() {
	awk -v column="$1" -v name="$2" '$NF == name { print $column + 0; exit }' table | grep .
}

# between LEAST MOST NUMBER
between() {
	awk -v least="$1" -v most="$2" -v n="$3" 'BEGIN { exit !(n + 0 >= least && n + 0 <= most) }' ||
		fail "$3 is not from $1 to $2: $(cat table)"
}

# last_table: of ./out, to ./table
last_table() {
	awk '/^bobbin top: / { text = "" } { text = text $0 "\n" } END { printf "%s", text }' out >table
}

# rows: of a table or several on stdin
rows() {
	grep '^ *[0-9.]*% *[0-9.]*% '
}

# has_row PATTERN: ./out has
has_row() {
	rows <out | grep -e "$1"
}

# more rows than a table can have, whatever else runs
all_rows=131072

# tables PATTERN [OPTION…]: to ./out, until there is a row with the pattern; then two more
tables() {
	pattern=$1
	shift
	spawn "$bobbin" top -b "$@" >out
	top=$pid
	eventually has_row "$pattern"
	seen=$(grep -c '^bobbin top: ' out)
	eventually sh -c "[ \$(grep -c '^bobbin top: ' out) -ge $((seen + 2)) ]"
	kill -INT "$top"
	wait "$top" || fail "exit status $?"
	last_table
}

it_counts_what_a_function_calls() {
	quietly "$bobbin" top -b -d 0.5 -- "$(program quarters)" 1500
	last_table
	grep -q '^bobbin top: .*/quarters; .* user stacks complete, [0-9]* lost$' table
	grep -q '^[0-9]* process.*; it has ended$' table
	between 15 35 "$(weight 2 outer)"
	between 65 85 "$(weight 2 inner)"
	between 95 100 "$(weight 1 outer)"
	between 95 100 "$(weight 1 main)"
	between 65 85 "$(weight 1 inner)"
	# functions that have most of their own come first
	rows <table | awk '{ if (NR > 1 && $2 + 0 > last) exit 1; last = $2 + 0 }'
}

it_is_the_same_when_everything_is_sampled() {
	needs_root
	spawn "$(program quarters)" 1000000
	quarters=$pid
	for walk in -a --bpf; do
		tables "^.* $quarters .*\] inner$" -d 1 -E $all_rows --sort pid --hide-kernel $walk
		grep -q '^bobbin top: everything; ' table
		awk -v pid="$quarters" '$3 == pid' table >own
		mv own table
		inner=$(weight 2 inner)
		between "$inner" 100 "$(weight 1 outer)"
		between 0 "$inner" "$(weight 2 outer)"
	done
	# from when the kernel has their tables on
	spawn "$bobbin" top -b --bpf -d 1 >out
	eventually grep '^[0-9]* process.*; [1-9][0-9.]* % of the stacks walked in the kernel, ' out
}

it_attaches_to_processes_and_ends_with_them() {
	spawn "$(program quarters)" 3000
	quietly "$bobbin" top -p "$pid" -d 0.3 --sort self
	last_table
	grep -q "^bobbin top: process $pid; " table
	rows <table | head -n 1 | grep -q '\] inner$' || fail "$(cat table)"
	spawn "$(program threads)" 1000000
	eventually sh -c "[ \$(ls /proc/$pid/task | wc -l) -eq 3 ]"
	thread=$(find "/proc/$pid/task" -maxdepth 1 -name '[0-9]*' -printf '%f\n' | sort -n | tail -n 1)
	tables '\] spin$' -d 0.3 -t "$thread"
	grep -q "^bobbin top: thread $thread; " table
	none ' in_main$' <out
}

it_shows_what_is_asked_for() {
	quarters=$(program quarters)
	tables '\] inner$' -d 0.3 --filter INN -E 5 -- "$quarters" 1000000
	[ "$(rows <table | wc -l)" -eq 1 ] || fail "$(cat table)"
	tables '\[k\]' -d 0.3 --hide-user -- "$quarters" 1000000
	rows <out | none '\[\.\]'
	tables '\] inner$' -d 0.3 -E 6 -- "$quarters" 1000000
	[ "$(rows <table | wc -l)" -eq 6 ] || fail "$(cat table)"
	tables ' quarters  *quarters  *\[\.\] inner$' -d 0.3 --sort comm -- "$quarters" 1000000
	tables '\] inner$' -d 0.3 --hide-kernel -- "$quarters" 1000000
	rows <out | none '\[k\]'
}

it_forgets_what_ran_before() {
	spawn "$(program quarters)" 1000000
	first=$pid
	spawn "$(program chain)" 1000000
	second=$pid
	spawn "$bobbin" top -b -d 0.1 -p "$first,$second" --filter inner >out
	top=$pid
	eventually has_row ' inner$'
	kill -KILL "$first"
	# 7/8 of it is left each time, until it is less than nothing
	eventually sh -c "tail -n 50 out |
		awk '/^bobbin top: / { rows = 0 } /\] inner\$/ { rows++ } END { exit rows }'"
	kill -INT "$top"
	wait "$top" || fail "exit status $?"
}

it_can_count_each_table_from_zero() {
	mkfifo go
	program chain
	program quarters
	spawn "$bobbin" top -b -z -d 0.5 -- \
		sh -c "'$work/bin/chain' 500; cat go; exec '$work/bin/quarters' 1000000" >out
	top=$pid
	eventually has_row ' c$'
	echo >go
	eventually has_row ' inner$'
	seen=$(grep -c '^bobbin top: ' out)
	eventually sh -c "[ \$(grep -c '^bobbin top: ' out) -ge $((seen + 3)) ]"
	kill -INT "$top"
	last_table
	none ' c$' <table
	between 95 100 "$(weight 1 outer)"
}

# resident PID: KiB of its own, without the rings that the kernel writes to
resident() {
	sed -n 's/^RssAnon:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$1/status"
}

# runs_more: two thousand processes, by who waits at ./go, until they have ended
runs_more() {
	echo >go
	cat ended
}

# It grows until everything that it holds has once been as large as it gets, which takes longer
# where it is late; what is lost with each process makes it grow in each round.
it_keeps_its_memory_whatever_runs() {
	mkfifo go ended
	# what the address sanitizer keeps of freed memory is not the recorder's
	export ASAN_OPTIONS="quarantine_size_mb=1:thread_local_quarantine_size_kb=64:$ASAN_OPTIONS"
	# what is counted has a bound of its own
	spawn "$bobbin" top -b -z -F 2000 -d 0.5 -- sh -c 'while cat go; do
			i=0; while [ $i -lt 2000 ]; do /bin/true; i=$((i + 1)); done; echo >ended
		done' >out
	top=$pid
	runs_more
	for _ in 1 2 3 4 5 6; do
		before=$(resident "$top")
		runs_more
		after=$(resident "$top")
		[ "$after" -ge $((before + 1024)) ] || break
	done
	[ "$after" -lt $((before + 1024)) ] || fail "from $before to $after KiB, and before that, too"
	kill -INT "$top"
	wait "$top" || fail "exit status $?"
}

# may_trace: tracepoints may not be there, or not for us
may_trace() {
	"$bobbin" record -q -e sched:sched_switch -o /dev/null true 2>err || skip "$(cat err)"
}

it_counts_events() {
	may_trace
	calls=$(program calls)
	tables '\] visit$' -d 0.5 -c 100 -e "uprobe:$calls:visit" -- "$calls" 1000000000
	grep -q "samples/s of uprobe:$calls:visit, " table
	between 100 100 "$(weight 2 visit)"
	between 95 100 "$(weight 1 main)"
	tables '\] visit$' -d 0.5 --sort pid --hide-kernel -c 100 -e syscalls:sys_enter_close -- "$calls" 1000000000
	grep -q 'samples/s of syscalls:sys_enter_close, ' table
	between 95 100 "$(weight 1 visit)"
	tables '\] spin$' -d 0.5 -e cpu-clock:u -- "$(program chain)" 1000000
	grep -q 'samples/s of cpu-clock:u, ' table
}

it_shows_where_threads_wait() {
	needs_root
	waits=$(program waits -D_GNU_SOURCE)
	tables '\] main$' -d 0.5 --off-cpu --off-cpu-thresh 0 -- "$waits" again
	grep -q 'samples/s of offcpu-time, ' table
	between 99 100 "$(weight 1 main)"
	between 95 100 "$(weight 1 do_nanosleep)"
	# who runs does not wait
	spawn "$(program quarters)" 1000000
	quarters=$pid
	spawn "$waits" again
	tables "^.* $pid .*\] main$" -d 0.5 -E $all_rows --sort pid --off-cpu -a
	awk -v pid="$quarters" '$3 == pid' table | none ' inner$'
}

it_ends_the_command_that_it_started() {
	spawn "$bobbin" top -b -d 0.2 -- "$(program quarters)" 1000000 >out
	top=$pid
	eventually has_row inner
	child=$(child_of "$top")
	kill -TERM "$top"
	status=0
	wait "$top" || status=$?
	[ $status -eq $((128 + 15)) ] || fail "exit status $status"
	eventually gone "$child"
}

it_says_what_is_wrong() {
	expect 127 "$bobbin" top -b no-such-program
	complains no-such-program 'No such file'
	expect 1 "$bobbin" top -p 999999999
	complains 999999999 'No such process'
	expect 2 "$bobbin" top -a -p 1
	expect 2 "$bobbin" top -e cycles,cpu-clock true
	grep -q 'a table is of one event' err
	expect 2 "$bobbin" top -e nonsense true
	complains '^bobbin top: -e: '
	for other in '-e page-faults' '-c 10' '-F 99' --bpf; do
		# shellcheck disable=SC2086 # an option and its value
		expect 2 "$bobbin" top --off-cpu $other true
		grep -q -e '--off-cpu counts all waits' err
	done
	expect 2 "$bobbin" top --off-cpu-thresh 3 true
	grep -q -e '--off-cpu-thresh needs --off-cpu' err
	expect 2 "$bobbin" top --sort colour
	complains colour symbol
	for delay in 0 0.01 4000 nan inf -1 1x; do
		expect 2 "$bobbin" top -d "$delay" true
		complains "'$delay' is not a number of seconds"
	done
	expect 1 sh -c "'$bobbin' top -b -d 0.1 '$(program quarters)' 60000 >/dev/full"
	complains 'standard output'
}

# Of processes and threads that come faster than they are told of
it_says_what_is_missing_in_a_storm() {
	needs_root
	for _ in 1 2 3 4; do
		spawn sh -c 'while :; do /bin/true; done'
		spawn "$(program storming)" 1000000 1
	done
	quietly "$bobbin" top -b -a -n 4
	awk '
		/^bobbin top: / { tables++ }
		/^ *[0-9.]*% / { has[tables] = 1 }
		/; late: what is counted ended [0-9.]* s ago/ { has[tables] = 1 }
		END { for (i = 1; i <= tables; i++) if (!has[i]) exit 1; exit tables != 4 }' out ||
		fail "an empty table without a word: $(cat out)"
}

# can_take_little: sanitizers take more
can_take_little() {
	needs_root
	nm -D "$(dirname "$bobbin")/../libbobbin.so" | grep -q __asan_init && skip "sanitizers take more"
	bpf=--bpf
	"$bobbin" record --bpf -o /dev/null true || bpf=
}

# The names of what has run do not stay for ever.
it_takes_little_memory() {
	can_take_little
	spawn "$bobbin" top -b $bpf -d 0.5 \
		sh -c 'while :; do /bin/true; perl -e 1; python3 -c 1; git --version; gcc --version; done' >out
	top=$pid
	eventually sh -c '[ $(grep -c "^bobbin top: " out) -ge 30 ]'
	kib=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB$/\1/p' "/proc/$top/status")
	echo "# $kib KiB"
	# some 70 MiB, of which 40 are maps of the kernel
	[ "$kib" -lt 98304 ] || fail "$kib KiB resident"
	kill -INT "$top"
}

# held PID: KiB of it and of the processes that read for it
held() {
	find "/proc/$1/task/" -name children -exec cat {} + | tr ' ' '\n' | grep . >children
	echo "$1" | cat - children | while read -r one; do
		grep -q '^bobbin' "/proc/$one/comm" || continue
		cat "/proc/$one/smaps_rollup"
	done | awk '/^Pss:/ { sum += $2 } END { print sum }'
}

# giants COUNT: ./giant1 and so on, each of 40,000 functions with 4 MB of names and 2 MB of call-frame
# information, which spins in a function of its own
giants() {
	awk 'BEGIN {
		filler = sprintf("%096d", 0)
		for (i = 0; i < 40000; i++) {
			print "function_" i "_" filler ":\n.cfi_startproc"
			for (at = 16; at <= 48; at += 8)
				print "push %rbx\n.cfi_def_cfa_offset " at
			for (at = 40; at >= 8; at -= 8)
				print "pop %rbx\n.cfi_def_cfa_offset " at
			print "ret\n.cfi_endproc"
		}
		print ".section .note.GNU-stack, \"\", @progbits"
	}' >functions.s
	gcc -c functions.s
	for number in $(seq "$1"); do
		echo "void spins_$number(void) { for (;;) __asm__ volatile(\"\"); }
			int main(void) { spins_$number(); }" >main.c
		gcc -O1 -fno-inline -Wl,--build-id="0x$(printf %08x "$number")" -o "giant$number" main.c functions.o
	done
}

# is_named NUMBER ROWS: there are more rows than that of its function
is_named() {
	[ "$(rows <out | grep -c " giant$1 .*\] spins_$1\$")" -gt "$2" ]
}

# takes_little PID: 100 MB
takes_little() {
	[ "$(held "$1")" -lt 97656 ]
}

# It takes more for as long as it reads names, or makes a table, of one large file.  What is forgotten
# meanwhile has the same name again.  With -a it would also have what other tests run meanwhile.
it_takes_little_memory_for_large_programs() {
	can_take_little
	[ "$(uname -m)" = x86_64 ] || skip "the functions are x86-64's"
	giants 14
	mkfifo go
	for walk in $bpf --no-bpf; do
		# each number starts one, each empty line ends it
		spawn "$bobbin" top -b -z -F 99 "$walk" -d 0.5 --sort comm --filter spins_ \
			sh -c 'while read -r number; do "./giant$number" & read -r _; kill -KILL $!; done <go' >out
		top=$pid
		exec 8>go
		for number in $(seq 14) 1 2; do
			seen=$(rows <out | grep -c " giant$number ") || seen=0
			echo "$number" >&8
			eventually is_named "$number" "$seen"
			echo >&8
			eventually takes_little "$top"
		done
		exec 8>&-
		wait "$top" || fail "exit status $?"
	done
}

it_prints_no_control_characters() {
	nasty=$(printf 'n\033[7m\342\200\256\nF0RGED\377\302\2332J')
	mkdir -p "$nasty"
	LC_ALL=C sed 's/NASTY_______FUNCTION/n\x1b[7m\xe2\x80\xae\nF0RGED\xff\xc2\x9b2J/' \
		"$(program nasty)" >"$nasty/$nasty"
	chmod 755 "$nasty/$nasty"
	tables F0RGED -d 0.3 "$nasty/$nasty" 1000000
	LC_ALL=C grep -anP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]' out && fail "control characters"
	return 0
}

run_cases
