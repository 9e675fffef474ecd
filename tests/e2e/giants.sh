#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Files with holes of many gigabytes are not read to their ends.
. "$(dirname "$0")/lib.sh"

# AddressSanitizer's shadow memory is larger than any limit
limit=2097152
(ulimit -v $limit && "$bobbin" --version) >/dev/null 2>&1 || limit=unlimited

# within_limits COMMAND…: 30 seconds and 2 GiB are enough for it
within_limits() {
	status=0
	(ulimit -v $limit && exec timeout -s KILL 30 "$@") >out 2>err || status=$?
	[ $status -eq 0 ] || fail "status $status: $(cat err)"
}

it_reads_no_giant_debug_link() {
	needs objcopy strip
	gcc -g -O2 -Wl,--build-id=none -pthread -o linked "$sources/threads.c"
	objcopy --only-keep-debug linked linked.debug
	strip linked
	objcopy --add-gnu-debuglink=linked.debug linked
	truncate -s 100G linked.debug || skip 'no files with holes here'
	within_limits "$bobbin" record -q ./linked 300
	within_limits "$bobbin" report
	grep -q linked out
}

# counted SECTIONS SEGMENTS: ./giant, a program that says to have so many, in a hole
counted() {
	gcc -O2 -pthread -o giant "$sources/asleep.c"
	python3 - "$@" <<-'EOF' || skip 'no files with holes here'
		import struct, sys
		sections, segments = map(int, sys.argv[1:])
		with open("giant", "r+b") as f:
		    data = bytearray(f.read())
		    first, = struct.unpack_from("<Q", data, 40)
		    if sections:
		        struct.pack_into("<H", data, 60, 0)
		        struct.pack_into("<Q", data, first + 32, sections)
		    if segments:
		        struct.pack_into("<H", data, 56, 0xffff)
		        struct.pack_into("<I", data, first + 44, segments)
		    f.seek(0)
		    f.write(data)
		    f.truncate(len(data) + 64 * (sections + segments))
	EOF
}

it_makes_no_room_for_headers_in_a_hole() {
	needs python3
	counted 100000000 0
	spawn ./giant
	eventually grep giant "/proc/$pid/comm"
	eventually grep '^State:[[:space:]]*S' "/proc/$pid/status"
	within_limits "$bobbin" stack "$pid"
	grep -q '^#0 .*libc' out || fail "no frames: $(cat out)"
	for numbers in '100000000 0' '0 100000000'; do
		# shellcheck disable=SC2086
		counted $numbers
		for command in 'convert --section-only -o /dev/null' dump; do
			# shellcheck disable=SC2086
			expect 1 timeout -s KILL 30 "$bobbin" sframe $command giant
			complains giant 'contradict'
		done
	done
}

it_copies_no_giant_section() {
	needs python3
	gcc -O2 -pthread -o giant "$sources/asleep.c"
	python3 - <<-'EOF' || skip 'no files with holes here'
		import struct
		with open("giant", "r+b") as f:
		    data = bytearray(f.read())
		    end = len(data) + 100 * 2**30
		    shoff, = struct.unpack_from("<Q", data, 40)
		    shnum, strndx = struct.unpack_from("<HH", data, 60)
		    name = struct.unpack_from("<Q", data, shoff + strndx * 64 + 24)[0]
		    for i in range(shnum):
		        at = shoff + i * 64
		        n, = struct.unpack_from("<I", data, at)
		        if data[name + n:].startswith(b".note.ABI-tag\0"):
		            data[name + n:name + n + 13] = b".debug_frame\0"
		            struct.pack_into("<IQ", data, at + 4, 1, 0)
		            struct.pack_into("<QQ", data, at + 24, 0, end)
		    f.seek(0)
		    f.write(data)
		    f.truncate(end)
	EOF
	spawn ./giant
	eventually grep giant "/proc/$pid/comm"
	# a thread that begins may wait for its pages, and cannot be stopped then
	eventually sh -c "[ \$(cat /proc/$pid/task/*/status | grep -c '^State:[[:space:]]*S') -eq 3 ]"
	within_limits "$bobbin" stack "$pid"
	grep -q ' main+' out
}

run_cases
