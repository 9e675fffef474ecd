#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `bobbin maps` tells which tables unwind the code of a live process.
. "$(dirname "$0")/lib.sh"

# line_of NAME: of the listing in ./out
line_of() {
	grep "/$1\$" out
}

# start FILE: run it, and list what it has
start() {
	spawn "$1"
	eventually grep -q "$(basename "$1")" "/proc/$pid/maps"
	eventually grep -q libc.so "/proc/$pid/maps"
	quietly "$bobbin" maps "$pid"
}

it_lists_the_executable_mappings_of_the_process() {
	start "$(program asleep)"
	awk '/^[0-9a-f]*-/ { print $1 }' out >ours
	awk '$2 ~ /x/ { n = split($1, a, "-"); printf "%12s-%12s\n", a[1], a[2] }' "/proc/$pid/maps" |
		sed 's/ /0/g' >theirs
	diff ours theirs
}

it_tells_how_much_of_a_file_eh_frame_covers() {
	start "$(program asleep)"
	line_of libc.so.6 | grep ' \.eh_frame 9[0-9]\.[0-9]* %  /'
	grep '^total: [0-9]* KiB of code: .*\.eh_frame 9' out
}

# covered_by_readelf FILE: bytes that readelf's list of FDEs covers in .text
covered_by_readelf() {
	readelf -W --debug-dump=frames-interp "$1" 2>/dev/null |
		sed -n 's/.* FDE .*pc=\([0-9a-f]*\)\.\.\([0-9a-f]*\)$/\1 \2/p' | sort -u >fdes
	readelf -SW "$1" | sed -n 's/.*\] \.text *PROGBITS *\([0-9a-f]*\) [0-9a-f]* \([0-9a-f]*\).*/\1 \2/p' >text
	python3 - <<-'P'
	start, size = (int(x, 16) for x in open("text").read().split())
	known = set()
	for line in open("fdes"):
	    low, high = (int(x, 16) for x in line.split())
	    known.update(range(max(low, start), min(high, start + size)))
	print(len(known))
	P
}

it_counts_the_bytes_that_readelf_counts() {
	needs readelf python3
	gcc -O2 -nostdlib -static -o plain -x c - <<-'C'
	static volatile int more = 1;
	__attribute__((noinline)) static int twice(int x) { return more ? 2 * x : x; }
	__attribute__((noreturn)) void _start(void) { for (;;) twice(more); }
	C
	spawn ./plain
	eventually grep -q plain "/proc/$pid/maps"
	quietly "$bobbin" maps --json "$pid"
	ours=$(python3 -c '
import json
for piece in json.load(open("out"))["code"]:
    if piece["path"].endswith("/plain"):
        print(piece["covered"][".eh_frame"])')
	[ "$ours" -eq "$(covered_by_readelf plain)" ] && [ "$ours" -gt 8 ]
}

it_tells_the_version_of_sframe() {
	for version in 2 3; do
		"$bobbin" sframe convert -q --version $version -o "asleep$version" "$(program asleep)"
		start "./asleep$version"
		line_of "asleep$version" | grep " \\.sframe V$version [0-9.]* %"
		kill "$pid"
	done
}

it_ignores_sframe_if_told_to() {
	"$bobbin" sframe convert -q -o converted "$(program asleep)"
	start ./converted
	line_of converted | grep ' \.sframe V3 '
	quietly "$bobbin" maps --no-sframe "$pid"
	line_of converted >line
	none '\.sframe' <line
	grep ' \.eh_frame ' line
}

# break_section FILE: spoil the version in its .sframe header
break_section() {
	offset=$(readelf -SW "$1" | sed -n 's/.*\.sframe *[^ ]* *[0-9a-f]* \([0-9a-f]*\).*/\1/p')
	printf '\377' | dd of="$1" bs=1 seek=$((0x$offset + 2)) conv=notrunc 2>/dev/null
}

it_says_why_a_section_was_dropped() {
	needs readelf
	"$bobbin" sframe convert -q -o broken "$(program asleep)"
	break_section broken
	start ./broken
	line_of broken | grep ' \.eh_frame '
	grep -A1 '/broken$' out | grep 'dropped: offset 0x[0-9a-f]*: unknown SFrame version'
}

it_prints_json_that_adds_up() {
	needs python3
	start "$(program asleep)"
	quietly "$bobbin" maps --json "$pid"
	python3 - <<-'P'
	import json
	document = json.load(open("out"))
	for piece in document["code"] + [document["total"]]:
	    assert sum(piece["covered"].values()) <= piece["text"], piece
	for key in ("text",):
	    assert sum(p[key] for p in document["code"]) == document["total"][key]
	assert document["pid"] > 0 and len(document["code"]) >= 4
	P
}

# Most of its code has no table; of that of files with tables nothing is inferred for this
it_tells_what_is_inferred_from_code() {
	! "$bobbin" --version | grep -q 'without Zydis' || return 0
	gcc -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables -o bare -x c - <<-'C'
	#include <unistd.h>
	__attribute__((noinline)) int twice(int x) { __asm__ volatile(""); return 2 * x; }
	int main(int argc, char **argv) { for (;;) sleep(twice(argc) + 1000); }
	C
	strip bare
	start ./bare
	line_of bare | grep ' code [3-9][0-9]\.[0-9]* %  /'
	grep '^total: .* code [0-9.]* %, by no table ' out
	quietly "$bobbin" maps --no-code "$pid"
	line_of bare >line
	none ' code ' <line
}

it_says_that_there_is_no_such_process() {
	sh -c 'echo $$' >ended
	expect 1 "$bobbin" maps "$(cat ended)"
	complains "$(cat ended)" 'No such'
}

it_says_that_a_process_has_ended() {
	spawn sh -c 'sleep 0 & exec sleep 1000'
	eventually child_of "$pid"
	zombie=$(child_of "$pid")
	eventually grep -q '^State:.*Z' "/proc/$zombie/status"
	expect 1 "$bobbin" maps "$zombie"
	complains "$zombie" 'has ended'
}

it_wants_one_process() {
	expect 2 "$bobbin" maps
	expect 2 "$bobbin" maps 1 2
	expect 2 "$bobbin" maps one
}

run_cases
