#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Sections of one link that were left apart become what the linker would have made.
. "$(dirname "$0")/lib.sh"

tools=$sources/../../build/toolchain

# use_tools VERSION: where its as and ld are; 2.40 are the machine's
use_tools() {
	[ "$1" = 2.40 ] || [ -x "$tools/$1/bin/as" ] || skip "no assembler in build/toolchain/$1"
	case $1 in
	2.40) bin=/usr/bin ;;
	*) bin=$tools/$1/bin ;;
	esac
}

write_sources() {
	cat >one.c <<-'EOF'
		int three(int);
		int one(int x) { return three(x) + 1; }
		int two(int x) { return three(three(x)) + one(x); }
	EOF
	cat >other.c <<-'EOF'
		int three(int x) { volatile char b[32]; b[x & 31] = 1; return b[3]; }
		int four(int x) { return three(x) * three(x + 1); }
	EOF
}

# library FILE PART…: a library whose parts have .sframe, or not if they end in -; by $bin
library() {
	file=$1 objects=
	shift
	for part in "$@"; do
		case $part in
		*-) gcc -B "$bin/" -O2 -fPIC -c "${part%-}.c" -o "$part.o" ;;
		*) gcc -B "$bin/" -O2 -fPIC -Wa,--gsframe -c "$part.c" -o "$part.o" ;;
		esac
		objects="$objects $part.o"
	done
	# shellcheck disable=SC2086 # several
	gcc -B "$bin/" -shared -nostdlib -Wl,-Ttext=0x10000 -o "$file" $objects
}

# functions FILE: with their rows, as we print them
functions() {
	"$bobbin" sframe dump "$1" | sed '1,/Function Index/d; s/func idx *\[[0-9]*\]//' | grep .
}

# seen_by_readelf FILE: the starts of the functions of a bare section for address 0
seen_by_readelf() {
	objcopy -I binary -O elf64-x86-64 --rename-section .data=.sframe "$1" wrapped.o
	"$tools/2.47/bin/readelf" --sframe wrapped.o | sed -n 's/.*func idx.*pc = \(0x[0-9a-f]*\),.*/\1/p'
}

it_makes_what_the_linker_makes() {
	write_sources
	for version in 2.40 2.44 2.47; do
		use_tools $version
		library whole.so one other
		library first.so one other-
		library second.so one- other
		expect 0 "$bobbin" sframe merge first.so second.so -o merged --address 0
		# the stubs are in both
		grep -q 'dropped: the same function is there already' err
		functions whole.so >wanted
		functions merged >got
		diff wanted got
		grep -c size wanted | grep -qv '^[01]$'
		seen_by_readelf merged | sort >seen
		"$bobbin" sframe dump merged | sed -n 's/.*func idx.*pc = \(0x[0-9a-f]*\),.*/\1/p' |
			sort >known
		diff seen known
		[ "$(wc -l <seen)" -ge 4 ]
	done
}

it_reads_all_versions_and_writes_two() {
	write_sources
	use_tools 2.47
	library second.so one- other
	use_tools 2.40
	library first.so one other-
	library whole.so one other
	for version in 2 3; do
		expect 0 "$bobbin" sframe merge --version $version -q -o merged first.so second.so
		[ ! -s err ]
		"$bobbin" sframe dump merged | grep "SFRAME_VERSION_$version"
		seen_by_readelf merged | wc -l >seen
		"$bobbin" sframe dump whole.so | grep -c 'func idx' | diff seen -
	done
}

it_shares_rows_when_told_to() {
	write_sources
	use_tools 2.47
	library whole.so one other
	quietly "$bobbin" sframe merge -o plain --address 0 whole.so
	quietly "$bobbin" sframe merge -o shared --address 0 --share whole.so
	[ "$(wc -c <shared)" -le "$(wc -c <plain)" ]
	functions plain >wanted
	functions shared | diff wanted -
}

it_lets_bare_sections_lie_where_it_is_told() {
	write_sources
	use_tools 2.47
	library whole.so one other
	addr=0x$(readelf -SW whole.so | sed -n 's/.* \.sframe *[^ ]* *\([0-9a-f]*\) .*/\1/p')
	objcopy --dump-section .sframe=bare whole.so
	quietly "$bobbin" sframe merge -o wanted whole.so
	quietly "$bobbin" sframe merge -o got "bare@$addr"
	cmp wanted got
	# an address moves the functions, too
	quietly "$bobbin" sframe merge -o moved "bare@$((addr + 0x100000))" bare@"$addr" --address 0
	"$bobbin" sframe dump moved | grep -q 'pc = 0x110[0-9a-f]*,'
	# but not a file that is called so
	cp bare bare@5
	quietly "$bobbin" sframe merge -o got bare@5
	quietly "$bobbin" sframe merge -o wanted bare
	cmp got wanted
	# without -o: standard output
	"$bobbin" sframe merge - <bare >got
	cmp got wanted
}

# assembly OFFSET: a function whose CFA is said to be sp+OFFSET
assembly() {
	printf '.text\n.globl f\nf:\n.cfi_startproc\n.cfi_def_cfa_offset %s\n' "$1"
	printf 'nop\nnop\nret\n.cfi_endproc\n'
}

it_lets_the_first_file_win() {
	use_tools 2.47
	for offset in 8 24; do
		assembly $offset | "$bin/as" --gsframe -o $offset.o -
		"$bin/ld" -shared -Ttext=0x10000 -o $offset.so $offset.o
	done
	expect 0 "$bobbin" sframe merge -o merged --address 0 24.so 8.so
	grep -q '^bobbin: 8.so: offset 0x[0-9a-f]*: function 0x10000 of 3 bytes dropped: another function says' err
	grep -q '^bobbin: 1 functions; of 2, 1 dropped, 0 clipped$' err
	functions merged | grep -q 'sp+24'
	functions merged | none 'sp+8'
}

it_refuses_what_it_cannot_merge() {
	write_sources
	use_tools 2.47
	library whole.so one other
	expect 1 "$bobbin" sframe merge -o merged one.o
	complains one.o 'link it first'
	expect 1 "$bobbin" sframe merge -o merged whole.so no-such-file
	complains no-such-file 'No such file'
	expect 1 "$bobbin" sframe merge -o merged one.c
	complains one.c 'not an SFrame section'
	gcc -shared -nostdlib -o bare.so one-.o 2>/dev/null || gcc -O2 -fPIC -shared -nostdlib one.c -o bare.so
	expect 1 "$bobbin" sframe merge -o merged bare.so
	complains bare.so 'no SFrame section'
	if [ -x "$bin/aarch64-linux-gnu-as" ]; then
		printf 'f:\n.cfi_startproc\nnop\n.cfi_endproc\n' |
			"$bin/aarch64-linux-gnu-as" --gsframe -o arm.o -
		"$bin/aarch64-linux-gnu-ld" -shared -o arm.so arm.o
		expect 1 "$bobbin" sframe merge -o merged whole.so arm.so
		complains arm.so aarch64 x86_64
	fi
	[ ! -e merged ]
}

it_wants_a_file_and_sane_numbers() {
	expect 2 "$bobbin" sframe merge
	expect 2 "$bobbin" sframe merge --version 1 x
	complains --version
	expect 2 "$bobbin" sframe merge --address -5 x
	complains --address
}

run_cases
