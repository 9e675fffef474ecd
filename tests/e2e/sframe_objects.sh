#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Relocatable files get an .sframe section that linkers merge like an assembler's.
. "$(dirname "$0")/lib.sh"

generations=$sources/../../build/toolchain

# new_tools: those of binutils 2.47 and 2.44, or skip
new_tools() {
	[ -x "$generations/2.44/bin/ld" ] && [ -x "$toolchain/ld" ] ||
		skip "no newer binutils: run tools/fetch-toolchain"
}

# convert ARGUMENT…: it succeeds, with one line
convert() {
	expect 0 "$bobbin" sframe convert "$@"
	[ "$(wc -l <err)" -eq 1 ] || fail "said, of $*: $(cat err)"
}

# right FILE…: their sections have no mistake
right() {
	for file in "$@"; do
		expect 0 "$bobbin" sframe check "$file"
		tail -n 1 out | grep -q ': 0 errors, 0 warnings, ' || fail "$file: $(cat out)"
	done
}

# proved FILE: a linked one says nothing that its CFI does not say; without .plt.got, see
# sframe_convert.sh
proved() {
	right "$1"
	"$bobbin" sframe check --against-cfi "$1" >out 2>err || :
	grep -q ' compared: 0 different .* 0 extra .* 0 unreadable ' out || fail "$(cat out err)"
}

# agree FILE…: objects whose sections say what their CFI says, of the same code
agree() {
	for file in "$@"; do
		expect 0 "$bobbin" sframe check --against-cfi "$file"
		tail -n 1 out | grep -q \
			' compared: 0 different .* 0 missing .* 0 extra .* 0 unreadable ' || fail "$(cat out)"
		quietly "$bobbin" sframe stat "$file"
		sed -n 's/^  \(\.sframe\|converted\) .* \([0-9.]*\) % of the text.*/\2/p' out >covered
		[ "$(wc -l <covered)" -eq 2 ] && [ "$(uniq covered | wc -l)" -eq 1 ] &&
			none '^0\.' <covered || fail "$(cat out)"
	done
}

# sections READELF FILE: its dump, of at least one function
sections() {
	"$1" --sframe "$2" 2>err
	[ ! -s err ] || fail "$1 says of $2: $(cat err)"
}

# same_section READELF A B: both have it, with the same functions and rows
same_section() {
	sections "$1" "$2" >a.dump
	sections "$1" "$3" >b.dump
	grep -q 'func idx' a.dump || fail "no functions in $2"
	cmp a.dump b.dump || fail "$(diff a.dump b.dump)"
}

# same_others A B: all sections but ours, their names and places, are the same
same_others() {
	for file in "$1" "$2"; do
		readelf -SW "$file" | sed -n 's/^ *\[ *\([0-9]*\)\] /\1 /p' |
			grep -v '\.shstrtab\|\.sframe' >"$(basename "$file").sections"
		objcopy -R .sframe "$file" "$(basename "$file").bare"
	done
	cmp "$(basename "$1").sections" "$(basename "$2").sections"
	for file in "$1" "$2"; do
		objdump -drwxs "$(basename "$file").bare" | tail -n +4 >"$(basename "$file").all"
	done
	cmp "$(basename "$1").all" "$(basename "$2").all"
}

# sources_in_parts: two files of C++ with functions in many sections and in groups
sources_in_parts() {
	cat >part.h <<'END'
template <class T> __attribute__((noinline)) T shared(T n)
{
	volatile T array[30] = {n};
	return array[0] + array[n % 30];
}
int other(int n);
END
	cat >one.cc <<'END'
#include <cstdio>
#include "part.h"
int main(int n, char **)
{
	try {
		if (other(n) > 1000)
			throw n;
	} catch (int) {
		return 1;
	}
	return printf("%d %d\n", shared(n), other(n)) < 0;
}
END
	cat >two.cc <<'END'
#include "part.h"
__attribute__((noinline)) int unused(int n) { return shared(n) * 2; }
int other(int n) { return shared(n + 1) + 1; }
END
}

# objects AS GXX OPTION…: one.o and two.o, and with its own sections one.gas and two.gas
objects() {
	as=$1 gxx=$2
	shift 2
	for part in one two; do
		"$gxx" "$@" -S -o $part.s $part.cc
		"$as" -o $part.o $part.s
		"$as" --gsframe -o $part.gas $part.s
	done
}

