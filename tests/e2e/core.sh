#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `bobbin core` prints what the threads of a core file did, as eu-stack and gdb do.
. "$(dirname "$0")/lib.sh"

# cores_are_here: the kernel writes core files to the folder of the program
cores_are_here() {
	case $(cat /proc/sys/kernel/core_pattern) in
	*[/\|]*) skip "cores go elsewhere, says kernel.core_pattern" ;;
	esac
}

# crash PROGRAM [ARGUMENT…]: it ends by a signal; its core is ./core
crash() {
	cores_are_here
	rm -rf crash core
	mkdir crash
	program_path=$(realpath "$1")
	shift
	# what the shell says of the signal is nothing new
	(cd crash && ulimit -c unlimited && "$program_path" "$@") >/dev/null 2>&1 || :
	set -- crash/*
	[ -s "$1" ] || skip "the kernel wrote no core file"
	mv "$1" core
}

crash_copy() {
	cp "$(program crashed -g)" ./prog
	crash ./prog "$@"
}

# The threads and the PCs of their frames; inlined functions share those
frame_list() {
	sed -n 's/^\(TID [0-9]*\).*:$/\1/p; s/^\(#[0-9]*\)  *\(0x[0-9a-f]*\).*/\1 \2/p' | uniq
}

# The same without numbers: eu-stack prints some frames twice where it follows frame pointers
pc_list() {
	frame_list | sed 's/^#[0-9]* //' | uniq
}

# The threads and the program's functions in their frames, as we and as gdb print them
function_list() {
	sed -n -e 's/^\(TID [0-9]*\).*:$/\1/p' -e 's/^Thread .*(LWP \([0-9]*\)).*/TID \1/p' \
		-e 's/^#[0-9]*  *\(0x[0-9a-f]* \(in \)\{0,1\}\)\{0,1\}\([^ +]*\).*/\3/p' |
		grep -x -e 'TID.*' -e descend -e main -e wait_for_bytes -e waiter -e _start
}

it_agrees_with_eu_stack() {
	needs eu-stack
	crash_copy
	quietly "$bobbin" core core
	eu-stack -e prog --core core >eu 2>eu.err || fail "eu-stack: $(cat eu.err)"
	# which ends a thread with an error where its outermost frame has no caller
	frame_list <out >ours
	frame_list <eu >theirs
	diff ours theirs
	[ "$(grep -c '^TID' ours)" -eq 3 ]
	[ "$(grep -c '^#' ours)" -ge 20 ]
	none 'the trace ends here' <out
}

it_agrees_with_gdb() {
	needs gdb
	crash_copy
	quietly "$bobbin" core core
	gdb -q -batch -nx -iex 'set auto-load no' -iex 'set debuginfod enabled off' \
		-ex 'set backtrace past-main on' -ex 'set backtrace past-entry on' \
		-ex 'thread apply all -ascending bt' prog core >gdb.out 2>gdb.err
	function_list <out >ours
	sed -n '/^Thread /,$p' gdb.out | function_list >theirs
	diff ours theirs
	[ "$(grep -c descend theirs)" -eq 11 ]
}

it_says_what_happened() {
	crash_copy
	quietly "$bobbin" core -v -l core
	grep -q '^PID [0-9]*: .*/prog$' out
	grep -q '^signal 11 (SIGSEGV): nothing is mapped at 0x0$' out
	sed -n '/^TID/{n;p;q;}' out | grep -q '^#0 .* descend+.*/prog) at crashed.c:[0-9]* \[\.[a-z_]*\]$'
	quietly "$bobbin" core -1 core
	[ "$(grep -c '^TID' out)" -eq 1 ]
	grep -q ' main+' out
}

