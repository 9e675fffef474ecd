#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Unwind tables that say something else than the code does are found.
. "$(dirname "$0")/lib.sh"

! "$bobbin" --version | grep -q 'without Zydis' || {
	echo "1..0 # SKIP this bobbin was built without Zydis"
	exit 77
}
[ "$(uname -m)" = x86_64 ] || {
	echo "1..0 # SKIP x86-64 is assembled"
	exit 77
}

# library [FLAG…]: good.so and bad.so of functions that save registers; the second without telling
library() {
	cat >good.s <<-'S'
		.text
		.macro keep reg
		push %\reg
		.cfi_adjust_cfa_offset 8
		.cfi_rel_offset \reg, 0
		.endm
		.macro restore reg
		pop %\reg
		.cfi_adjust_cfa_offset -8
		.cfi_restore \reg
		.endm
		.globl sum
		.type sum, @function
		sum:
		.cfi_startproc
		keep rbx
		keep rbp
		mov %rdi, %rbp
		lea (%rbp, %rsi), %rax
		restore rbp
		restore rbx
		ret
		.cfi_endproc
		.size sum, . - sum
		.globl other
		.type other, @function
		other:
		.cfi_startproc
		sub $24, %rsp
		.cfi_adjust_cfa_offset 24
		call sum@PLT
		add $24, %rsp
		.cfi_adjust_cfa_offset -24
		ret
		.cfi_endproc
		.size other, . - other
	S
	sed '/^[	 ]*\.cfi_rel_offset/d; /^[	 ]*\.cfi_adjust_cfa_offset -*8/d; /^[	 ]*\.cfi_restore/d' good.s >bad.s
	for name in good bad; do
		gcc -c "$@" -o $name.o $name.s
		gcc -shared -nostdlib -o $name.so $name.o
	done
}

it_finds_nothing_in_right_tables() {
	needs gcc
	library
	expect 0 "$bobbin" sframe lint good.so
	grep -q '^good.so: 0 places, 0 of [0-9]* instructions differ' out
	expect 0 "$bobbin" sframe lint -q good.so
	[ ! -s out ]
	expect 0 "$bobbin" sframe lint "$bobbin"
}

it_names_the_instruction_and_both_rules() {
	needs gcc
	library
	expect 1 "$bobbin" sframe lint bad.so
	[ "$(grep -c eh_frame: out)" -eq 1 ]
	grep -q ": sum+0x1: after 'push %rbx': 'push %rbp' and 4 more: CFA and FP: .eh_frame: CFA=sp+8 RA=c-8 FP=u; code: CFA=sp+16 RA=c-8 FP=u\$" out
	grep -q '^bad.so: 1 place, 5 of [0-9]* instructions differ' out
}

it_prints_a_document() {
	needs gcc python3
	library
	expect 1 "$bobbin" sframe lint --json bad.so good.so
	python3 - <<-'P'
		import json
		bad, good = json.load(open("out"))["files"]
		(fault,) = bad["faults"]
		assert fault["place"] == "sum+0x1" and fault["instructions"] == 5, fault
		assert fault["instruction"] == "push %rbp" and fault["after"] == "push %rbx", fault
		assert fault["table"].startswith("CFA=sp+8 "), fault
		assert fault["code"].startswith("CFA=sp+16 "), fault
		assert fault["cfa"] and fault["fp"] and fault["section"] == ".eh_frame", fault
		assert not good["faults"] and good["compared"] > 8, good
	P
}

it_looks_at_sframe_too() {
	needs gcc
	library
	"$bobbin" sframe convert -q bad.so -o both.so
	expect 1 "$bobbin" sframe lint both.so
	[ "$(grep -c ': \.eh_frame: ' out)" -eq 1 ]
	[ "$(grep -c ': \.sframe: ' out)" -eq 1 ]
	objcopy --remove-section .eh_frame --remove-section .eh_frame_hdr both.so alone.so
	expect 1 "$bobbin" sframe lint alone.so
	grep -q ": sum+0x1: after 'push %rbx': 'push %rbp' and 4 more: CFA and FP: .sframe: " out
}