it_adds_relocated_sections_and_nothing_else() {
	needs g++ objcopy
	new_tools
	sources_in_parts
	objects "$toolchain/as" g++ -O2 -ffunction-sections
	for part in one two; do
		cp $part.o before
		convert $part.o -o $part.new
		cmp $part.o before
		right $part.new
		same_others $part.o $part.new
		"$toolchain/readelf" -SW $part.new | sed 's/.*\] //' >headers
		grep -Eq '^\.sframe +GNU_SFRAME +0+ .* 00 +A +0 +0 +8$' headers
		grep -Eq '^\.rela\.sframe +RELA +0+ .* 18 +I +[0-9]+ +[0-9]+ +8$' headers
	done
	# as many as functions, each relative to its field
	"$toolchain/readelf" -rW two.new | sed -n '/rela\.sframe/,$p' | grep -c R_X86_64_PC64 |
		grep -qx 3
}

it_makes_what_the_assembler_makes() {
	needs g++
	new_tools
	sources_in_parts
	for options in -O0 -O2 "-Os -ffunction-sections" "-O2 -fno-pie -fno-omit-frame-pointer"; do
		# shellcheck disable=SC2086 # options
		objects "$toolchain/as" g++ $options
		for part in one two; do
			convert $part.o -o $part.new
		done
		agree one.gas two.gas one.new two.new
		for kind in gas new; do
			for link in "" -Wl,--gc-sections; do
				# shellcheck disable=SC2086 # options
				g++ -B "$toolchain/" $link -no-pie one.$kind two.$kind -o linked$link.$kind
				quietly ./linked$link.$kind
				proved linked$link.$kind
			done
		done
		same_section "$toolchain/readelf" linked.gas linked.new
		same_section "$toolchain/readelf" linked-Wl,--gc-sections.gas linked-Wl,--gc-sections.new
	done
}

it_makes_version_2_for_the_linker_that_knows_it() {
	needs g++
	new_tools
	sources_in_parts
	old=$generations/2.44/bin
	objects "$old/as" g++ -O2 -ffunction-sections
	for part in one two; do
		convert --version 2 $part.o -o $part.new
		right $part.new
		"$toolchain/readelf" -rW $part.new | sed -n '/rela\.sframe/,$p' | grep -q R_X86_64_PC32
	done
	agree one.gas two.gas one.new two.new
	for kind in gas new; do
		g++ -no-pie -B "$old/" one.$kind two.$kind -o linked.$kind
		quietly ./linked.$kind
		proved linked.$kind
	done
	same_section "$old/readelf" linked.gas linked.new
}

# cross ARCHITECTURE TYPE32 TYPE64: of relocations
cross() {
	needs "$1-linux-gnu-g++" "qemu-$1"
	new_tools
	sources_in_parts
	readelf=$toolchain/$1-linux-gnu-readelf
	for options in -O0 "-O2 -ffunction-sections"; do
		# shellcheck disable=SC2086 # options
		objects "$toolchain/$1-linux-gnu-as" "$1-linux-gnu-g++" $options
		for part in one two; do
			convert $part.o -o $part.new
			right $part.new
			"$readelf" -rW $part.new | sed -n '/rela\.sframe/,$p' | grep -q "$3 "
			convert --version 2 $part.o -o $part.second
			right $part.second
			"$readelf" -rW $part.second | sed -n '/rela\.sframe/,$p' | grep -q "$2 "
		done
		agree one.gas two.gas one.new two.new one.second two.second
		for kind in gas new; do
			"$1-linux-gnu-g++" -static -B "$work/bin/$1/" one.$kind two.$kind -o linked.$kind
			quietly "qemu-$1" ./linked.$kind
			proved linked.$kind
		done
		same_section "$readelf" linked.gas linked.new
	done
}

# with_ld ARCHITECTURE: -B finds the newer linker
with_ld() {
	new_tools
	mkdir -p "$work/bin/$1"
	printf '#!/bin/sh\nexec "%s" "$@"\n' "$(realpath "$toolchain")/$1-linux-gnu-ld" >"$work/bin/$1/ld"
	chmod +x "$work/bin/$1/ld"
}

