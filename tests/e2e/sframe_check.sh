#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What assemblers and linkers of all generations make is clean; what was damaged
# is told, with its place.
. "$(dirname "$0")/lib.sh"

generations=$sources/../../build/toolchain

# check STATUS FILE…: what it says is in ./out
check() {
	wanted=$1
	shift
	expect "$wanted" "$bobbin" sframe check "$@"
}

# clean FILE…: at most notes
clean() {
	check 0 "$@"
	none ': warning: \|: error: ' <out
	[ ! -s err ] || fail "said on stderr, of $*: $(cat err)"
}

# says LINE: ./out has it
says() {
	grep -qxF -e "$1" out || fail "no line '$1' in: $(cat out)"
}

# assemblers: the prefixes of those that are there, in front of as and ld
assemblers() {
	for prefix in "" "$generations/2.44/bin/" "$generations/2.47/bin/"; do
		! "${prefix}as" --version >/dev/null 2>&1 || echo "$prefix@"
	done
}

# all_assemblers: or skip
all_assemblers() {
	[ -x "$generations/2.44/bin/as" ] && [ -x "$generations/2.47/bin/as" ] ||
		skip "no newer assemblers: run tools/fetch-toolchain"
}

# assemble_and_check PREFIX SOURCE: as an object, and linked in each way
assemble_and_check() {
	"${1}as" --gsframe -o object.o "$2" 2>warnings
	clean object.o
	for way in -shared "-shared -z now" "-pie -z noseparate-code" "-r"; do
		# relocatable output before 2.45 is broken
		[ "$way" != -r ] || case $1 in *2.47*) ;; *) continue ;; esac
		# shellcheck disable=SC2086 # options
		"${1}ld" --unresolved-symbols=ignore-all $way -o linked object.o 2>warnings
		clean linked
	done
}

it_finds_nothing_wrong_with_c_on_x86_64() {
	needs gcc
	all_assemblers
	for option in -O0 -O2 -Os "-O2 -ffunction-sections" "-O2 -fno-omit-frame-pointer"; do
		for source in chain plugin threads; do
			# shellcheck disable=SC2086 # options
			gcc -fPIC $option -S -o source.s "$sources/$source.c"
			for prefix in $(assemblers); do
				assemble_and_check "${prefix%@}" source.s
			done
		done
	done
}

it_finds_nothing_wrong_with_cpp() {
	needs g++
	all_assemblers
	cat >source.cc <<'END'
#include <map>
#include <stdexcept>
#include <string>

extern "C" int other(const char *);

int each(const std::map<std::string, int> &m)
{
	int n = 0;
	try {
		for (const auto &e : m)
			n += other(e.first.c_str());
	} catch (const std::runtime_error &e) {
		n = other(e.what());
	}
	return n;
}
END
	for option in -O0 -O2 "-Os -ffunction-sections"; do
		# shellcheck disable=SC2086 # options
		g++ -fPIC $option -S -o source.s source.cc
		for prefix in $(assemblers); do
			assemble_and_check "${prefix%@}" source.s
		done
	done
}

# cross ARCHITECTURE GENERATION…
cross() {
	needs "$1-linux-gnu-gcc"
	all_assemblers
	for option in -O0 -O2 -Os; do
		"$1-linux-gnu-gcc" -fPIC $option -S -o source.s "$sources/chain.c"
		for generation in $2; do
			assemble_and_check "$generations/$generation/bin/$1-linux-gnu-" source.s
		done
	done
}

it_finds_nothing_wrong_on_aarch64() {
	cross aarch64 "2.44 2.47"
}

it_finds_nothing_wrong_on_s390x() {
	cross s390x 2.47
}

# One function of 33 bytes with four rows, V3, in ./lib.so; its section in ./bytes
# is at $section of the file: header, index at 28, attributes at 44, rows at 49.
make_library() {
	all_assemblers
	cat >one.s <<'END'
	.text
	.globl one
one:	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register rbp
	.skip 26, 0x90
	leave
	.cfi_def_cfa rsp, 8
	ret
	nop
	.cfi_endproc
END
	"$generations/2.47/bin/as" --gsframe -o one.o one.s
	"$generations/2.47/bin/ld" -shared -o lib.so one.o
	"$generations/2.47/bin/objcopy" --dump-section .sframe=bytes lib.so copy
	# shellcheck disable=SC2046 # two words
	set -- $("$generations/2.47/bin/readelf" -SW lib.so | sed 's/\[ */[/' |
		awk '$2 == ".sframe" { print $5, $4 }')
	section=$((0x$1)) start=$(printf 0x%x $((0x$("$generations/2.47/bin/nm" lib.so |
		awk '$3 == "one" { print $1 }'))))
}

