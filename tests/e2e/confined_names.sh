#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Libraries that crash, and memory that is not there: names are lost, and nothing else, not silently.
. "$(dirname "$0")/lib.sh"

# A command that is called by this has a library that crashes when it reads ./bad for names.
crashing="env LD_PRELOAD=$work/bin/crashing_library.so"

# two_programs: ./good and ./bad
two_programs() {
	printf '#include <libelf.h>\n' | gcc -E -xc - >ignored 2>&1 || skip "no header of libelf"
	program_as crashing_library.so crashing_library -shared -fPIC -lelf >ignored
	cp "$(program chain)" good
	cp "$(program_as bad chain -Wl,--build-id=uuid)" bad
	truncate -s 777777 bad
}

it_reports_all_but_the_file_that_crashes_a_library() {
	two_programs
	expect 0 $crashing "$bobbin" record sh -c './good 300; ./bad 300'
	grep -q "^bobbin: $PWD/bad: names are missing: the process that reads it ended by signal 6$" err
	expect 0 $crashing "$bobbin" report -g none --no-children
	complains "^bobbin: $PWD/bad: names are missing: the process that reads it ended by signal 6$"
	grep -q ' good  *good  *\[\.\] spin$' out
	grep -q ' bad  *bad  *\[\.\] bad+0x' out
	none ' bad  *bad  *\[\.\] spin$' <out
	# whoever has another library has all names
	quietly "$bobbin" report -g none --no-children
	grep -q ' bad  *bad  *\[\.\] spin$' out
	roots_also='bad+0x[0-9a-f]*'
}

it_keeps_quiet_if_told_to() {
	two_programs
	quietly $crashing "$bobbin" record -q ./bad 200
	quietly $crashing "$bobbin" report -q
	roots_also='bad+0x[0-9a-f]*'
}

# limited KIB COMMAND…: with so much memory; its output is in ./out and ./err
limited() {
	size=$1 status=0
	shift
	(
		ulimit -v "$size"
		exec timeout 60 "$@"
	) >out 2>err || status=$?
	[ $status -lt 124 ] || fail "status $status with $size KiB of $*: $(cat err)"
	[ $status -eq 0 ] || [ -s err ] || fail "nothing was said with $size KiB of $*"
}

it_does_not_lose_names_silently_where_memory_ends() {
	"$bobbin" record -q -o small "$(program chain)" 300
	# the command itself has DWARF
	"$bobbin" record -q -F 5000 "$bobbin" report -i small >ignored
	for command in report script; do
		"$bobbin" $command >"$command"
		for size in $(seq 60000 10000 200000); do
			limited "$size" "$bobbin" $command
			[ $status -ne 0 ] || diff "$command" out
		done
	done
}

it_does_not_lose_names_silently_where_descriptors_end() {
	"$bobbin" record -q "$(program chain)" 300
	"$bobbin" script >whole
	for count in $(seq 5 12) 64; do
		status=0
		(
			ulimit -n "$count"
			exec timeout 60 "$bobbin" script
		) >out 2>err || status=$?
		[ $status -lt 124 ] || fail "status $status with $count descriptors: $(cat err)"
		if [ $status -eq 0 ]; then
			diff whole out
		else
			[ -s err ] || fail "nothing was said with $count descriptors"
		fi
	done
	# the last one had enough
	[ $status -eq 0 ] || fail "64 descriptors are not enough: $(cat err)"
}

it_ends_a_table_without_memory_with_a_message() {
	for size in $(seq 60000 20000 200000); do
		limited "$size" "$bobbin" top -n 1 -b
	done
}

run_cases