it_converts_objects_of_aarch64() {
	with_ld aarch64
	cross aarch64 R_AARCH64_PREL32 R_AARCH64_PREL64
}

it_converts_objects_of_s390x() {
	with_ld s390x
	cross s390x R_390_PC32 R_390_PC64
}

# What is linked and then converted is the same as what is converted and then linked.
it_says_what_the_linked_file_says() {
	new_tools
	{
		echo '.globl _start, far'
		echo '_start: .cfi_startproc'
		for i in $(seq 300); do
			printf '.cfi_def_cfa_offset %d\nnop\n' $((8 + i % 5 * 8))
		done
		printf '.cfi_endproc\n.section .text.far,"ax"\nfar: .cfi_startproc\nret\n.cfi_endproc\n'
	} >long.s
	"$toolchain/as" -o long.o long.s
	convert long.o -o long.new
	for part in o new; do
		"$toolchain/ld" -o long.$part.linked long.$part
	done
	convert long.o.linked -o wanted
	same_section "$toolchain/readelf" wanted long.new.linked
	proved long.new.linked
}

it_converts_what_was_linked_to_be_linked_again() {
	needs g++
	new_tools
	sources_in_parts
	objects "$toolchain/as" g++ -O2 -ffunction-sections
	"$toolchain/ld" -r one.gas two.gas -o all.gas
	"$toolchain/ld" -r one.o two.o -o all.o
	convert all.o -o all.new
	for part in one two; do
		convert $part.o -o $part.new
	done
	"$toolchain/ld" -r one.new two.new -o all.parts
	for kind in gas new parts; do
		right all.$kind
		agree all.$kind
		g++ -no-pie -B "$toolchain/" all.$kind -o linked.$kind
		quietly ./linked.$kind
		proved linked.$kind
	done
	same_section "$toolchain/readelf" linked.gas linked.new
	same_section "$toolchain/readelf" linked.gas linked.parts
}

it_replaces_an_assemblers_section() {
	needs g++ objcopy
	new_tools
	sources_in_parts
	objects "$toolchain/as" g++ -O2
	convert one.gas -o one.new
	[ "$(readelf -SW one.new | grep -c '\.sframe ')" -eq 2 ] || fail "$(readelf -SW one.new)"
	same_others one.gas one.new
	right one.new
	for _ in 1 2; do
		cp one.new before
		convert --in-place one.new
		cmp one.new before
		convert --in-place --version 2 one.new
		"$bobbin" sframe dump one.new | grep -q SFRAME_VERSION_2
		convert --in-place one.new
		cmp one.new before
	done
}

it_converts_clangs_objects() {
	needs clang g++
	new_tools
	sources_in_parts
	for part in one two; do
		clang -O2 -c $part.cc -o $part.o
		convert --in-place $part.o
		right $part.o
	done
	g++ -no-pie -B "$toolchain/" one.o two.o -o linked
	quietly ./linked
	proved linked
	"$bobbin" sframe dump linked | grep -q 'func idx \[3\]'
}

it_reads_debug_frame_packed_or_not() {
	needs gcc
	printf 'int f(int n) { return n + 1; }\nint g(int n) { return f(n) * f(2 * n); }\n' >two.c
	for option in "" -gz; do
		# shellcheck disable=SC2086 # options
		gcc -O0 -g $option -fno-asynchronous-unwind-tables -ffunction-sections -c two.c -o two.o
		readelf -SW two.o | none ' \.eh_frame '
		convert two.o -o two.new
		right two.new
		"$bobbin" sframe dump two.new >dump
		grep -q 'func idx .*, section = \.text\.f$' dump
		grep -q 'func idx .*, section = \.text\.g$' dump
	done
}