# damage FILE OFFSET OCTAL…: other bytes from an offset on, in ./damaged
damage() {
	cp "$1" damaged
	at=$2
	shift 2
	for byte in "$@"; do
		# shellcheck disable=SC2059 # it is a format
		printf "\\$byte" | dd of=damaged bs=1 seek="$at" conv=notrunc status=none
		at=$((at + 1))
	done
}

it_says_how_much_it_looked_at() {
	make_library
	clean lib.so
	says "lib.so: 0 errors, 0 warnings, 0 notes in 1 function, 4 rows"
}

it_tells_file_offset_function_row_and_severity() {
	make_library
	damage lib.so $((section + 47)) 200
	check 1 damaged
	says "$(printf 'damaged: offset 0x%x: function 0 (%s): warning: reserved bits are set' \
		$((section + 47)) "$start")"
	damage lib.so $((section + 52)) 377
	check 1 damaged
	says "$(printf 'damaged: offset 0x%x: function 0 (%s): row 1: error: a row lies outside its function' \
		$((section + 52)) "$start")"
	damage lib.so $((section + 12)) 5
	check 1 damaged
	says "$(printf "damaged: offset 0x%x: error: the header's number of rows is not the sum of the functions'" \
		$((section + 12)))"
	says "damaged: 1 error, 0 warnings, 0 notes in 1 function, 5 rows"
}

it_tells_what_readers_refuse() {
	make_library
	damage bytes 3 200
	check 1 damaged
	says "damaged: offset 0x3: error: reserved SFrame header flags are set"
	damage bytes 4 7
	check 1 damaged
	says "damaged: offset 0x4: error: unknown SFrame ABI"
	damage bytes 24 377
	check 1 damaged
	says "damaged: offset 0x18: error: the SFrame header's sub-sections overlap or leave the section"
}

it_refuses_what_holds_no_table() {
	: >empty.sf
	head -c 28 /dev/zero >zeros.sf
	for file in empty.sf zeros.sf; do
		check 1 $file
		says "$file: offset 0x0: error: the region holds no SFrame data"
	done
}

it_tells_functions_outside_of_the_code() {
	make_library
	damage lib.so $((section + 28)) 0 0 0 0 0 0 0 0
	check 1 damaged
	grep -q ': error: the function lies outside of the executable code$' out
	# in a relocatable file, one that is longer than its section
	offset=$("$generations/2.47/bin/readelf" -SW one.o | sed 's/\[ */[/' |
		awk '$2 == ".sframe" { print $5 }')
	damage one.o $((0x$offset + 36)) 42
	check 1 damaged
	says "$(printf 'damaged: offset 0x%x: function 0 (.text+0x0): error: the function lies outside of the executable code' \
		$((0x$offset + 28)))"
}

it_compares_with_the_call_frame_information_of_an_object() {
	needs python3
	make_library
	sed 's/\.text/.section .text.far, "ax"/; s/\<one\>/far/' one.s >far.s
	"$generations/2.47/bin/as" --gsframe -o both.o one.s far.s
	check 0 --against-cfi both.o
	says "both.o: 8 rows of call-frame information compared: 0 different (0 bytes), 0 missing (0 bytes), 0 extra (0 bytes), 0 unreadable (0 bytes)"
	cp both.o ours.o
	"$bobbin" sframe convert -q --in-place ours.o
	for file in both.o ours.o; do
		offset=$("$generations/2.47/bin/readelf" -SW $file | sed 's/\[ */[/' |
			awk '$2 == ".sframe" { print $5 }')
		# of two functions with rows of 15 bytes, the CFA of the second one's second row
		damage $file $((0x$offset + 28 + 2 * 16 + 5 + 15 + 10)) 60
		check 1 --against-cfi damaged
		says "damaged: code .text.far 0x1..0x4: error: SFrame: CFA=sp+48 RA=c-8 FP=c-16; call-frame information: CFA=sp+16 RA=c-8 FP=c-16"
		says "damaged: 8 rows of call-frame information compared: 1 different (3 bytes), 0 missing (0 bytes), 0 extra (0 bytes), 0 unreadable (0 bytes)"
		check 1 --against-cfi --json damaged
		asks 'files[0]["different"] == 1 and files[0]["cfi_rows"] == 8'
		asks '[(d["section"], d["start"], d["end"], d["kind"]) for d in files[0]["differences"]] ==
			[(".text.far", "0x1", "0x4", "different")]'
	done
}

