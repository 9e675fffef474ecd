#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Code that no table covers is unwound by rules that are inferred from it.
. "$(dirname "$0")/lib.sh"

! "$bobbin" --version | grep -q 'without Zydis' || {
	echo "1..0 # SKIP this bobbin was built without Zydis"
	exit 77
}

# without_tables FLAG…: chain.c as ./bare, without unwind tables and frame pointers
without_tables() {
	gcc -O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables "$@" \
		-o bare "$sources/chain.c" -pthread
}

# record_again ARGUMENT…: rules that were inferred the first time are there from the start
record_again() {
	record --table-cache "$PWD/kept" "$@"
	record --table-cache "$PWD/kept" "$@"
}

# The kernel has no such rules, and proves these frames by the code at the PC
it_completes_stacks_of_a_program_without_tables() {
	without_tables
	record_again --no-bpf ./bare 300
	complete
	frames | grep -E '^(a|b|c) ' | mostly 99 '\[code\]'
	grep -q '^ *[1-9][0-9]* of [0-9]* frames were left by rules inferred from their code$' err
	"$bobbin" report >out
	grep -q '^# Frames: [0-9.]* % of [0-9]* were left by rules inferred from their code$' out
	stacks | mostly 90 ': .*c b a main '
}

it_infers_nothing_if_told_so() {
	without_tables
	record --no-code ./bare 300
	frames | none '\[code\]'
	none 'inferred from' <err
	frames | grep -E '^(a|b|c) ' | mostly 99 '\[code at the PC\]'
}

# A thread infers them meanwhile
it_uses_rules_as_soon_as_they_are_there() {
	without_tables
	record ./bare 2000
	frames | some '\[code\]' 100
}

it_completes_one_stack_of_a_process() {
	without_tables
	spawn ./bare 100000
	works_on "$pid"
	quietly "$bobbin" stack -v "$pid"
	grep -q 'main.*\[code\]' out || fail "no caller by its code in $(cat out)"
	none 'the trace ends here' <out
}

it_needs_no_symbols() {
	without_tables -s
	record_again ./bare 300
	complete
	reasons | none NO_CALL
}

# A name for each function, instead of one for all code
it_names_functions_by_where_they_start() {
	without_tables
	starts=$(nm bare | awk '$3 ~ /^(a|b|c)$/ { sub(/^0*/, "", $1); print "bare+0x" $1 }' | sort)
	strip bare
	record_again --no-names ./bare 300
	"$bobbin" script --table-cache "$PWD/kept" -F ip,sym | awk '{ print $2 }' | sed 's,+0x[0-9a-f]*$,,' |
		sort -u >names
	for start in $starts; do
		grep -q -x "$start" names || fail "no $start among $(cat names)"
	done
}

it_completes_programs_of_musl() {
	needs musl-gcc
	musl-gcc -O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -static -o bare "$sources/chain.c"
	record_again ./bare 300
	complete
}

# slow_rules: ./bare with more code, which takes a while to be analysed
slow_rules() {
	awk 'BEGIN {
		for (i = 0; i < 6000; i++)
			printf "int f%d(int *p) { p[%d] += p[1] * %d; p[2] ^= p[3] / 7; return p[4] %% %d + p[5]; }\n",
				i, i % 64, i + 3, i + 11
	}' >many.c
	without_tables many.c
}

# Of the first recording, too: they wait for the rules, whatever becomes of their processes
it_holds_samples_until_there_are_rules() {
	slow_rules
	for options in --no-bpf ''; do
		# shellcheck disable=SC2086 # an option or none
		record $options --table-cache "$PWD/kept$options" ./bare 700
		complete
		# shellcheck disable=SC2086
		record $options --table-cache "$PWD/short$options" sh -c 'for i in 1 2 3; do ./bare 100; done; exec ./bare 100'
		"$bobbin" script -f -F comm,reason | grep '^bare' | mostly 99 'OUTERMOST'
	done
}

