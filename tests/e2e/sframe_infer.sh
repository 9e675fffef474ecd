#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Sections are made of code that no table covers, too.
. "$(dirname "$0")/lib.sh"

! "$bobbin" --version | grep -q 'without Zydis' || {
	echo "1..0 # SKIP this bobbin was built without Zydis"
	exit 77
}

untabled="-fno-asynchronous-unwind-tables -fno-unwind-tables -fcf-protection=none"

# infer ARGUMENT…: it succeeds, with one line
infer() {
	expect 0 "$bobbin" sframe convert --infer "$@"
	[ "$(wc -l <err)" -eq 1 ] || fail "said, of $*: $(cat err)"
}

# told WORDS: the line has them
told() {
	grep -q "$1" err || fail "no '$1' in $(cat err)"
}

# refuses WORD ARGUMENT…: exit status 1, one line with the word, and no file
refuses() {
	word=$1
	shift
	expect 1 "$bobbin" sframe convert --infer "$@" -o made
	complains "$word"
	[ ! -e made ] || fail "written: $*"
}

# right FILE: a section without defects, that contradicts no table, and has more
right() {
	"$bobbin" sframe check "$1" >defects 2>err || fail "$(cat defects err)"
	"$bobbin" sframe check --against-cfi "$1" >defects 2>err ||
		grep -q ': there is no .eh_frame and no .debug_frame$' err || fail "$(cat defects err)"
	[ ! -s err ] || return 0
	grep -Eq ' compared: 0 different .* [1-9][0-9]* extra .* 0 unreadable ' defects ||
		fail "$(cat defects)"
}

# Frames of all kinds: none, fixed, large, with a switch, realigned, of variable size.
write_functions() {
	cat >functions.c <<'END'
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION __attribute__((noinline, noclone))

FUNCTION long leaf(long n)
{
	return n * 3 + 1;
}
FUNCTION long saving(long a, long b, long c)
{
	char room[200];

	memset(room, (int)a, sizeof(room));
	return leaf(a) + leaf(b) * leaf(c) + room[b & 63];
}
FUNCTION long choosing(int n, long x)
{
	switch (n) {
	case 0: return saving(x, 1, 2);
	case 1: return leaf(x) + saving(x, x, x);
	case 2: return puts("2");
	case 3: return x / 7;
	case 4: return saving(leaf(x), 9, x) + 1;
	case 5: return x + (atoi("5") & 1);
	}
	return 0;
}
FUNCTION long large(long n)
{
	char all[70000];

	memset(all, (int)n, sizeof(all));
	return all[n & 0xffff] + choosing((int)n & 7, n);
}
FUNCTION long variable(long n)
{
	char *room = alloca((size_t)n + 16);

	memset(room, 1, (size_t)n + 16);
	return room[n] + leaf(n);
}
FUNCTION long aligned(long n)
{
	char room[128] __attribute__((aligned(64)));

	memset(room, (int)n, sizeof(room));
	return room[n & 127] + leaf(n);
}
int main(int n, char **v)
{
	long sum = 0;

	for (int i = 0; i < n + 5; i++)
		sum += large(i) + variable(i) + aligned(i);
	return printf("%ld\n", sum) < 0 || !v;
}
END
	cat >same_rules.py <<'END'
# same_rules.py PROGRAM MADE-OF-TABLES MADE-OF-CODE: one rule at each instruction of the C functions
import bisect, os, re, subprocess, sys

NAMES = "leaf saving choosing large variable aligned main".split()

starts = set()

def rows(path):
    out, end = [], 0
    for line in open(path):
        f = re.match(r" *func idx .*pc = (0x[0-9a-f]+), size = (\d+) bytes(, block)?", line)
        row = re.match(r" *([0-9a-f]{16}) +(\S+) +(\S+) +(\S+)", line)
        if f:
            starts.add(int(f[1], 16))
            end = 0 if f[3] else int(f[1], 16) + int(f[2])
        elif row and end:
            if out and out[-1][1] > int(row[1], 16):
                out[-1][1] = int(row[1], 16)
            out.append([int(row[1], 16), end, row.group(2, 3, 4)])
    return out

def rule(rows, pc):
    i = bisect.bisect([r[0] for r in rows], pc) - 1
    return rows[i][2] if i >= 0 and pc < rows[i][1] else None

code, on, count = subprocess.check_output([os.environ.get("OBJDUMP", "objdump"), "-d", "--no-show-raw-insn", sys.argv[1]],
                                          text=True), False, 0
tables, inferred = rows(sys.argv[2]), rows(sys.argv[3])
for line in code.splitlines():
    head = re.match(r"[0-9a-f]+ <(.*)>:", line)
    insn = re.match(r" +([0-9a-f]+):\s+(\S+)", line)
    if head:
        on = first = head[1] in NAMES
    elif on and insn and not insn[2].startswith(("nop", "data16", "xchg")):
        pc = int(insn[1], 16)
        t, c = rule(tables, pc), rule(inferred, pc)
        # tables may name the slot while the register has the caller's value, too
        both = t and c and t[0] == c[0] and t[0].startswith("sp") and c[1] == "u"
        if t != c and not both:
            sys.exit(f"{pc:x}: {t} by the table, {c} by the code")
        if pc in starts and not first:
            sys.exit(f"{pc:x}: a function begins inside another one")
        first = False
        count += 1
print(count)
END
}

