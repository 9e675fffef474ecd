#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# libbobbin-audit.so is loaded by the dynamic loader, and nobody else notices.
# What a kernel with the calls gets from it is for tests/linux to see.
. "$(dirname "$0")/lib.sh"

audit=$(realpath "$2")

# A program of two libraries, all of which have sections.
make_program() {
	for name in one two; do
		echo "int $name(void) { return 0; }" >$name.c
		gcc -O2 -shared -fPIC -o lib$name.so $name.c
		"$bobbin" sframe convert -q --in-place lib$name.so
	done
	echo 'int one(void), two(void); int main(void) { return one() + two(); }' >main.c
	gcc -O2 -o main main.c -L. -lone -ltwo -Wl,-rpath,"$PWD"
	"$bobbin" sframe convert -q --in-place main
}

it_leaves_programs_as_they_are() {
	quietly env LD_AUDIT="$audit" sh -c 'echo well; exit 0'
	[ "$(cat out)" = well ]
	make_program
	quietly env LD_AUDIT="$audit" ./main
	quietly env LD_AUDIT="$audit" LD_BIND_NOW=1 ./main
}

# 0x1d8 and 0x1d9: sframe_register and sframe_unregister
it_asks_a_kernel_without_the_calls_once() {
	needs strace
	make_program
	quietly strace -o trace env LD_AUDIT="$audit" true
	! grep 'syscall_0x1d[89]\|^sframe_' trace || fail "asked, but nothing has a section"
	quietly strace -o trace env LD_AUDIT="$audit" ./main
	grep 'syscall_0x1d[89]\|^sframe_' trace >asked || fail "did not ask"
	grep -q ENOSYS asked || skip "the kernel has the calls"
	[ "$(wc -l <asked)" -eq 1 ]
}

# A library that has a table as a file, and no section.
it_finds_tables_by_build_id() {
	needs strace
	echo 'int one(void) { return 0; }' >one.c
	gcc -O2 -shared -fPIC -Wl,--build-id -o libone.so one.c
	echo 'int one(void); int main(void) { return one(); }' >main.c
	gcc -O2 -o main main.c -L. -lone -Wl,-rpath,"$PWD"
	quietly "$bobbin" sframe pack --compiled tables libone.so
	id=$(readelf -n libone.so | sed -n 's/.*Build ID: //p')
	table=tables/$(echo "$id" | cut -c 1-2)/$(echo "$id" | cut -c 3-).table
	[ "$(head -c 8 "$table")" = bobbinCT ]
	quietly strace -o trace env LD_AUDIT="$audit" BOBBIN_TABLE_PATH="nowhere:$PWD/tables" ./main
	grep "openat.*\"$PWD/$table\".* = [0-9]" trace >opened || fail "the table was not opened"
	grep -q 'syscall_0x1d[89]\|^sframe_' trace || fail "the kernel was not asked"
	# the user's own folder, without the variable
	mkdir -p home/.cache/bobbin
	mv tables home/.cache/bobbin/build-id
	quietly strace -o trace env HOME="$PWD/home" LD_AUDIT="$audit" ./main
	grep -q "openat.*home/.cache/bobbin/build-id/.*table\".* = [0-9]" trace
	grep -q 'openat.*"/usr/lib/bobbin/tables/' trace || fail "the system's folder was not looked at"
}

it_needs_nothing_but_the_c_library() {
	readelf -dW "$audit" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >needed
	grep -q '^libc\.so' needed
	mostly 100 '^\(libc\|ld-linux.*\)\.so\.[0-9]*$' <needed
}

it_exports_what_the_loader_calls() {
	nm -D --defined-only "$audit" | sed 's/.* //' | sort >given
	printf '%s\n' la_objclose la_objopen la_version | diff - given
}

run_cases
