#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Names of strangers, in paths, thread names and symbols, command no terminal and forge no line.
. "$(dirname "$0")/lib.sh"

# Escape, a change of direction, a new line, a byte that is no text, an 8-bit escape
nasty=$(printf 'n\033[7m\342\200\256\nF0RGED\377\302\2332J')

# nasty_program: spins; its path, its name and a function's have them
nasty_program() {
	mkdir -p "$nasty"
	LC_ALL=C sed 's/NASTY_______FUNCTION/n\x1b[7m\xe2\x80\xae\nF0RGED\xff\xc2\x9b2J/' \
		"$(program nasty)" >"$nasty/$nasty"
	chmod 755 "$nasty/$nasty"
}

# clean COMMAND…: whatever it has to say
clean() {
	"$@" >out 2>err || :
	[ -s out ] || [ -s err ] || fail "nothing said by $*"
	for stream in out err; do
		iconv -f UTF-8 -t UTF-8 $stream >copy || fail "no text from $*"
		LC_ALL=C grep -anP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]' \
			$stream && fail "control characters from $*"
		grep '^F0RGED' $stream && fail "a forged line from $*"
	done
	return 0
}

it_prints_no_control_characters_of_recordings() {
	needs iconv
	nasty_program
	clean "$bobbin" record -o "$nasty.data" "$nasty/$nasty" 500
	clean "$bobbin" script -i "$nasty.data"
	grep -q 'F0RGED.*F0RGED' out || fail "the names are missing: $(head out)"
	clean "$bobbin" script -i "$nasty.data" -F comm,pid,tid,cpu,time,event,ip,sym,dso,source,reason
	clean "$bobbin" report -i "$nasty.data"
	grep -q F0RGED out
	clean "$bobbin" report -i "$nasty.data" --no-children --sort comm,dso,sym
	clean "$bobbin" report -i "$nasty.data" --json
	grep -q 'F0RGED.*F0RGED' out
	clean "$bobbin" annotate -i "$nasty.data"
	grep -q F0RGED out
	clean "$bobbin" flamegraph -i "$nasty.data" -o picture.svg
	clean cat picture.svg
	clean "$bobbin" flamegraph -i "$nasty.data" --folded
	clean "$bobbin" report -i "$nasty"
	clean "$bobbin" script -i "$nasty.none"
	clean "$bobbin" flamegraph -i "$nasty.none"
}

it_prints_no_control_characters_of_live_processes() {
	needs iconv
	nasty_program
	spawn "$nasty/$nasty" 100000
	eventually grep -q F0RGED "/proc/$pid/maps"
	clean "$bobbin" stack -v "$pid"
	grep -q 'F0RGED.*F0RGED' out || fail "the names are missing: $(cat out)"
	clean "$bobbin" maps "$pid"
	clean "$bobbin" maps --json "$pid"
	clean "$bobbin" record -o "$nasty/none/file" -p "$pid"
}

it_prints_no_control_characters_of_paths() {
	needs iconv
	nasty_program
	file=$nasty/$nasty
	for path in "$file" "$nasty" "$nasty.none"; do
		clean "$bobbin" sframe dump "$path"
		clean "$bobbin" sframe check "$path"
		clean "$bobbin" sframe check --against-cfi "$path"
		clean "$bobbin" sframe stat "$path"
		clean "$bobbin" sframe convert -v -o "$nasty.out" "$path"
		clean "$bobbin" sframe pack -o . "$path"
		clean "$bobbin" sframe unpack -o "$nasty.section" "$path"
		clean "$bobbin" sframe merge -o "$nasty.section" "$path"
		clean "$bobbin" sframe repair -o "$nasty.section" "$path"
		clean "$bobbin" "$path"
		clean "$bobbin" sframe "$path"
		clean "$bobbin" help "$path"
	done
	[ -e "$nasty.out" ]
	for command in check dump stat; do
		clean "$bobbin" sframe $command "$nasty.out"
	done
	clean "$bobbin" sframe dump --json "$nasty.out"
}

run_cases