it_tells_code_of_an_object_that_only_one_side_knows() {
	make_library
	sed 's/\.text/.section .text.far, "ax"/; s/\<one\>/far/' one.s >far.s
	"$generations/2.47/bin/as" -o far.o far.s
	"$generations/2.47/bin/objcopy" -R .eh_frame -R .rela.eh_frame one.o bare.o
	"$generations/2.47/bin/ld" -r -o both.o bare.o far.o
	check 0 --against-cfi both.o
	says "both.o: code .text 0x0..0x1: note: SFrame: CFA=sp+8 RA=c-8 FP=u; call-frame information: none (no function of the unwind table covers this PC)"
	says "both.o: code .text.far 0x0..0x21: note: no SFrame, but call-frame information"
	says "both.o: 4 rows of call-frame information compared: 0 different (0 bytes), 1 missing (33 bytes), 4 extra (33 bytes), 0 unreadable (0 bytes)"
	quietly "$bobbin" sframe stat both.o
	grep -qx '  text  *66 bytes' out
	grep -q '^  \.sframe V3  .* 50\.00 % of the text,' out
	expect 3 "$bobbin" sframe check --against-cfi -q bare.o
	complains bare.o 'no .eh_frame and no .debug_frame'
}

it_tells_a_section_of_another_machine() {
	make_library
	damage lib.so 18 267
	check 1 damaged
	says "$(printf 'damaged: offset 0x%x: error: the ABI of the section is not that of its file' \
		$((section + 4)))"
}

it_reports_bytes_after_a_section() {
	make_library
	cat bytes bytes >two
	check 1 two
	says "$(printf 'two: offset 0x%x: warning: another SFrame section follows, which most readers overlook' \
		"$(wc -c <bytes)")"
	{
		cat bytes
		printf '\000\000x\000'
	} >more
	check 1 more
	says "$(printf 'more: offset 0x%x: warning: bytes other than zero after the SFrame section' \
		$(($(wc -c <bytes) + 2)))"
	printf '\000\000\000\000' >>bytes
	clean bytes
}

it_reads_standard_input() {
	make_library
	check 0 - <bytes
	says "-: 0 errors, 0 warnings, 0 notes in 1 function, 4 rows"
	expect 0 sh -c 'cat lib.so | "$0" sframe check -' "$bobbin"
	says "-: 0 errors, 0 warnings, 0 notes in 1 function, 4 rows"
}

it_says_nothing_of_notes_if_told_so() {
	make_library
	# a row at the end of its function
	damage bytes 59 41
	check 0 damaged
	grep -q ': note: ' out
	check 0 -q damaged
	[ ! -s out ] || fail "said: $(cat out)"
	damage bytes 47 200
	check 1 -q damaged
	[ "$(wc -l <out)" -eq 1 ]
}

it_leaves_terminals_alone() {
	make_library
	escape=$(printf '\033')
	objcopy --rename-section ".text=.te${escape}[31mxt" one.o renamed.o
	at=$((0x$(readelf -SW renamed.o | sed 's/\[ */[/' | awk '$2 == ".sframe" { print $5 }')))
	damage renamed.o $((at + 47)) 200
	check 1 damaged
	grep -q 'function 0 (\.te\[31mxt+0x0): ' out || fail "$(cat out)"
	check 3 "no${escape}[31mfile"
	none -F "$escape" <err
}

it_tells_clean_damaged_and_unreadable_files_apart() {
	make_library
	damage bytes 47 200
	check 0 bytes lib.so one.o
	check 1 bytes damaged lib.so
	check 3 damaged missing bytes
	complains missing
	check 3 "$generations"
	"$generations/2.47/bin/as" -o none.o one.s
	check 3 none.o
	complains none.o 'no SFrame section'
	check 2
	check 2 --nonsense bytes
	expect 3 sh -c 'cat lib.so | "$0" sframe check -q --against-cfi -' "$bobbin"
	complains 'not a regular file'
}

it_prints_json() {
	needs python3
	make_library
	damage bytes 47 200
	check 1 --json damaged bytes
	cat >expectation.py <<'END'
import json, sys

files = json.load(open("out"))["files"]
assert [f["file"] for f in files] == ["damaged", "bytes"], files
[defect] = files[0]["defects"]
assert defect["offset"] == 47 and defect["function"] == 0 and "row" not in defect
assert defect["severity"] == "warning" and defect["reason"] == "SFRAME_RESERVED"
assert defect["sentence"] == "reserved bits are set"
assert int(defect["start"], 16) == int(sys.argv[1], 16), defect
assert (files[0]["errors"], files[0]["warnings"], files[0]["notes"]) == (0, 1, 0)
assert files[1]["defects"] == [] and files[1]["functions"] == 1 and files[1]["rows"] == 4
END
	address=$("$generations/2.47/bin/readelf" -SW lib.so | sed 's/\[ */[/' |
		awk '$2 == ".sframe" { print $4 }')
	# bare bytes are at address 0
	python3 expectation.py "$(printf %x $((start - 0x$address)))"
}

run_cases