it_says_who_sent_the_signal() {
	cores_are_here
	mkdir crash
	spawn sh -c 'cd crash && ulimit -c unlimited && exec sleep 1000'
	eventually grep -q sleep "/proc/$pid/comm"
	sender=$(sh -c 'echo $$; kill -ABRT "$1"' sh "$pid")
	wait "$pid" || :
	set -- crash/*
	[ -s "$1" ] || skip "the kernel wrote no core file"
	quietly "$bobbin" core "$1"
	grep -q "^signal 6 (SIGABRT): sent by process $sender of user $(id -u)\$" out
}

it_prints_json() {
	crash_copy
	quietly "$bobbin" core --json -l core
	python3 - <<-'END'
		import json
		told = json.load(open("out"))
		assert told["name"] == "prog" and told["missing_bytes"] == 0, told
		assert told["signal"]["name"] == "SIGSEGV" and told["signal"]["address"] == "0x0", told
		assert len(told["threads"]) == 3
		for thread in told["threads"]:
		    assert thread["complete"] and thread["reason"] == "OUTERMOST", thread
		leaf = told["threads"][0]["frames"][0]
		assert leaf["function"] == "descend" and leaf["source_file"].endswith("crashed.c"), leaf
	END
}

it_reads_a_pipe() {
	crash_copy 100000
	quietly "$bobbin" core -v core
	mv out whole
	grep -q 'frames left out' whole
	expect 0 sh -c '"$1" core -v - <core' sh "$bobbin"
	cmp out whole
	# what lies beside the core is not known there
	expect 0 sh -c 'cat core | "$1" core -v -' sh "$bobbin"
	cmp out whole
}

it_keeps_what_walks_need_of_a_large_core_that_comes_through_a_pipe() {
	crash_copy 1000 300
	quietly "$bobbin" core core
	mv out whole
	[ "$(stat -c %s core)" -gt 300000000 ]
	(
		ulimit -v 2000000
		cat core | "$bobbin" core - >out
	)
	cmp out whole
}

# without NT_FILE, as old kernels and emulators write it
it_finds_libraries_by_the_list_of_the_loader() {
	crash_copy
	quietly "$bobbin" core core
	mv out whole
	python3 - <<-'END'
		data = bytearray(open("core", "rb").read())
		at = data.index(b"\x45\x4c\x49\x46CORE\0")
		data[at] ^= 0xff
		open("old", "wb").write(data)
	END
	quietly "$bobbin" core old
	frame_list <whole >wanted
	frame_list <out | diff wanted -
	grep -q ' main+.*/prog)' out
}

it_uses_side_files_where_the_program_is_gone() {
	cores_are_here
	crash_copy
	quietly "$bobbin" core core
	frame_list <out >wanted
	"$bobbin" sframe pack side prog >/dev/null
	rm prog
	expect 0 "$bobbin" core -v --sframe-path "$PWD/side" core
	complains core '/prog: is not here'
	frame_list <out | diff wanted -
	grep -q 'prog+0x.*/prog) \[side-file\]$' out
	none 'the trace ends here' <out
}

it_finds_files_that_have_moved() {
	crash_copy
	quietly "$bobbin" core core
	frame_list <out >wanted
	mkdir -p root/elsewhere root2
	mkdir -p "root/$PWD"
	cp prog "root/$PWD/prog"
	cp prog root2
	rm prog
	for root in root root2; do
		quietly "$bobbin" core --sysroot $root core
		frame_list <out | diff wanted -
		grep -q " main+.*$PWD/$root/.*prog)" out
	done
	# beside the core
	mkdir both
	mv core root2/prog both
	quietly "$bobbin" core both/core
	grep -q " main+.*$PWD/both/prog)" out
	quietly "$bobbin" core -e both/prog both/core
	grep -q " main+.*$PWD/both/prog)" out
}

it_takes_no_other_program_for_it() {
	crash_copy
	gcc -O2 -Wl,--build-id=0x1234 -o prog "$sources/asleep.c" -pthread
	expect 0 "$bobbin" core core
	complains core '/prog: is another file by now'
	none ' main+' <out
	expect 1 "$bobbin" core -e prog core
	complains "$PWD/prog: is not the program of this core file"
}

it_knows_programs_without_a_build_id_by_their_first_page() {
	program crashed >/dev/null
	gcc -O2 -fomit-frame-pointer -Wl,--build-id=none -o prog "$sources/crashed.c" -pthread
	crash ./prog
	quietly "$bobbin" core core
	grep -q ' main+' out
	gcc -O2 -Wl,--build-id=none -o prog "$sources/asleep.c" -pthread
	expect 0 "$bobbin" core core
	complains '/prog: is another file by now'
	none ' main+' <out
}

# by coredump_filter, which children inherit
it_knows_no_file_whose_first_page_is_not_there() {
	cp "$(program crashed -g)" ./prog
	echo 0x3 >/proc/self/coredump_filter
	crash ./prog
	echo 0x33 >/proc/self/coredump_filter
	expect 0 "$bobbin" core core
	complains '/prog, cannot be known, as the core lacks its first page'
	# but for the program that the user names
	expect 0 "$bobbin" core -e prog core
	grep -q ' main+' out
}

it_reads_what_is_left_of_a_core_that_was_cut_off() {
	crash_copy
	size=$(stat -c %s core)
	head -c $((size / 2)) core >half
	expect 0 "$bobbin" core half
	grep -q 'half: is cut off: [1-9][0-9]* bytes of memory are missing at its end' err
	grep -q '^TID' out
	expect 0 sh -c 'cat half | "$1" core -' sh "$bobbin"
	grep -q 'standard input: is cut off' err
	head -c 1000 core >head
	expect 1 "$bobbin" core head
	complains 'head: offset 0x'
	expect 1 sh -c 'cat head | "$1" core -' sh "$bobbin"
	complains 'standard input: offset 0x'
}

