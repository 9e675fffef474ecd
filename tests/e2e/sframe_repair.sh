#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Sections are damaged in one way each; what is sound must stay as it was.
. "$(dirname "$0")/lib.sh"

tools=$sources/../../build/toolchain

# linked FILE VERSION: a program with .sframe by this binutils; 2.40 is the machine's
linked() {
	case $2 in
	2.40) bin=/usr/bin ;;
	*)
		bin=$tools/$2/bin
		[ -x "$bin/as" ] || skip "no assembler in build/toolchain/$2"
		;;
	esac
	gcc -B "$bin/" -O2 -fomit-frame-pointer -Wa,--gsframe -o "$1" "$sources/chain.c"
}

# sound FILE: but for what the linker says of .plt.got, which only other tables can put right
sound() {
	"$bobbin" sframe check "$1" >said || :
	grep -v ": warning: a linker's stub begins" said | none ': warning: \|: error: '
}

# functions FILE: with their rows, as we print them
functions() {
	"$bobbin" sframe dump "$1" | sed '1,/Function Index/d; s/func idx *\[[0-9]*\]//' | grep .
}

# in_readelf FILE: how many functions readelf sees
in_readelf() {
	"$tools/2.47/bin/readelf" --sframe "$1" | grep -c 'func idx'
}

# place FILE: offset in the file of its section
place() {
	echo $((0x$(readelf -SW "$1" | sed -n 's/.* \.sframe *[^ ]* *[0-9a-f]* *\([0-9a-f]*\) .*/\1/p')))
}

# patch FILE OFFSET BYTES: overwrite, BYTES in the manner of printf
patch() {
	# shellcheck disable=SC2059 # it is a format
	printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# bare FILE: a section of version 3 of such a program, for address 0
bare() {
	linked program 2.47
	quietly "$bobbin" sframe merge -o "$1" --address 0 program
}

it_leaves_clean_sections_as_they_are() {
	for version in 2.40 2.44 2.47; do
		linked program $version
		quietly "$bobbin" sframe repair program -o repaired
		functions program >before
		functions repaired | diff before -
		sound repaired
		[ "$(in_readelf repaired)" -eq "$(grep -c size before)" ]
		./program 10 >wanted
		./repaired 10 >got
		cmp wanted got
		[ -x repaired ]
		readelf -lW repaired | grep -q -e SFRAME -e 0x6474e554
		quietly "$bobbin" sframe repair repaired -o again
		cmp repaired again
	done
}

# The machine's binutils are 2.40 on Debian 12, and write version 1, of which repair makes 3.
it_keeps_the_version_or_changes_it() {
	linked program 2.40
	case $("$bobbin" sframe dump program | grep -o 'SFRAME_VERSION_[0-9]') in
	SFRAME_VERSION_2) ours=2 ;;
	*) ours=3 ;;
	esac
	for version in 2.40:$ours 2.44:2 2.47:3; do
		linked program ${version%:*}
		quietly "$bobbin" sframe repair program -o repaired
		"$bobbin" sframe dump repaired | grep "SFRAME_VERSION_${version#*:}"
		for other in 2 3; do
			quietly "$bobbin" sframe repair --version $other program -o repaired
			"$bobbin" sframe dump repaired | grep "SFRAME_VERSION_$other"
			functions program >before
			functions repaired | diff before -
		done
	done
}

it_knows_other_architectures() {
	bin=$tools/2.47/bin tried=0
	for machine in aarch64 s390x; do
		prefix=$machine-linux-gnu-
		if ! command -v ${prefix}gcc >/dev/null || [ ! -x "$bin/${prefix}as" ]; then
			continue
		fi
		printf 'int g(int);\nint f(int x) { int b[99]; return g(x) + g((int)(long)b); }\n' >f.c
		${prefix}gcc -O2 -fPIC -S f.c
		"$bin/${prefix}as" --gsframe -o f.o f.s
		"$bin/${prefix}ld" -shared -o library f.o
		quietly "$bobbin" sframe repair library -o repaired
		functions library >before
		functions repaired | diff before -
		"$bin/${prefix}readelf" --sframe repaired | grep -c 'func idx' >seen
		grep -c size before | diff seen -
		quietly "$bobbin" sframe repair repaired -o again
		cmp repaired again
		tried=$((tried + 1))
	done
	[ $tried -gt 0 ] || skip "no cross compilers"
}