it_infers_the_rows_that_tables_have() {
	needs gcc objdump python3
	write_functions
	for flags in "-O2 -ffixed-rbp" "-O1 -ffixed-rbp -no-pie" "-O2" \
		"-Os -ffixed-rbp -static"; do
		# shellcheck disable=SC2086 # options
		gcc $flags -fcf-protection=none functions.c -o with
		# shellcheck disable=SC2086
		gcc $flags $untabled functions.c -o without
		objdump -d without | grep -v 'file format' >disassembled
		objdump -d with | grep -v 'file format' | cmp - disassembled ||
			skip "the compiler makes other code without tables"
		expect 0 "$bobbin" sframe convert with -o by_tables
		"$bobbin" sframe dump by_tables >tables
		infer without -o by_code
		right by_code
		"$bobbin" sframe dump by_code >code
		quietly python3 same_rules.py without tables code
		[ "$(cat out)" -gt 100 ] || fail "only $(cat out) instructions"
		quietly ./without
		mv out wanted
		quietly ./by_code
		cmp out wanted
		strip -o stripped without
		infer stripped -o by_stripped_code
		right by_stripped_code
		quietly ./by_stripped_code
		cmp out wanted
		"$bobbin" sframe dump by_stripped_code >code
		quietly python3 same_rules.py without tables code
	done
}

it_needs_no_table_at_all() {
	needs gcc objcopy
	write_functions
	# shellcheck disable=SC2086 # options
	gcc -O2 $untabled functions.c -o all
	objcopy -R .eh_frame -R .eh_frame_hdr all bare
	strip bare
	expect 1 "$bobbin" sframe convert bare -o none
	infer bare -o made
	told 'bare: [0-9]* functions, [0-9]* rows, [0-9]* bytes; inferred from code: [1-9][0-9]* functions'
	right made
	quietly ./made
	# twice in place is once
	infer --in-place bare
	cmp bare made
	infer --in-place bare
	size=$(wc -c <bare)
	infer --in-place bare
	[ "$(wc -c <bare)" -eq "$size" ] || fail "it grows to $(wc -c <bare) from $size"
}

it_is_read_by_readelf() {
	needs gcc
	[ -x "$toolchain/readelf" ] || skip "no newer binutils: run tools/fetch-toolchain"
	write_functions
	# shellcheck disable=SC2086 # options
	gcc -O2 $untabled functions.c -o all
	for option in --version=3 --share; do
		infer $option all -o made
		"$toolchain/readelf" --sframe made >listed 2>&1
		none -i 'error\|warning\|corrupt' <listed
		grep -c '^ *[0-9a-f]\{16\} ' listed >rows
		"$bobbin" sframe dump made | grep -c '^ *[0-9a-f]\{16\} ' | cmp - rows
		[ "$(cat rows)" -gt 50 ] || fail "$(cat listed)"
	done
}

# completes FILE: a walk by the section that is made for it reaches the end of the stack; from main()
# on, nothing returns, so that nothing there is verified
completes() {
	infer "$1" -o made
	spawn ./made
	eventually grep -q '(made) S ' "/proc/$pid/stat"
	quietly "$bobbin" stack -v --no-code "$pid"
	none 'the trace ends here' <out
}

write_waiting() {
	cat >waiting.c <<'END'
#include <unistd.h>

#define FUNCTION __attribute__((noinline, noclone))

FUNCTION int third(volatile int *x)
{
	pause();
	return *x;
}
FUNCTION int second(volatile int *x)
{
	return third(x) + *x;
}
FUNCTION int first(volatile int *x)
{
	return second(x) * 2;
}
int main(int n, char **v)
{
	volatile int x = n;

	return first(&x) + !v;
}
END
}

it_completes_stacks_of_static_programs() {
	needs musl-gcc
	write_waiting
	# shellcheck disable=SC2086 # options
	musl-gcc -O2 -fomit-frame-pointer -static $untabled waiting.c -o waiting
	completes waiting
	for name in third second first main; do
		grep -q " $name+.*\[\.sframe\]" out || fail "no $name: $(cat out)"
	done
	strip waiting
	completes waiting
	[ "$(grep -c '/made).* \[\.sframe\]' out)" -ge 5 ] || fail "$(cat out)"
}

