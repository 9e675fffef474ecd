#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Files that are broken, or not what they should be, are refused in so many words.
. "$(dirname "$0")/lib.sh"

# refused_or_read FILE COMMAND…: they read it, or fail in order and say something
refused_or_read() {
	damaged=$1
	shift
	for command in "$@"; do
		status=0
		timeout 20 "$bobbin" $command -i "$damaged" >out 2>err || status=$?
		case $status in
		0) ;;
		1) grep -q "^bobbin: $damaged: " err || fail "$command says: $(cat err)" ;;
		*) fail "exit status $status of $command -i $damaged: $(cat err)" ;;
		esac
	done
}

# spoil FILE OFFSET SIZE FILL: overwrite with bytes of /dev/zero, or of 0xff, or random ones
spoil() {
	case $4 in
	zero) cat /dev/zero ;;
	ones) tr '\000' '\377' </dev/zero ;;
	noise) cat /dev/urandom ;;
	esac | dd of="$1" bs=1 seek="$2" count="$3" conv=notrunc iflag=fullblock status=none
}

# section FILE NAME: its offset and size in the file, in decimal
section() {
	readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] *//' |
		awk -v name="$2" '$1 == name { print "0x" $4, "0x" $5 }' | {
		read -r offset size
		echo $((offset)) $((size))
	}
}

# with_damage NAME SECTION FILL: a copy of the chain program, or $file, is profiled
with_damage() {
	cp "${file:-$(program chain)}" "$1"
	# shellcheck disable=SC2046
	spoil "$1" $(section "$1" "$2") "$3"
	record "./$1" 100
	"$bobbin" script -F tid,reason | none 'UNKNOWN'
	quietly "$bobbin" report
	grep -q '^# Stacks: ' out
}

# own_reasons NAME: why the traces of perf.data end that reach code of that file, but for its
# entry; the loader's, before there is any, are whole
own_reasons() {
	"$bobbin" script -F tid,ip,sym,dso,reason --no-inline | awk -v file="/$1)" '
		/^ *[0-9]/ { reason = $2 }
		/^\t/ && index($0, file) && !/ _start\+/ { print reason }'
}

# no_whole_traces NAME: none that reaches its code
no_whole_traces() {
	own_reasons "$1" | some .
	own_reasons "$1" | none OUTERMOST
}

it_refuses_what_is_no_recording() {
	for command in report script flamegraph; do
		expect 1 "$bobbin" $command
		complains perf.data 'No such file'
		expect 1 "$bobbin" $command -i .
		complains 'bobbin: \.: '
		: >empty
		expect 1 "$bobbin" $command -i empty
		complains empty
		expect 1 "$bobbin" $command -i "$sources/lib.sh"
		complains lib.sh 'not a perf.data file'
		expect 1 "$bobbin" $command -i /dev/null
		complains /dev/null
	done
}

it_reads_recordings_that_were_cut_off() {
	record "$(program chain)" 100
	size=$(stat -c %s perf.data)
	for part in 1 7 50 103 104 105 200 300 500 700 900 999; do
		length=$((part < 120 ? part : size * part / 1000))
		head -c $length perf.data >short
		refused_or_read short script report annotate
	done
	head -c $((size * 7 / 10)) perf.data >short
	"$bobbin" script -i short >out 2>err || :
	[ -s err ]
}

it_survives_damaged_recordings() {
	record "$(program threads)" 50
	size=$(stat -c %s perf.data)
	for place in 8 16 40 72 104 150 200 240 $((size / 3)) $((size / 2)) $((size * 3 / 4)) $((size - 300)); do
		for fill in zero ones noise; do
			cp perf.data damaged
			spoil damaged "$place" 16 $fill
			refused_or_read damaged annotate script
		done
	done
}