it_writes_the_section_alone() {
	linked program 2.47
	quietly "$bobbin" sframe repair --section-only program -o section
	objcopy --dump-section .sframe=original program
	quietly "$bobbin" sframe merge -o wanted program
	cmp section wanted
	"$bobbin" sframe repair --section-only program -o - >got
	cmp section got
	quietly "$bobbin" sframe repair section -o again
	cmp section again
	cp section itself
	chmod 640 itself
	ln itself other
	expect 0 "$bobbin" sframe repair itself --in-place
	complains itself 'hard links'
	cmp section itself
	[ "$(stat -c %a-%h itself)" = 640-1 ]
	quietly "$bobbin" sframe repair --share section -o shared
	[ "$(wc -c <shared)" -le "$(wc -c <section)" ]
	functions shared >got
	functions section | diff - got
}

it_replaces_the_file_itself() {
	linked program 2.44
	cp program original
	chmod 4751 program
	quietly "$bobbin" sframe repair --in-place program
	[ "$(stat -c %a program)" = 4751 ]
	./program 10 >got
	./original 10 >wanted
	cmp got wanted
	! cmp -s program original
	# nothing is left beside it, and what fails changes nothing
	[ "$(find . -name 'program*' | wc -l)" -eq 1 ]
	gcc -c -O2 -o relocatable.o "$sources/chain.c"
	cp relocatable.o before
	expect 1 "$bobbin" sframe repair --in-place relocatable.o
	cmp relocatable.o before
}

it_sorts_and_joins_what_was_concatenated() {
	bare one
	size=$(stat -c %s one)
	quietly "$bobbin" sframe merge -o two --address "$size" program
	cat one two >both
	expect 0 "$bobbin" sframe repair both -o repaired
	cmp one repaired
	count=$(functions one | grep -c size)
	[ "$(grep -c 'the same function is there already' err)" -eq "$count" ]
	grep -q "^bobbin: $count functions; of $((2 * count)), $count dropped, 0 clipped" err
}

it_joins_what_a_linker_only_concatenated() {
	linked program 2.47
	objcopy --dump-section .sframe=one program
	addr=$((0x$(readelf -SW program | sed -n 's/.* \.sframe *[^ ]* *\([0-9a-f]*\) .*/\1/p')))
	quietly "$bobbin" sframe merge -o two --address $((addr + $(stat -c %s one))) program
	cat one two >both
	objcopy --remove-section .sframe program without
	objcopy --add-section .sframe=both --set-section-flags .sframe=alloc,readonly,data \
		--change-section-address .sframe=$addr without concatenated
	expect 1 "$bobbin" sframe check concatenated
	expect 0 "$bobbin" sframe repair concatenated -o repaired
	grep 'dropped: the same function is there already' err
	functions program >before
	functions repaired | diff before -
	sound repaired
	./repaired 10 >got
	./program 10 >wanted
	cmp got wanted
}

it_drops_functions_outside_of_the_code() {
	linked program 2.44
	count=$(functions program | grep -c size)
	# the first function's start is the section's now
	at=$(($(place program) + 28))
	patch program $at '\000\000\000\000'
	expect 0 "$bobbin" sframe repair program -o repaired
	grep "offset 0x$(printf %x $at): function 0x.* dropped: the function lies outside of the" err
	[ "$(functions repaired | grep -c size)" -eq $((count - 1)) ]
	[ "$(in_readelf repaired)" -eq $((count - 1)) ]
	# an unsound order was noticed, too
	grep 'put right: SFrame entries are not in ascending order' err
}

it_drops_functions_without_code() {
	linked program 2.44
	count=$(functions program | grep -c size)
	patch program $(($(place program) + 28 + 20 + 4)) '\000\000\000\000'
	expect 0 "$bobbin" sframe repair program -o repaired
	grep 'dropped: the function has no code' err
	[ "$(functions repaired | grep -c size)" -eq $((count - 1)) ]
}