it_refuses_what_is_no_core() {
	echo text >text
	expect 1 "$bobbin" core text
	complains 'text: offset 0x0: not an ELF file'
	expect 1 "$bobbin" core "$bobbin"
	complains 'offset 0x10: an ELF file, but not a core file'
	: >empty
	expect 1 "$bobbin" core empty
	complains 'empty: offset 0x0: not an ELF file'
	expect 1 "$bobbin" core .
	complains '\.: Is a directory'
	expect 1 "$bobbin" core absent
	complains 'absent: No such file or directory'
	expect 1 sh -c 'cat text | "$1" core -' sh "$bobbin"
	complains 'standard input: offset 0x0: not an ELF file'
	"$(program mapped_core)" "$bobbin" /bin/bobbin 0x7f0000000000 none >none
	expect 1 "$bobbin" core none
	complains 'none: offset 0x0: the core file has no registers of any thread'
	expect 2 "$bobbin" core
	grep -q 'one core file is needed' err
}

it_survives_any_damage() {
	crash_copy
	cat >damage.py <<-'END'
		import os, random, subprocess, sys
		core = open("core", "rb").read()
		notes = int.from_bytes(core[64 + 8:64 + 16], "little")
		size = int.from_bytes(core[64 + 32:64 + 40], "little")
		random.seed(1)
		for i in range(60):
		    data = bytearray(core[:len(core) if i % 3 else random.randrange(len(core))])
		    for _ in range(1 + i % 20):
		        at = random.randrange(notes + size if i % 2 else len(data))
		        if at < len(data):
		            data[at] = random.choice((0, 0xff, random.randrange(256)))
		    open("bad", "wb").write(data)
		    told = subprocess.run([sys.argv[1], "core", "--json", "bad"], capture_output=True, timeout=60)
		    piped = subprocess.run([sys.argv[1], "core", "-"], input=data, capture_output=True, timeout=60)
		    for done in (told, piped):
		        assert done.returncode in (0, 1), (i, done)
		        assert done.returncode == 0 or done.stderr, (i, done)
	END
	python3 damage.py "$bobbin"
}

# asleep_core: a process of three threads that sleep, as $pid, and gdb's core of it
asleep_core() {
	needs gdb
	spawn "$(program asleep)"
	sleeping() {
		[ "$(cat "/proc/$pid/task/"*/stat | awk '{ n += $3 == "S" } END { print n }')" -eq 3 ]
	}
	eventually sleeping
	gdb -q -batch -nx -iex 'set auto-load no' -ex "generate-core-file core" -p "$pid" >gdb.out 2>&1
	[ -s core ] || skip "gdb wrote no core file: $(tail -n 1 gdb.out)"
}

# gdb leaves code out that a file has, and does not say that it was mapped there
it_reads_what_debuggers_write() {
	asleep_core
	quietly "$bobbin" stack "$pid"
	frame_list <out | sort >wanted
	quietly "$bobbin" core core
	none 'the trace ends here' <out
	frame_list <out | sort | diff wanted -
	[ "$(grep -c '^#' wanted)" -ge 10 ]
}

it_writes_a_report_of_a_process_that_is_still_there() {
	asleep_core
	mkdir reports
	# no more is read than notes: the rest could be without end
	expect 0 sh -c 'cat core /dev/zero | "$1" core -p "$2" -o reports -' sh "$bobbin" "$pid"
	set -- reports/*
	[ $# -eq 1 ] || fail "not one report: $*"
	case $1 in
	reports/core.asleep."$pid".*.txt) ;;
	*) fail "what a name: $1" ;;
	esac
	cp "$1" report
	quietly "$bobbin" stack "$pid"
	frame_list <out | sort >wanted
	frame_list <report | sort | diff wanted -
	grep -q '^TID [0-9]* (asleep):$' report
	expect 0 sh -c '"$1" core --json -p "$2" -o reports - <core' sh "$bobbin" "$pid"
	python3 -m json.tool reports/*.json >/dev/null
	kill "$pid"
	wait "$pid" || :
	expect 1 "$bobbin" core -p "$pid" core
	complains "process $pid: "
	expect 1 "$bobbin" core -o no-folder core
	complains no-folder
}

it_reads_cores_of_other_machines() {
	needs eu-stack
	cores=$sources/../../build/cores
	[ -e "$cores/elfutils" ] || skip "no $cores/elfutils, see tools/fetch-cores"
	for machine in x86_64 x86_64.fp aarch64 aarch64.fp s390x; do
		core=$cores/elfutils/backtrace.$machine
		quietly "$bobbin" core -e "$core.exec" "$core.core"
		cp out ours
		pc_list <ours >frames.ours
		eu-stack -e "$core.exec" --core "$core.core" >theirs 2>/dev/null || :
		pc_list <theirs >frames.theirs
		[ "$(wc -l <frames.theirs)" -ge 12 ]
		# which has all of ours, or lacks some at the outer ends
		diff frames.theirs frames.ours | none '^<'
		grep -q ' raise+' ours
		[ "$(grep -c ' \(_start\|__clone\|thread_start\)+' ours)" -eq 2 ]
		quietly "$bobbin" core -e "$core.exec" - <"$core.core"
		cmp out ours
	done
}

run_cases