it_survives_noise() {
	head -c 10000 /dev/urandom >noise
	refused_or_read noise report annotate script flamegraph
	{
		printf PERFILE2
		cat noise
	} >likely
	refused_or_read likely report annotate script flamegraph
	record "$(program chain)" 10
	{
		head -c 104 perf.data
		cat noise
	} >likely
	refused_or_read likely report annotate script flamegraph
}

it_ends_traces_where_eh_frame_is_blank() {
	with_damage blank .eh_frame zero
	no_whole_traces blank
}

it_survives_damage_to_eh_frame() {
	with_damage ones .eh_frame ones
	no_whole_traces ones
	for i in 1 2; do
		with_damage noise$i .eh_frame noise
	done
}

it_survives_damage_to_eh_frame_hdr() {
	with_damage zero .eh_frame_hdr zero
	with_damage ones .eh_frame_hdr ones
	for i in 1 2; do
		with_damage noise$i .eh_frame_hdr noise
	done
}

it_survives_damage_to_sframe() {
	[ -x "$toolchain/as" ] || skip "no assembler in build/toolchain/2.47"
	gcc -O2 -fomit-frame-pointer -B "$toolchain/" -Wa,--gsframe "$sources/chain.c" -o good
	file=./good
	with_damage zero .sframe zero
	with_damage ones .sframe ones
	for i in 1 2; do
		with_damage noise$i .sframe noise
	done
}

it_survives_damaged_section_headers() {
	# noise may hide where its functions are, and so what they are called
	roots_also='headless+0x[0-9a-f]*'
	cp "$(program chain)" headless
	at=$(readelf -hW headless | sed -n 's/.*Start of section headers: *\([0-9]*\) .*/\1/p')
	for fill in zero ones noise; do
		spoil headless "$at" $((64 * 20)) $fill
		record ./headless 100
		quietly "$bobbin" report
	done
}

it_waits_for_no_pipe_without_a_writer() {
	mkfifo pipe
	for command in dump check lint stat; do
		status=0
		timeout 60 "$bobbin" sframe $command pipe >out 2>err || status=$?
		[ $status -ne 124 ] || fail "sframe $command waits"
	done
	expect 2 timeout 60 "$bobbin" record -e "uprobe:$PWD/pipe:main" true
}

it_reads_recordings_of_others_where_it_is_told_to() {
	needs_root
	record "$(program chain)" 100
	chown 54321 perf.data
	for command in report script flamegraph; do
		expect 1 "$bobbin" $command
		complains 'perf.data: belongs to user 54321, .*; -f reads it'
		expect 0 "$bobbin" $command -f
	done
	stacks | some ' main '
	expect 0 "$bobbin" report -i - <perf.data
	# nobody else's recordings are left to be looked at
	chown 0 perf.data
}

# Who may write to a folder could have root replace any file.
it_follows_no_links_of_others_to_what_it_writes() {
	needs_root
	echo precious >precious
	ln -s precious link
	chown -h 54321 link
	expect 1 "$bobbin" record -o link true
	complains 'link: Permission denied'
	expect 1 "$bobbin" sframe convert -o link "$(program chain)"
	complains 'link: Permission denied'
	[ "$(cat precious)" = precious ] && [ -L link ]
	[ "$(ls -A | paste -s -d ' ')" = 'err link out precious' ]
	chown -h 0 link
	record -o link true
	[ -L link ] && [ "$(head -c 7 precious)" = PERFILE ]
}

it_survives_a_library_that_is_cut_off_while_it_is_used() {
	cp "$(program_as plugin.so plugin -shared -fPIC)" plugin.so
	spawn "$(program loader)" 3000 "$PWD/plugin.so"
	eventually grep -q plugin "/proc/$pid/maps"
	(sleep 1.5 && : >plugin.so) &
	record -p "$pid"
	"$bobbin" report >out 2>err
	complains 'may not be the file that was recorded'
	spawn "$(program asleep)"
	eventually grep -q asleep "/proc/$pid/comm"
	"$bobbin" stack "$pid" >out
}

run_cases