it_leaves_out_what_is_not_verified() {
	needs gcc
	cat >guess.s <<'END'
	.globl sure, lost
	.type sure, @function
	.type lost, @function
sure:	push %rbx
	xor %ebx, %ebx
	pop %rbx
	ret
	.balign 16
lost:	push %rbx
	xor %ebx, %ebx
	ret
END
	gcc -shared -nostdlib guess.s -o guess
	expect 0 "$bobbin" sframe convert --infer guess -o made
	told '; inferred from code: 1 functions, [12] rows are left out because they are not verified$'
	quietly "$bobbin" sframe dump made
	start=$(nm guess | awk '$3 == "sure" { print $1 }')
	[ "$(grep -c 'func idx' out)" -eq 1 ] || fail "$(cat out)"
	grep -q "^ *$start  sp+8 " out || fail "$(cat out)"
}

# A function without a table goes on inside one that has a table, whose rules hold there
it_leaves_code_with_tables_to_them() {
	needs gcc
	cat >shared.s <<'END'
	.globl bare, covered, after
	.type bare, @function
	.type covered, @function
	.type after, @function
bare:	push %rbx
	xor %ebx, %ebx
	jmp 1f
	.balign 16
covered: .cfi_startproc
	push %rbx
	.cfi_def_cfa_offset 16
	mov %edi, %ebx
1:	pop %rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.balign 16
after:	ret
END
	gcc -shared -nostdlib shared.s -o shared
	infer shared -o made
	told ' 100.000 % of the code with call-frame information is covered; inferred from code: 2 functions$'
	right made
	quietly "$bobbin" sframe dump made
	[ "$(grep -c 'func idx' out)" -eq 3 ] || fail "$(cat out)"
}

# The stack pointer before a realignment is in memory, and the CFA eight bytes above it
it_tells_what_sframe_cannot_express() {
	needs gcc
	cat >realigned.s <<'END'
	.globl realigned
	.type realigned, @function
realigned:
	mov %rsp, %rax
	sub $64, %rsp
	and $-64, %rsp
	mov %rax, (%rsp)
	xor %eax, %eax
	mov (%rsp), %rsp
	ret
END
	gcc -shared -nostdlib realigned.s -o realigned
	expect 0 "$bobbin" sframe convert --infer -v realigned -o made
	grep -q '^realigned: 0x[0-9a-f]*\.\.0x[0-9a-f]*: code: ' err || fail "$(cat err)"
	tail -n 1 err | grep -q ': 1 functions, 1 because SFrame cannot express them$' ||
		fail "$(cat err)"
	right made
	"$bobbin" sframe dump made | grep -c 'func idx' >functions
	[ "$(cat functions)" -eq 2 ]
}

it_says_why_there_is_nothing_to_infer() {
	needs gcc
	echo 'int x = 1;' >data.c
	gcc -shared -nostdlib data.c -o data
	refuses 'no code whose rules can be verified' data
	printf 'int main(void) { return 0; }\n' >main.c
	gcc -c main.c -o main.o
	refuses 'relocatable' main.o
	gcc main.c -o main
	expect 2 "$bobbin" sframe convert --infer --side-file main -o made
	[ ! -e made ]
	head -c 3000 main >cut
	refuses cut cut
}

# As on this machine; and signed return addresses are told
it_infers_the_rows_that_tables_of_aarch64_have() {
	needs aarch64-linux-gnu-gcc aarch64-linux-gnu-objdump python3
	! "$bobbin" --version | grep -q 'without Capstone' || skip "this bobbin was built without Capstone"
	write_functions
	for flags in "-O2 -no-pie" "-O1" "-O1 -mbranch-protection=pac-ret" \
		"-Os -mbranch-protection=pac-ret+b-key"; do
		# shellcheck disable=SC2086 # options
		aarch64-linux-gnu-gcc $flags functions.c -o with
		# shellcheck disable=SC2086
		aarch64-linux-gnu-gcc $flags -fno-asynchronous-unwind-tables -fno-unwind-tables functions.c -o without
		expect 0 "$bobbin" sframe convert with -o by_tables
		"$bobbin" sframe dump by_tables >tables
		infer without -o by_code
		right by_code
		"$bobbin" sframe dump by_code >code
		quietly env OBJDUMP=aarch64-linux-gnu-objdump python3 same_rules.py without tables code
		[ "$(cat out)" -gt 100 ] || fail "only $(cat out) instructions"
	done
	# what has no symbols: functions are found by calls and by their addresses
	aarch64-linux-gnu-gcc -O2 -s -fno-asynchronous-unwind-tables -fno-unwind-tables functions.c -o stripped
	infer stripped -o made
	told '; inferred from code: [1-9][0-9]* functions'
	right made
}

it_refuses_other_machines() {
	printf 'int main(void) { return 0; }\n' >main.c
	needs s390x-linux-gnu-gcc
	s390x-linux-gnu-gcc -static main.c -o main
	refuses 'cannot read the code of this machine' main
}

run_cases