it_keeps_what_it_inferred() {
	without_tables
	record --table-cache "$PWD/kept" ./bare 300
	touch -d 2001-01-01 kept/*
	record --table-cache "$PWD/kept" ./bare 300
	complete
	# the tables of the program are marked, which was not analysed again
	[ "$(find kept -type f -newermt 2002-01-01 | wc -l)" -ge 1 ]
}

it_finds_what_it_inferred_of_a_copy() {
	without_tables
	record --table-cache "$PWD/kept" ./bare 300
	touch -d 2001-01-01 kept/*
	cp bare copy
	record --table-cache "$PWD/kept" ./copy 300
	[ "$(find kept -type f -newermt 2002-01-01 | wc -l)" -ge 1 ]
	record --table-cache "$PWD/kept" ./copy 300
	complete
}

# Whatever a file with the same name, size and time says
it_infers_anew_from_a_file_that_has_changed() {
	without_tables
	cp -p bare old
	record --table-cache "$PWD/kept" ./bare 300
	without_tables -O1 -Wl,--build-id=none
	touch -r old bare
	record_again ./bare 300
	complete
}

# Nobody waits for the analysis of much code while something is recorded
it_analyses_much_code_while_or_after_it_records() {
	slow_rules
	record_again --no-bpf ./bare 300
	complete
	frames | grep -E '^(a|b|c) ' | mostly 99 '\[code\]'
}

# The kernel has none, so what it walks is compared with walks without them
it_infers_rules_where_the_kernel_cannot_walk() {
	"$bobbin" record -q --bpf -o /dev/null true 2>err || skip "$(cat err)"
	without_tables
	record_again --bpf ./bare 300
	complete
	# which then walks by them
	record --table-cache "$PWD/kept" --bpf --also-copy ./bare 1500
	grep -q ': 0 differ$' err || fail "the walks differ: $(cat err)"
	[ "$(sed -n 's/^ *\([0-9]*\) stacks were walked in the kernel.*/\1/p' err)" -ge 100 ] || fail "few walks: $(cat err)"
	frames | some '\[code\]' 400
}

# unverified: ./doubtful [through], which runs in spin(), that has a return that is never reached
# and is wrong, or in spin() through a function of the same kind
unverified() {
	cat >doubtful.s <<-'END'
		.text
		.globl spin, through
		.type spin, @function
		.type through, @function
		spin:
			push %rbx
			sub $32, %rsp
			mov $100000, %ecx
		1:	dec %ecx
			jnz 1b
			test %rdi, %rdi
			jz 2f
			add $32, %rsp
			pop %rbx
			ret
		2:	ret
		through:
			push %rbx
			call spin
			test %rdi, %rdi
			jz 2f
			pop %rbx
			ret
		2:	ret
		.section .note.GNU-stack, "", @progbits
	END
	cat >main.c <<-'END'
		#include <time.h>
		void spin(void *), through(void *);
		int main(int argc, char **argv)
		{
			while (clock() < CLOCKS_PER_SEC / 2)
				(argc > 1 ? through : spin)(argv);
		}
	END
	gcc -O2 -fomit-frame-pointer -o doubtful main.c doubtful.s
}

it_uses_rules_that_are_not_verified_for_the_leaf_only() {
	unverified
	record_again ./doubtful
	complete
	frames | grep '^spin ' | mostly 99 '\[code at the PC\]'
	record_again ./doubtful through
	frames | grep '^spin ' | mostly 99 '\[code at the PC\]'
	frames | grep '^through ' | none '\[code\]'
}

# The tables of the same code, in a file of its own, say the same of each sample.
it_says_what_tables_say() {
	gcc -O2 -fomit-frame-pointer -Wl,--build-id=none -o whole "$sources/chain.c" -pthread
	objcopy -R .eh_frame -R .eh_frame_hdr whole bare
	for program in whole bare; do
		record_again -o "$program.data" "./$program" 300
		stacks -i "$program.data" | sed 's/^[^:]*: //' | grep ' main ' |
			sed 's/^.* c b a main /c b a main /' | sort -u >"$program.stacks"
	done
	[ -s whole.stacks ]
	diff whole.stacks bare.stacks
}

run_cases
