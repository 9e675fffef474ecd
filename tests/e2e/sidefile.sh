#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Side-files: `bobbin sframe pack` makes them, the walker finds and uses them.
. "$(dirname "$0")/lib.sh"

# What is installed on this machine is none of our business.
export BOBBIN_SFRAME_PATH=

# bare NAME: a program without frame pointers and without unwind tables, ./NAME, packed in ./side
bare() {
	gcc -O2 -fomit-frame-pointer -Wl,--build-id=sha1 -o whole "$sources/$1.c" -pthread
	quietly "$bobbin" sframe pack side whole
	objcopy -R .eh_frame -R .eh_frame_hdr whole "$1"
	readelf -SW "$1" | none 'eh_frame'
}

# one_file: the path of the only side-file
one_file() {
	find side -type f | grep -x 'side/[0-9a-f]\{2\}/[0-9a-f]\{38\}\.sframe\.zst'
}

# doze_frames: of ./out, the frames of the functions doze and main
doze_frames() {
	grep -E ' (doze|main)\+0x.* \(' out
}

# all_asleep PID: its three threads wait for something
all_asleep() {
	[ "$(cat "/proc/$1/task/"*/stat | awk '{ n += $3 == "S" } END { print n }')" -eq 3 ]
}

# rows FILE: the addresses and rules of a section
rows() {
	"$bobbin" sframe dump "$1" | grep -E '^ +[0-9a-f]{16} ' | sort
}

start_asleep() {
	bare asleep
	spawn ./asleep
	eventually all_asleep "$pid"
}

it_completes_stacks_of_a_program_that_lost_its_tables() {
	start_asleep
	quietly "$bobbin" stack -1 --no-code "$pid"
	grep -q 'the trace ends here: the mapping has no unwind table' out
	quietly "$bobbin" stack -1 -v --sframe-path "/nowhere:$PWD/side" "$pid"
	none 'the trace ends here' <out
	[ "$(doze_frames | grep -c '\[side-file\]')" -eq 2 ]
}

it_finds_the_folder_in_the_environment() {
	start_asleep
	BOBBIN_SFRAME_PATH="$PWD/side" quietly "$bobbin" stack -v "$pid"
	none 'the trace ends here' <out
	[ "$(doze_frames | grep -c '\[side-file\]')" -eq 2 ]
	# the option wins
	BOBBIN_SFRAME_PATH="$PWD/side" quietly "$bobbin" stack --no-code --sframe-path /nowhere "$pid"
	grep -q 'the trace ends here' out
}

it_completes_recordings() {
	bare chain
	record --no-code -o bare.data ./chain 300
	cp bare.data perf.data
	frames | none '\[side-file\]'
	record --sframe-path side ./chain 300
	complete
	frames | grep -E '^(a|b|c|main) ' | mostly 100 '\[side-file\]'
	stacks | mostly 95 ': .*c b a main __libc_start_call_main '
}

it_ignores_the_side_file_of_another_program() {
	bare chain
	file=$(one_file)
	quietly "$bobbin" sframe pack other /bin/sh
	cp "$(find other -type f)" "$file"
	record --no-code --sframe-path side ./chain 200
	frames | none '\[side-file\]'
}

it_survives_a_damaged_side_file() {
	bare chain
	file=$(one_file)
	size=$(stat -c %s "$file")
	printf '\377' | dd of="$file" bs=1 seek=$((size - 20)) conv=notrunc
	record --no-code --sframe-path side ./chain 200
	frames | none '\[side-file\]'
	expect 1 "$bobbin" sframe unpack -o section "$file"
	complains 'offset 0x' 'zstd frame is damaged'
	[ ! -e section ]
}

it_prefers_the_tables_of_the_file() {
	bare chain
	cp whole chain
	record --sframe-path side ./chain 200
	complete
	frames | none '\[side-file\]'
}

it_packs_tables_of_sframe_and_call_frame_information() {
	[ -x "$toolchain/ld" ] || skip "no binutils 2.47"
	gcc -O2 -B"$toolchain" -Wa,--gsframe -Wl,--build-id=sha1 -o whole "$sources/chain.c"
	readelf -SW whole | grep -q ' \.sframe '
	quietly "$bobbin" sframe pack side whole
	quietly "$bobbin" sframe unpack -o section side whole
	objcopy -R .eh_frame -R .eh_frame_hdr -R .sframe whole chain
	record --sframe-path side ./chain 200
	complete
}