# The separate debug file of a kernel module: its code has a size, and no bytes.
it_reads_the_debug_files_of_objects() {
	needs gcc objcopy
	cat >three.c <<'END'
int other(int);
int f(int n) { return other(n) + 1; }
__attribute__((cold)) int g(int n) { return f(n) * f(2 * n); }
__attribute__((section(".init.text"))) int h(int n) { return g(n) * other(n); }
END
	for option in "" -ffunction-sections -gz; do
		# shellcheck disable=SC2086 # options
		gcc -O2 -g $option -fno-asynchronous-unwind-tables -c three.c -o three.o
		objcopy --only-keep-debug three.o three.debug
		readelf -SW three.debug | grep -q ' \.text.* NOBITS ' || fail "objcopy keeps the code"
		for name in three.o three.debug; do
			quietly "$bobbin" sframe stat $name
			tail -n +2 out >$name.stat
			convert $name -o $name.new
			right $name.new
			"$bobbin" sframe dump $name.new | sed -n '/Function Index/,$p' >$name.dump
		done
		grep -q 'CFI .* 3 functions, ' three.debug.stat || fail "$(cat three.debug.stat)"
		cmp three.o.stat three.debug.stat
		grep -q 'section = \.init\.text$' three.debug.dump || fail "$(cat three.debug.dump)"
		cmp three.o.dump three.debug.dump
	done
}

it_shares_rows_within_a_section_only() {
	needs gcc
	printf 'int f(int);\nint a(int n) { return f(n) + 1; }\nint b(int n) { return f(n) + 1; }\n' >twins.c
	gcc -O2 -c twins.c -o together.o
	gcc -O2 -c -ffunction-sections twins.c -o apart.o
	for name in together apart; do
		convert $name.o -o $name.plain
		convert --share $name.o -o $name.shared
		right $name.shared
		for kind in plain shared; do
			"$bobbin" sframe dump $name.$kind | sed -n 's/^ *Size: \([0-9]*\) bytes/\1/p' >$name.$kind.size
		done
	done
	[ "$(cat together.shared.size)" -lt "$(cat together.plain.size)" ] || fail "nothing is shared"
	cmp apart.shared.size apart.plain.size
}

it_survives_strip_and_objcopy() {
	needs g++
	new_tools
	sources_in_parts
	objects "$toolchain/as" g++ -O2 -g
	for part in one two; do
		convert --in-place $part.o
		"$toolchain/strip" -g $part.o
		"$toolchain/objcopy" $part.o $part.copy
	done
	g++ -B "$toolchain/" one.gas two.gas -o linked.gas
	g++ -B "$toolchain/" one.copy two.copy -o linked.copy
	same_section "$toolchain/readelf" linked.gas linked.copy
}

it_refuses_what_means_nothing_without_relocations() {
	needs gcc
	printf 'int main(void) { return 0; }\n' >main.c
	gcc -c main.c -o main.o
	for option in --section-only --side-file; do
		expect 1 "$bobbin" sframe convert $option main.o -o out.sframe
		complains main.o 'without its relocations'
		[ ! -e out.sframe ]
	done
	gcc -c -fno-asynchronous-unwind-tables main.c -o bare.o
	expect 1 "$bobbin" sframe convert bare.o -o new.o
	complains bare.o 'no .eh_frame and no .debug_frame'
	head -c 700 main.o >cut.o
	cp cut.o before
	expect 1 "$bobbin" sframe convert --in-place cut.o
	complains cut.o offset
	cmp cut.o before
	[ ! -e new.o ]
}

it_tells_what_is_left_out_by_section() {
	needs as
	cat >odd.s <<'END'
	.section .text.even,"ax"
e:	.cfi_startproc
	.byte 0
	.cfi_endproc
	.section .text.odd,"ax"
f:	.cfi_startproc
	.byte 0, 0
	.cfi_register rsp, rbx
	.byte 0
	.cfi_endproc
END
	as -o odd.o odd.s
	expect 0 "$bobbin" sframe convert -v odd.o -o odd.new
	grep -q '^odd\.o: \.text\.odd 0x2\.\.0x3: \.eh_frame FDE at 0x[0-9a-f]*: ' err || fail "$(cat err)"
	[ "$(wc -l <err)" -eq 2 ]
}

it_tells_of_what_is_no_code() {
	needs as
	cat >data.s <<'END'
	.section .template,"aw"
f:	.cfi_startproc
	.byte 0
	.cfi_endproc
	.text
g:	.cfi_startproc
	.byte 0
	.cfi_endproc
END
	as -o data.o data.s
	convert data.o -o data.new
	grep -q '; entries about no code of the file: 1$' err || fail "$(cat err)"
	"$bobbin" sframe dump data.new | grep -c 'func idx' | grep -qx 1
}

run_cases
