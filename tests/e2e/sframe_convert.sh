#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs get an .sframe section, and run as before; no file is ever damaged.
. "$(dirname "$0")/lib.sh"

lib=/usr/lib/$(uname -m)-linux-gnu

# convert ARGUMENT…: it succeeds, with one line
convert() {
	expect 0 "$bobbin" sframe convert "$@"
	[ "$(wc -l <err)" -eq 1 ] || fail "said, of $*: $(cat err)"
}

# right FILE…: they have a loaded section without a mistake, that says what their CFI says,
# right or wrong
right() {
	for file in "$@"; do
		readelf -lW "$file" | grep -q '0x6474e554\|GNU_SFRAME' || fail "$file has no segment"
		"$bobbin" sframe check --against-cfi "$file" >defects 2>err || :
		grep -v 'the CFA lies below the stack pointer$' defects | none ': warning: \|: error: '
		grep -q ' compared: 0 different .* 0 extra .* 0 unreadable ' defects ||
			fail "$(cat defects err)"
	done
}

# refuses WORD ARGUMENT…: exit status 1, a line with the word, and no file more than before
refuses() {
	word=$1
	shift
	ls -A >../before
	expect 1 "$bobbin" sframe convert "$@"
	complains "$word"
	ls -A >../after
	grep -v -x 'out\|err' ../before >../wanted
	grep -v -x 'out\|err' ../after | cmp - ../wanted || fail "left behind: $(cat ../after)"
}

# same_output A B [ARGUMENT…]: of both programs
same_output() {
	a=$1 b=$2
	shift 2
	quietly "$a" "$@"
	mv out expected
	quietly "$b" "$@"
	cmp out expected
}

it_converts_c_of_each_kind() {
	needs gcc
	printf '#include <stdio.h>\nint main(int n, char **v) { printf("%%d %%s\\n", n, v[1]); return 0; }\n' >main.c
	for kind in -pie "-no-pie -fno-pie" -static -static-pie "-no-pie -Wl,-z,noseparate-code" \
		"-Wl,-z,lazy" "-Wl,-z,now -Wl,-z,relro"; do
		# shellcheck disable=SC2086 # options
		gcc -O2 $kind main.c -o main
		convert main -o converted
		right converted
		same_output ./main ./converted word
	done
}

it_leaves_exceptions_to_be_thrown_and_caught() {
	needs g++
	cat >throw.cc <<'END'
#include <iostream>
#include <stdexcept>
#include <vector>

static int deep(int n)
{
	std::vector<int> guard(n);
	if (!n)
		throw std::runtime_error("thrown");
	return deep(n - 1) + guard.size();
}

int main()
{
	for (int i = 0; i < 3; i++)
		try {
			std::cout << deep(i * 10) << "\n";
		} catch (const std::exception &e) {
			std::cout << "caught " << e.what() << " " << i << "\n";
		}
}
END
	for kind in -O0 -O2 "-O2 -static" "-O2 -no-pie"; do
		# shellcheck disable=SC2086 # options
		g++ $kind throw.cc -o throw
		quietly ./throw
		grep -q 'caught thrown 2' out
		convert throw -o converted
		right converted
		same_output ./throw ./converted
	done
}