it_gives_back_what_it_packed() {
	gcc -O2 -Wl,--build-id=sha1 -o whole "$sources/chain.c"
	quietly "$bobbin" sframe pack -q side whole
	[ ! -s out ]
	id=$(readelf -n whole | sed -n 's/.*Build ID: //p')
	quietly "$bobbin" sframe unpack -o by-path "$(one_file)"
	quietly "$bobbin" sframe unpack -o by-file side whole
	quietly "$bobbin" sframe unpack side "$id"
	cmp by-path by-file
	cmp by-path out
	quietly "$bobbin" sframe convert -q --section-only -o section whole
	# functions may be cut otherwise, rows are the same
	rows section >wanted
	rows by-path >found
	diff wanted found
	[ "$(wc -l <found)" -gt 20 ]
	quietly "$bobbin" sframe unpack --version 2 --address 0x1000 -o second side whole
	"$bobbin" sframe dump second | grep -q 'SFRAME_VERSION_2'
}

it_makes_files_that_zstd_accepts() {
	needs zstd
	quietly "$bobbin" sframe pack side /bin/sh
	zstd -t "$(one_file)"
	zstd -l "$(one_file)" | grep -q XXH64
}

it_makes_the_same_file_by_convert() {
	"$bobbin" sframe pack -q folder /bin/true
	"$bobbin" sframe convert -q --side-file -o one.zst /bin/true
	gcc -Wl,--build-id=none -o anonymous "$sources/chain.c"
	"$bobbin" sframe convert -q --side-file -o anonymous.zst anonymous
	"$bobbin" sframe unpack -o anonymous.section anonymous.zst
	quietly "$bobbin" sframe check anonymous.section
	cmp one.zst folder/*/*.sframe.zst
	expect 2 "$bobbin" sframe convert --side-file --version 2 -o two.zst /bin/true
	[ ! -e two.zst ]
}

it_makes_the_same_file_again() {
	quietly "$bobbin" sframe pack one /bin/sh
	quietly "$bobbin" sframe pack two /bin/sh
	diff -r one two
}

# words NUMBER…: of 32 bits, little-endian
words() {
	for word in "$@"; do
		for shift in 0 8 16 24; do
			# shellcheck disable=SC2059 # the format is the byte
			printf "\\$(printf %o $((word >> shift & 255)))"
		done
	done
}

# with_section FILE: ./whole with ./section
with_section() {
	gcc -O2 -Wl,--build-id=sha1 -o whole "$sources/chain.c"
	objcopy --add-section .sframe=section --set-section-flags .sframe=alloc,readonly \
		--change-section-address .sframe=0x100000 whole "$1" 2>warnings
}

# stubs BYTES: ./stubs with one function at 0x101000, and blocks of 16 bytes
stubs() {
	words 0x0402dee2 0x00f80003 1 1 6 0 20 0x0fe4 "$1" 0 2 0x1010 >section
	printf '\000\003\010\013\003\020' >>section
	with_section stubs
}

it_gives_stubs_back_as_rows_that_repeat() {
	needs gcc objcopy
	stubs 0x100000
	expect 0 "$bobbin" sframe pack side stubs
	expect 0 "$bobbin" sframe unpack -o again side stubs
	"$bobbin" sframe dump again | grep -q 'size = 1048576'
	[ "$(wc -c <again)" -lt 10000 ]
}

# More rows than are collected for one function.
it_gives_long_stubs_back_in_pieces() {
	needs gcc objcopy
	stubs 0x900000
	expect 0 "$bobbin" sframe pack side stubs
	expect 0 "$bobbin" sframe unpack -o again side stubs
	"$bobbin" sframe dump again | sed -n "s/.*pc = .*size = \([0-9]*\).*/\1/p" >sizes
	[ "$(awk '$1 > 1000' sizes | wc -l)" -eq 2 ]
	[ "$(awk '$1 > 1000 { n += $1 } END { print n }' sizes)" -eq 9437184 ]
	[ "$(wc -c <again)" -lt 10000 ]
}

