#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Names that outlive the files that had them.
. "$(dirname "$0")/lib.sh"

# recorded [OPTION…]: perf.data of ./chain, which is gone after that
recorded() {
	cp "$(program chain)" chain
	"$bobbin" record -q "$@" ./chain 200
	rm chain
}

it_names_a_program_that_is_gone() {
	recorded
	quietly "$bobbin" report --no-children -g none
	grep -q '\[\.\] spin$' out
	stacks | mostly 95 'spin c b a main '
}

it_does_not_use_another_program_at_the_same_path() {
	recorded
	program_as chain2 family >/dev/null
	cp "$work/bin/chain2" chain
	stacks | mostly 95 'spin c b a main '
	stacks --no-demangle | none in_child
}

it_names_a_program_without_symbols() {
	cp "$(program chain)" chain
	strip chain
	"$bobbin" record -q ./chain 200
	stacks | sort | uniq -c >before
	mv chain elsewhere
	stacks | sort | uniq -c >after
	diff before after
	some 'chain+0x[0-9a-f]* ' 1 <after
	mv elsewhere chain # for the audit of last frames
}

it_tells_functions_in_functions_apart() {
	cp "$(program nested)" nested
	"$bobbin" record -q ./nested 300
	stacks | sort | uniq -c >before
	some ' inner main ' 1 <before
	mv nested elsewhere
	stacks | sort | uniq -c >after
	diff before after
	mv elsewhere nested # for the audit of last frames
}

it_names_programs_of_other_roots() {
	needs_root
	needs chroot
	mkdir -p root/bin
	program_as chain.static chain -static >/dev/null
	cp "$work/bin/chain.static" root/bin/only-there
	"$bobbin" record -q chroot root /bin/only-there 200
	rm -r root
	stacks | some 'spin c b a main ' 50
}

it_keeps_no_names_when_told_so() {
	recorded --no-names
	stacks | none ' spin '
	# but what was mapped is known
	frames | grep '/chain)' | mostly 100 '^chain+0x[0-9a-f]* '
	rm perf.data # which has nothing to audit last frames by
}

it_is_no_hindrance_to_perf() {
	needs perf
	recorded
	perf script -i perf.data >out 2>err
	grep -q '^chain' out
	[ ! -s err ] || none -i 'invalid\|unknown\|error' <err
}

it_survives_names_that_make_no_sense() {
	recorded
	size=$(wc -c <perf.data)
	grep -abo '__libc_start_call_main' perf.data | tail -n 1 >at
	start=$(cut -d : -f 1 at)
	for place in $(seq $((start - 200)) 17 $((size - 1)) | head -n 40); do
		cp perf.data damaged
		printf '\377' | dd of=damaged bs=1 seek="$place" conv=notrunc 2>/dev/null
		timeout 20 "$bobbin" script -i damaged >out 2>err || [ $? -eq 1 ]
		none Sanitizer <err
	done
}

run_cases