it_converts_shared_libraries() {
	needs gcc
	printf 'int twice(int n) { return 2 * n; }\n' >twice.c
	printf '#include <stdio.h>\nint twice(int);\nint main(void) { return printf("%%d\\n", twice(21)) != 3; }\n' >main.c
	gcc -O2 -shared -fPIC twice.c -o libtwice.so
	gcc -O2 main.c -L. -ltwice -o main
	mkdir converted
	convert libtwice.so -o converted/libtwice.so
	convert "$lib/libc.so.6" -o converted/libc.so.6
	right converted/*.so*
	quietly env LD_LIBRARY_PATH=converted ./main
	grep -qx 42 out
}

it_converts_programs_of_the_distribution() {
	cp /bin/ls ls
	convert ls -o converted
	right converted
	same_output ./ls ./converted -d /
	cmp ls /bin/ls
}

it_survives_strip_and_objcopy() {
	needs strip objcopy gcc
	printf 'int main(void) { return 7; }\n' >main.c
	gcc -g main.c -o main
	convert main -o converted
	strip -o stripped converted
	objcopy converted copied
	for file in stripped copied; do
		expect 7 ./$file
		right $file
	done
}

it_converts_twice_to_the_same() {
	cp /bin/ls ls
	for version in 3 3 2 2 3; do
		convert --in-place --version $version ls
		right ls
		quietly ./ls -d /
		"$bobbin" sframe dump ls | grep -q "SFRAME_VERSION_$version" || fail "not $version"
	done
	size=$(wc -c <ls)
	for _ in 1 2 3; do
		convert --in-place ls
		[ "$(wc -c <ls)" -eq "$size" ] || fail "it grows to $(wc -c <ls) from $size"
	done
}

it_replaces_a_section_that_is_there() {
	needs gcc
	printf 'int main(int n, char **v) { return n + (v == 0); }\n' >main.c
	gcc -Wa,--gsframe main.c -o old
	set -- old
	if [ -x "$toolchain/as" ]; then
		gcc -B "$toolchain/" -Wa,--gsframe-3 main.c -o new
		set -- old new
	fi
	for file in "$@"; do
		convert "$file" -o converted
		right converted
		expect 3 ./converted a b
		[ "$(readelf -SW converted | grep -c ' \.sframe ')" -eq 1 ]
		"$bobbin" sframe dump converted | grep -q SFRAME_VERSION_3
	done
}

it_keeps_permissions_in_place() {
	cp /bin/ls ls
	for mode in 755 4755 2711 6750 444; do
		chmod $mode ls
		convert --in-place ls
		[ "$(stat -c %a ls)" = $mode ] || fail "$(stat -c %a ls), not $mode"
	done
	chmod 4755 ls
	convert ls -o copy
	[ "$(stat -c %a copy)" = 755 ] || fail "a copy has mode $(stat -c %a copy)"
	right ls copy
}

it_keeps_the_owner_in_place() {
	needs_root
	cp /bin/ls ls
	chown 1:2 ls
	chmod 4755 ls
	convert --in-place ls
	[ "$(stat -c '%u:%g %a' ls)" = '1:2 4755' ] || fail "$(stat -c '%u:%g %a' ls)"
}

it_keeps_extended_attributes_in_place() {
	needs python3
	cp /bin/ls ls
	cat >attribute.py <<'END'
import os, sys
names = {"user.note": b"kept", "security.capability": bytes.fromhex("0100000200200000" + 24 * "0")}
if sys.argv[1] == "set":
    for name, value in names.items() if os.geteuid() == 0 else [("user.note", b"kept")]:
        os.setxattr("ls", name, value)
else:
    for name in os.listxattr("ls"):
        if name in names:
            print(name, os.getxattr("ls", name).hex())
END
	python3 attribute.py set 2>why || skip "no extended attributes here: $(tail -n 1 why)"
	python3 attribute.py get >before
	grep -q note before
	convert --in-place ls
	python3 attribute.py get | cmp - before
}

it_follows_symbolic_links() {
	cp /bin/ls ls
	ln -s ls link
	convert --in-place link
	[ -L link ]
	right ls
	cp /bin/true other
	convert other -o link
	[ -L link ]
	right ls
	quietly ./ls
}

it_may_write_over_its_input() {
	cp /bin/ls ls
	convert ls -o ls
	right ls
	quietly ./ls -d /
}

it_writes_to_devices_and_pipes() {
	cp /bin/ls ls
	convert -o wanted ls
	convert --section-only -o section ls
	convert ls -o /dev/null
	[ -c /dev/null ]
	"$bobbin" sframe convert -q ls -o /dev/stdout | cmp - wanted
	"$bobbin" sframe convert -q --section-only ls -o /dev/stdout | cmp - section
	mkfifo pipe
	cat pipe >read &
	convert --section-only ls -o pipe
	wait
	cmp read section
	[ -p pipe ]
	refuses 'No space left' -q ls -o /dev/full
	refuses 'No space left' -q --section-only ls -o /dev/full
}

it_takes_no_file_for_a_closed_stream() {
	cp /bin/ls ls
	ln -s /proc/self/fd/1 out
	"$bobbin" sframe convert -q ls -o out >&-
	cmp ls /bin/ls
	[ -L out ]
}

it_writes_bare_sections() {
	needs objcopy
	cp /bin/ls ls
	convert ls -o converted
	address=$(readelf -SW converted | sed 's/\[ */[/' | awk '$2 == ".sframe" { print "0x" $4 }')
	convert --section-only --address "$address" ls -o bytes
	"$bobbin" sframe convert -q --section-only --address "$address" ls -o - >piped
	cmp bytes piped
	objcopy --dump-section .sframe=dumped converted copied
	cmp bytes dumped
}

it_shares_rows_if_told_so() {
	convert --section-only "$lib/libc.so.6" -o alone
	convert --section-only --share "$lib/libc.so.6" -o shared
	[ "$(wc -c <shared)" -lt "$(wc -c <alone)" ]
	convert --share "$lib/libc.so.6" -o converted
	right converted
}

it_tells_what_is_left_out() {
	expect 0 "$bobbin" sframe convert -v --version 2 "$lib/libcrypto.so.3" -o converted
	grep -q 'libcrypto\.so\.3: 0x[0-9a-f]*\.\.0x[0-9a-f]*: \.eh_frame FDE at 0x[0-9a-f]*: ' err
	tail -n 1 err | grep -q ' rows are left out$' || fail "$(tail -n 1 err)"
	quietly "$bobbin" sframe convert -q "$lib/libcrypto.so.3" -o converted
	right converted
}

it_refuses_what_it_cannot_convert() {
	needs gcc objcopy
	printf 'int main(void) { return 0; }\n' >main.c
	gcc -c -fno-asynchronous-unwind-tables main.c -o main.o
	gcc main.c -o main
	objcopy -R .eh_frame -R .eh_frame_hdr main bare 2>warnings
	echo text >text
	mkdir folder
	head -c 3000 main >cut
	: >empty
	for file in main.o bare text cut empty folder nowhere; do
		refuses $file $file -o converted
	done
	refuses gone main -o gone/converted
	refuses folder main -o folder
	for file in main.o bare text cut empty; do
		cp $file before_$file
		refuses $file --in-place $file
		cmp $file before_$file
	done
}

it_leaves_the_original_on_a_full_disk() {
	needs_root
	needs unshare
	mkdir full
	expect 0 timeout 60 unshare -m --propagation private sh -ec '
		mount -t tmpfs -o size=3m none full
		cd full
		cp "$2" libc.so.6
		! "$1" sframe convert --in-place libc.so.6
		cmp libc.so.6 "$2"
		ls -A' sh "$bobbin" "$lib/libc.so.6"
	[ "$(cat out)" = libc.so.6 ] || fail "left behind: $(cat out)"
	complains 'No space left on device'
}

it_says_what_is_wrong_with_the_options() {
	cp /bin/ls ls
	for wrong in "ls" "" "ls -o a --in-place" "--in-place --section-only ls" "ls ls -o a" "ls -o -" \
		"--version 1 ls -o a" "--version 4 ls -o a" "--address 1 ls -o a" \
		"--section-only --address x ls -o a" "--nonsense ls -o a"; do
		# shellcheck disable=SC2086 # words
		expect 2 "$bobbin" sframe convert $wrong
		[ -s err ] || fail "silent: $wrong"
		[ ! -e a ] || fail "written: $wrong"
	done
	cmp ls /bin/ls
}

it_reads_standard_input() {
	cp /bin/ls ls
	"$bobbin" sframe convert -q --section-only ls -o wanted
	"$bobbin" sframe convert -q --section-only - -o bytes <ls
	cmp wanted bytes
	"$bobbin" sframe convert -q - -o converted <ls
	right converted
	refuses 'not a regular file' - -o copy </dev/null
	expect 1 sh -c 'cat ls | "$0" sframe convert --section-only - -o copy' "$bobbin"
	complains 'not a regular file'
	expect 2 sh -c '"$0" sframe convert --in-place - <ls' "$bobbin"
	[ ! -e - ] || fail "there is a file of that name"
	cmp ls /bin/ls
}

# cross ARCHITECTURE: static programs of another machine, under emulation
cross() {
	needs "$1-linux-gnu-gcc" "qemu-$1"
	printf '#include <stdio.h>\nint main(int n, char **v) { return printf("%%d %%s\\n", n, v[1]) < 0; }\n' >main.c
	for option in -O2 -O0; do
		"$1-linux-gnu-gcc" $option -static main.c -o main
		for version in 3 2; do
			convert --version $version main -o converted
			right converted
			quietly "qemu-$1" ./main word
			mv out expected
			quietly "qemu-$1" ./converted word
			cmp out expected
		done
	done
}

it_converts_aarch64() {
	cross aarch64
}

it_converts_s390x() {
	cross s390x
}

# glibc 2.41 calls the kernel by functions for what can be cancelled
cancelled='([^ ]*syscall_cancel[^ ]* )*'

# names FILE: of the functions in it, in one ./line
names() {
	sed 's/^#[0-9]*  *0x[0-9a-f]* //; s/+0x[0-9a-f]* .*//; /(inlined)/d; s/:$//' "$1" | tr '\n' ' ' >line
}

it_gives_walkers_all_frames() {
	convert "$(program asleep)" -o asleep
	spawn ./asleep
	eventually sh -c "[ \$(cat /proc/$pid/task/*/stat | awk '\$3 == \"S\"' | wc -l) -eq 3 ]"
	quietly "$bobbin" stack -v "$pid"
	grep '/asleep)' out | grep -v '(inlined)' | mostly 100 '\[\.sframe\]$'
	none 'the trace ends here' <out
	[ "$(grep -c '^#' out)" -ge 16 ] || fail "$(cat out)"
	names out
	grep -Eq " TID [0-9]+ $cancelled[^ ]*read[^ ]* wait_for_bytes reader start_thread " line
}

# Kernels are linked there, two gigabytes below the top
it_converts_files_of_the_upper_half_of_the_address_space() {
	cat >upper.c <<'END'
int inner(int x)
{
	volatile int room[30];

	room[x] = x;
	return room[3];
}
void _start(void)
{
	inner(inner(2) + 1);
	for (;;)
		;
}
END
	gcc -O1 -static -nostdlib -mcmodel=kernel -fno-pic -no-pie -fno-stack-protector \
		-Wl,-Ttext-segment=0xffffffff81000000,-z,max-page-size=0x1000,--build-id upper.c -o upper
	start=$(nm upper | sed -n 's/ T inner$//p')
	for version in 2 3; do
		convert --version $version upper -o new
		right new
		quietly "$bobbin" sframe dump new
		grep -q "pc = 0x$start, " out || fail "$(cat out)"
		grep -q "^ *$start  sp+8 " out || fail "$(cat out)"
		quietly "$bobbin" sframe stat new
		[ "$(grep -c ' 100\.00 % of the text' out)" -eq 2 ] || fail "$(cat out)"
		quietly "$bobbin" sframe repair --against-cfi new -o repaired
		right repaired
		convert --in-place --share new
		right new
	done
	[ "$(printf %s "$start" | cut -c 1-9)" = ffffffff8 ]
	"$bobbin" sframe pack folder upper 2>err
	"$bobbin" sframe unpack folder/*/* -o unpacked
	quietly "$bobbin" sframe check unpacked
}

it_covers_no_function_whose_return_address_is_elsewhere() {
	needs python3
	cat >elsewhere.s <<'END'
usual:	.cfi_startproc
	.skip 60, 0x90
	.cfi_endproc
moved:	.cfi_startproc
	.cfi_return_column 15
	.skip 20, 0x90
	.cfi_endproc
END
	gcc -shared -nostdlib elsewhere.s -o elsewhere
	for input in elsewhere elsewhere.o; do
		[ -e $input ] || as elsewhere.s -o $input
		expect 0 "$bobbin" sframe convert -v $input -o new
		grep -Eq "^$input: (\.text )?0x[0-9a-f]*\.\.0x[0-9a-f]*: \.eh_frame FDE at 0x[0-9a-f]*: the return-address column is not this architecture's$" err ||
			fail "$(cat err)"
		grep -q ': 1 functions, 1 rows, .* 75\.000 % of the code .*; 1 rows are left out$' err ||
			fail "$(cat err)"
		expect 0 "$bobbin" sframe check --against-cfi new
		expect 0 "$bobbin" sframe stat --json $input
		asks 'files[0]["lost_text"] == 20 and files[0]["lost_by_reason"] == {"CFI_RA_COLUMN": 1}'
	done
}

# rows COUNT NAME: a function whose rows do not recur, as tables of generated code do
rows() {
	awk -v count="$1" -v name="$2" 'BEGIN {
		printf ".globl %s\n%s: .cfi_startproc\n", name, name
		for (i = 0; i < count; i++) {
			seed = (seed * 1103515245 + 12345) % 2147483648
			print ".skip " 3 + int(seed / 65536) % 17 ", 0x90"
			print ".cfi_def_cfa_offset " 16 + 8 * (i * 7 % count)
		}
		print ".cfi_endproc"
	}'
}

section_size() {
	readelf -SW "$1" | sed -n 's/.* \.sframe *[^ ]* *[0-9a-f]* [0-9a-f]* \([0-9a-f]*\) .*/0x\1/p'
}

it_never_enlarges_a_section_by_sharing() {
	rows 5000 long >long.s
	{
		rows 300 one
		rows 300 two
	} >both.s
	cat long.s both.s >all.s
	for input in long both all; do
		gcc -shared -nostdlib $input.s -o $input
		for version in 2 3; do
			convert --version $version $input -o plain
			convert --version $version --share $input -o shared
			right shared
			[ $(($(section_size shared))) -le $(($(section_size plain))) ] ||
				fail "$input: $(section_size shared), plain $(section_size plain)"
		done
		echo "$input $(($(section_size shared))) $(($(section_size plain)))" >>sizes
	done
	# what others share is shared beside it, function by function
	awk '{ shared[$1] = $2; plain[$1] = $3 }
		END { exit !(shared["both"] < 0.7 * plain["both"] &&
			shared["all"] < plain["long"] + shared["both"]) }' sizes || fail "$(cat sizes)"
}

# packed NAME COMMAND…: `convert` and `stat` take what the command makes as they take program,
# a linked file or an object
packed() {
	name=$1
	shift
	for suffix in '' .o; do
		"$@" "program$suffix" "$name$suffix"
		! cmp -s "program$suffix" "$name$suffix" || fail "$* changed nothing"
		for file in program$suffix $name$suffix; do
			convert "$file" -o "$file.new"
			sed 's/^[^:]*: //' err >"$file.said"
			readelf -x .sframe "$file.new" | sed '1,2d; s/^ *0x[0-9a-f]*//' >"$file.bytes"
		done
		diff "program$suffix.said" "$name$suffix.said"
		# a linked file's is elsewhere, which only the starts show
		[ -z "$suffix" ] || diff "program$suffix.bytes" "$name$suffix.bytes"
	done
	right "$name.new"
}

it_reads_compressed_call_frame_information() {
	gcc -O1 -g -fno-asynchronous-unwind-tables -c "$sources/chain.c" -o program.o
	gcc program.o -o program
	packed zlib objcopy --compress-debug-sections=zlib
	packed gnu objcopy --compress-debug-sections=zlib-gnu
	[ -x "$toolchain/objcopy" ] || skip "no newer binutils: run tools/fetch-toolchain"
	packed zstd "$toolchain/objcopy" --compress-debug-sections=zstd
}

# to say that all is covered would be wrong
it_refuses_what_it_cannot_read() {
	gcc -O1 -g -fno-asynchronous-unwind-tables -c "$sources/chain.c" -o program.o
	gcc program.o -o program
	for file in program program.o; do
		objcopy --compress-debug-sections=zlib $file damaged
		at=$(readelf -SW damaged | sed -n 's/.* \.debug_frame *PROGBITS *[0-9a-f]* *\([0-9a-f]*\) .*/\1/p')
		printf '\377' | dd of=damaged bs=1 seek=$((0x$at + 26)) conv=notrunc status=none
		refuses 'a compressed section cannot be unpacked' damaged -o new
	done
	objcopy --compress-debug-sections=zlib program damaged
	at=$(readelf -SW damaged | sed -n 's/.* \.debug_frame *PROGBITS *[0-9a-f]* *\([0-9a-f]*\) .*/\1/p')
	printf '\3' | dd of=damaged bs=1 seek=$((0x$at)) conv=notrunc status=none
	expect 1 "$bobbin" sframe stat damaged
	complains 'a compressed section cannot be unpacked'
}

# They are in .debug_frame, at 0, and longer than all that precedes .init
it_gives_no_rule_of_a_dropped_function_to_the_code_that_took_its_place() {
	cat >dropped.c <<'END'
#include <stdlib.h>
#include <unistd.h>
__attribute__((used)) void early(void)
{
	pause();
	abort();
}
__asm__(".section .init,\"ax\",@progbits\n call early\n .text");
#define FOUR(x) x; x; x; x
int dropped(volatile int *x)
{
	volatile int room[700];

	FOUR(FOUR(FOUR(FOUR(room[*x & 255] = getpid()))));
	return room[*x & 255];
}
int main(void)
{
	return 0;
}
END
	gcc -O1 -g -pie -fPIE -ffunction-sections -fno-asynchronous-unwind-tables \
		-Wl,--gc-sections dropped.c -o dropped
	readelf --debug-dump=frames dropped | grep -q 'pc=0*\.\.0*[1-9a-f][0-9a-f]\{3\}$'
	expect 0 "$bobbin" sframe convert dropped -o converted
	grep -q '; entries about no code of the file: 1$' err || fail "$(cat err)"
	right converted
	quietly "$bobbin" sframe stat converted
	grep -q 'entries about no code of the file: 1$' out || fail "$(cat out)"
	for program in dropped converted; do
		spawn "./$program"
		eventually grep -q "($program) S " "/proc/$pid/stat"
		quietly "$bobbin" stack --no-code "$pid"
		names out
		grep -Eq " TID $pid $cancelled[^ ]*pause early _init " line || fail "$(cat out)"
	done
}

# ld takes the entries of .plt.got, which push nothing, for such of .plt
it_finds_a_linkers_mistake() {
	[ -x "$toolchain/ld" ] || skip "no newer binutils: run tools/fetch-toolchain"
	cat >lazy.s <<'END'
	.globl ask
ask:	.cfi_startproc
	mov puts@GOTPCREL(%rip), %rax
	call puts@PLT
	ret
	.cfi_endproc
END
	"$toolchain/as" --gsframe-3 lazy.s -o lazy.o
	"$toolchain/ld" -shared -z lazy --eh-frame-hdr lazy.o -o lazy.so
	readelf -SW lazy.so | grep -q '\.plt\.got'
	expect 1 "$bobbin" sframe check --against-cfi lazy.so
	grep -q ': error: SFrame: CFA=' out || fail "$(cat out)"
	expect 1 "$bobbin" sframe check lazy.so
	[ "$(grep -c ": warning: a linker's stub begins with more than its return address" out)" -eq 1 ]
	if ! "$bobbin" --version | grep -q 'without Zydis'; then
		expect 1 "$bobbin" sframe lint lazy.so
		grep -q ': CFA: .sframe: CFA=sp+16 .*; code: CFA=sp+8 ' out || fail "$(cat out)"
	fi
	convert lazy.so -o mended
	right mended
}

run_cases