# A function of all that many equal blocks say, in few bytes.
it_refuses_rows_that_only_compression_can_hold() {
	needs python3 zstd
	python3 - side.zst <<-'END'
		import struct, subprocess, sys

		def uleb(n):
		    return bytes([n & 127 | 128]) + uleb(n >> 7) if n > 127 else bytes([n])

		def frame(content):
		    return subprocess.run(["zstd", "-c", "--check", f"--stream-size={len(content)}"],
		                          input=content, stdout=subprocess.PIPE, check=True).stdout

		rows, blocks = 2048, 3000
		block = frame(uleb(rows) + b"\0" + uleb(rows) + uleb(rows - 1) +
		              b"\0\1" * (rows // 2) + b"\1" * (rows - 1))
		# words whose first bytes are 1, for the CFA at a register, and whose other bytes differ
		words = b"\1\1" + bytes(2) + b"\1\2" + bytes(10)
		head = frame(uleb(62) + b"\0\2\1\2" + b"\2\0" + words + b"\0" + uleb(blocks) +
		             (uleb(rows) + uleb(len(block))) * blocks + uleb(rows))
		with open(sys.argv[1], "wb") as out:
		    out.write(struct.pack("<II8sII", 0x184d2a5b, 16, b"bobbinSF", 2, len(head)))
		    out.write(head + block * blocks)
	END
	[ "$(wc -c <side.zst)" -lt 300000 ]
	expect 1 "$bobbin" sframe unpack -o section side.zst
	complains side.zst 'more rows than is sane'
	[ ! -e section ]
}

it_refuses_stubs_that_repeat_too_often() {
	needs gcc objcopy
	stubs 0xf0000000
	expect 1 timeout 20 "$bobbin" sframe pack side stubs
	complains stubs 'more rows than is sane'
}

it_says_why_tables_cannot_be_packed() {
	needs gcc objcopy
	# V3: functions of one byte at 0x101000 and far below the section
	words 0x0503dee2 0x00f80003 2 2 16 0 32 \
		0x0fe4 0 1 0 0xfffffff0 0x80000000 1 8 >section
	printf '\001\000\000\000\000\000\003\010\001\000\000\000\000\000\003\010' >>section
	with_section far
	expect 1 "$bobbin" sframe pack side far
	complains far 'not in ascending order'
}

it_says_which_functions_are_not_packed() {
	needs gcc objcopy
	# V3: functions of 16 bytes at 0x101000 and, with a row of no known size, at 0x101010
	words 0x0503dee2 0x00f80003 2 2 16 0 32 0x0fe4 0 16 0 0x0fe4 0 16 8 >section
	printf '\001\000\000\000\000\000\003\010\001\000\000\000\000\000\143\010' >>section
	with_section half
	expect 0 "$bobbin" sframe pack side half
	complains half '.sframe: offset 0x49: function 0x101010 of 16 bytes dropped: malformed frame row'
	"$bobbin" sframe unpack -o again side half
	"$bobbin" sframe dump again | grep -q 'pc = 0x101000, size = 16'
	"$bobbin" sframe dump again | none 'pc = 0x101010'
	expect 0 "$bobbin" sframe pack -q side half
	[ ! -s err ]
}

it_refuses_more_tables_than_it_takes() {
	needs gcc objcopy
	for _ in 1 2 3 4 5 6 7 8 9; do
		words 0x0402dee2 0x00f80003 0 0 0 0 0
	done >section
	with_section many
	expect 1 "$bobbin" sframe pack side many
	complains many 'more than 8 sections'
	[ ! -e side ]
}

it_refuses_what_it_cannot_pack() {
	gcc -O2 -Wl,--build-id=none -o anonymous "$sources/chain.c"
	expect 1 "$bobbin" sframe pack side anonymous
	complains anonymous 'no build ID'
	expect 1 "$bobbin" sframe pack side /nowhere
	complains /nowhere 'No such file'
	expect 1 "$bobbin" sframe pack side /etc/passwd
	complains 'not an ELF file'
	bare chain
	expect 1 "$bobbin" sframe pack again chain
	complains chain 'no unwind tables'
	[ ! -e again ]
	expect 2 "$bobbin" sframe pack side
	# the others are packed
	expect 1 "$bobbin" sframe pack side anonymous whole
	complains anonymous
	grep -q '^whole: side/' out
	: >file
	expect 1 "$bobbin" sframe pack file whole
	complains file 'Not a directory'
}

it_refuses_what_it_cannot_unpack() {
	expect 1 "$bobbin" sframe unpack -o section /nowhere
	complains /nowhere 'No such file'
	expect 1 "$bobbin" sframe unpack -o section /bin/sh
	complains /bin/sh 'not a side-file'
	expect 1 "$bobbin" sframe unpack -o section . 0123456789
	complains './01/23456789.sframe.zst' 'No such file'
	quietly "$bobbin" sframe pack -q side /bin/sh
	mkdir side/01
	cp side/??/??????????????????????????????????????.sframe.zst side/01/23456789.sframe.zst
	expect 1 "$bobbin" sframe unpack -o section side 0123456789
	complains side/01/23456789 'another build ID'
	expect 2 "$bobbin" sframe unpack
	expect 2 "$bobbin" sframe unpack --version 1 side whole
	expect 2 "$bobbin" sframe unpack --address here side whole
	[ ! -e section ]
}

run_cases