it_drops_functions_that_cannot_be_read() {
	bare section
	count=$(functions section | grep -c size)
	rows=$((28 + 16 * count))
	# fifteen words in a row: the info byte follows the attributes and the start
	patch section $((rows + 6)) '\036'
	expect 0 "$bobbin" sframe repair section -o repaired
	grep "offset 0x$(printf %x $((rows + 5))): function .* dropped: malformed frame row entry" err
	[ "$(functions repaired | grep -c size)" -eq $((count - 1)) ]
	quietly "$bobbin" sframe repair repaired -o again
	cmp repaired again
}

it_clips_functions_that_overlap() {
	bare section
	cp section good
	count=$(functions section | grep -c size)
	# the first stub gets as large as two, and reaches into the next
	patch section $((28 + 8)) '\040'
	expect 0 "$bobbin" sframe repair section -o repaired
	grep "^bobbin: section: offset 0x1c: .* of 32 bytes clipped to 16 bytes: another function says" err
	grep "^bobbin: $count functions; of $count, 0 dropped, 1 clipped" err
	cmp repaired good
}

it_makes_headers_anew() {
	bare section
	cp section good
	# the number of rows, the length of the rows: too large and too small
	for damage in 12:'\143\000\000\000' 16:'\377\377\377\000' 16:'\007\000\000\000'; do
		cp good section
		patch section "${damage%%:*}" "${damage#*:}"
		expect 0 "$bobbin" sframe repair section -o repaired
		grep "^bobbin: section: offset 0x$(printf %x "${damage%%:*}"): put right: " err
		cmp good repaired
	done
	quietly "$bobbin" sframe repair -q section -o repaired
	cmp good repaired
}

it_believes_the_call_frame_information() {
	linked program 2.47
	objdump -h program | grep -q ' \.plt\.got ' || skip "the linker made no .plt.got"
	got=0x$(readelf -SW program | sed -n 's/.* \.plt\.got *[^ ]* *0*\([0-9a-f]*\) .*/\1/p')
	functions program | grep -A 2 "pc = $got," | grep 'sp+16' || skip "the linker knows better"
	expect 0 "$bobbin" sframe repair --against-cfi program -o repaired
	grep "^bobbin: program: $got to 0x.*: took the rule of the call-frame information" err
	[ "$(wc -l <err)" -eq 1 ]
	functions repaired | grep -A 2 "pc = $got," | grep 'sp+8'
	# and nothing else has changed
	functions program | grep -v -A 2 "pc = $got," | grep -c size >wanted
	functions repaired | grep -v -A 2 "pc = $got," | grep -c size | diff wanted -
	quietly "$bobbin" sframe repair --against-cfi repaired -o again
	cmp repaired again
}

it_survives_noise() {
	bare section
	size=$(stat -c %s section)
	for i in $(seq 40); do
		cp section noisy
		head -c 4 /dev/urandom | dd of=noisy bs=1 seek=$((i * size / 41)) conv=notrunc status=none
		status=0
		timeout 20 "$bobbin" sframe repair noisy -o repaired 2>err || status=$?
		[ $status -le 1 ] || fail "exit status $status: $(cat err)"
		[ $status -eq 0 ] || continue
		quietly "$bobbin" sframe repair repaired -o again
		cmp repaired again
	done
}

it_refuses_what_cannot_be_repaired() {
	linked program 2.47
	gcc -B "$tools/2.47/bin/" -c -O2 -Wa,--gsframe -o relocatable.o "$sources/chain.c"
	expect 1 "$bobbin" sframe repair relocatable.o -o repaired
	complains relocatable.o 'link it first'
	expect 1 "$bobbin" sframe repair "$sources/lib.sh" -o repaired
	grep -q 'no SFrame section' err
	expect 1 "$bobbin" sframe repair program -o -
	complains --section-only
	expect 1 "$bobbin" sframe repair program --in-place --section-only
	complains program
	expect 1 "$bobbin" sframe repair program -o no/such/folder
	complains no/such/folder 'No such file'
	expect 2 "$bobbin" sframe repair program
	expect 2 "$bobbin" sframe repair program -o x --in-place
	expect 2 "$bobbin" sframe repair -o x
	[ ! -e repaired ]
}

run_cases
