#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A program without frame pointers is seen with its whole call chain.
. "$(dirname "$0")/lib.sh"

chain='spin c b a main __libc_start_call_main __libc_start_main[@_A-Z0-9.]* _start '

# chain_with_sframe: chain, with tables of the newer format
chain_with_sframe() {
	[ -x "$toolchain/as" ] || skip "no assembler in build/toolchain/2.47"
	[ -e "$work/bin/chain-sframe" ] ||
		gcc -O2 -fomit-frame-pointer -B "$toolchain/" -Wa,--gsframe "$sources/chain.c" \
			-o "$work/bin/chain-sframe"
	"$toolchain/readelf" -SW "$work/bin/chain-sframe" | grep -q -w .sframe ||
		fail "no .sframe was made"
	echo "$work/bin/chain-sframe"
}

it_shows_the_chain_in_order() {
	record "$(program chain)" 700
	grep -q 'samples, .* user stacks complete, 0 records lost; perf.data, ' err
	stacks | some "^chain: .*$chain" 200
	stacks | mostly 95 "$chain"
	complete
}

it_reports_the_chain() {
	record "$(program chain)" 500
	quietly "$bobbin" report --stdio
	for function in main a b c; do
		grep -Eq "^ +(9[0-9]|100)\.[0-9]+% +[0-9]\.[0-9]+% +chain +chain +\[\.\] $function\$" out ||
			fail "no line for $function: $(cat out)"
	done
	grep -Eq '^ +(9[0-9]|100)\.[0-9]+% +([89][0-9]|100)\.[0-9]+% +chain +chain +\[\.\] spin$' out
	grep -Eq '^# Stacks: (99|100)\.[0-9]+ % of [0-9]+ are complete$' out
	tr -d ' |-' <out | grep -A 4 -x main | tr '\n' ' ' | grep -q 'main a b c spin'
}

it_unwinds_by_eh_frame() {
	record "$(program chain)" 300
	frames | grep '^\(spin\|a\|b\|c\|main\) ' | mostly 100 '(.*/chain) \[\.eh_frame\]$'
}

it_unwinds_by_sframe_where_there_is_one() {
	file=$(chain_with_sframe)
	record "$file" 300
	frames | grep '^\(spin\|a\|b\|c\|main\) ' |
		mostly 100 '(.*/chain-sframe) \[\.sframe\]$'
	stacks | mostly 90 "$chain"
	complete
}

it_can_do_without_sframe() {
	file=$(chain_with_sframe)
	record --no-sframe "$file" 300
	frames | grep '^\(spin\|a\|b\|c\|main\) ' | mostly 100 '\[\.eh_frame\]$'
	stacks | mostly 90 "$chain"
}

it_needs_only_sframe() {
	chain_with_sframe >/dev/null
	objcopy --remove-section .eh_frame --remove-section .eh_frame_hdr \
		"$work/bin/chain-sframe" ./bare
	record ./bare 300
	frames | grep '^\(spin\|a\|b\|c\|main\) ' | mostly 100 '\[\.sframe\]$'
	stacks | mostly 90 'spin c b a main __libc_start_call_main '
}

run_cases