# A part of a function is jumped to with a frame; its table is right.
it_believes_the_table_of_code_that_is_not_called() {
	needs gcc
	cat >part.s <<-'S'
		.text
		.globl whole
		.type whole, @function
		whole:
		.cfi_startproc
		push %rbx
		.cfi_adjust_cfa_offset 8
		lea table(%rip), %rax
		jmp *(%rax, %rdi, 8)
		.cfi_endproc
		.size whole, . - whole
		.p2align 4
		part:
		.cfi_startproc
		.cfi_def_cfa_offset 16
		nop
		mov %rdi, %rax
		pop %rbx
		.cfi_def_cfa_offset 8
		ret
		.cfi_endproc
		.data
		.quad 0
		table:
		.quad part
	S
	gcc -shared -nostdlib -o part.so part.s
	expect 0 "$bobbin" sframe lint part.so
}

it_refuses_what_it_cannot_compare() {
	needs gcc
	library
	expect 3 "$bobbin" sframe lint bad.o
	grep -q 'a relocatable file: link it first' err
	objcopy --remove-section .eh_frame --remove-section .eh_frame_hdr bad.so none.so
	expect 3 "$bobbin" sframe lint none.so
	grep -q 'there are no tables' err
	expect 3 "$bobbin" sframe lint bad.s
}

# forged HOW: forged.so, good.so with more segments of code: one "far" away, or "many" that are all of a file of 1 MiB
forged() {
	python3 - "$1" <<-'P'
		import struct, sys
		b = bytearray(open("good.so", "rb").read())
		phoff, phnum = struct.unpack_from("<Q", b, 32)[0], struct.unpack_from("<H", b, 56)[0]
		headers = b[phoff:phoff + 56 * phnum]
		load = lambda addr, size: struct.pack("<IIQQQQQQ", 1, 5, 0, addr, addr, size, size, 4096)
		if sys.argv[1] == "far":
		    more = [load(0xf0000000, 16)]
		else:
		    b += bytes((1 << 20) - len(b))
		    more = [load((i + 1) << 20, 1 << 20) for i in range(500)]
		struct.pack_into("<Q", b, 32, len(b))  # the program headers are at the end
		struct.pack_into("<H", b, 56, phnum + len(more))
		struct.pack_into("<Q", b, 40, 0)  # and there are no sections
		struct.pack_into("<HHH", b, 58, 0, 0, 0)
		open("forged.so", "wb").write(b + headers + b"".join(more))
	P
}

# What a header says is no reason to take memory.
it_takes_no_memory_on_the_word_of_a_file() {
	needs gcc python3
	library
	for how in far many; do
		forged $how
		expect 3 "$bobbin" sframe lint forged.so
		grep -q '^bobbin: forged.so: File too large$' err || fail "$how: $(cat err)"
	done
}

# in_terminal COMMAND: its standard error is one; what was written there is in ./seen
in_terminal() {
	needs script
	script -q -e -c "$1" seen >/dev/null || [ $? -eq "$2" ]
}

it_shows_how_far_it_is() {
	library
	in_terminal "'$bobbin' sframe lint good.so bad.so good.so >out" 1
	grep -q 'bobbin sframe lint: file 1 of 3' seen
	# at most twice a second
	[ "$(grep -o 'file [0-9]* of' seen | wc -l)" -le 3 ] || fail "often: $(cat seen)"
	none 'file [0-9]* of' <out
	in_terminal "'$bobbin' sframe lint -q good.so >out" 0
	none 'file 1 of' <seen
	in_terminal "'$bobbin' sframe lint good.so" 0
	none 'file 1 of' <seen
	quietly "$bobbin" sframe lint good.so
}

run_cases
