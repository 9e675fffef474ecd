#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs of others read recordings, and find the stacks that bobbin shows.
. "$(dirname "$0")/lib.sh"

readers=$sources/../../build/readers

# counted: lines "TID: function function " of stdin, of functions that the programs have in their
# source, each with its number of samples.  Stubs and start files are named by each reader's rules.
counted() {
	awk '{
		line = $1
		for (i = 2; i <= NF; i++)
			if ($i ~ /^(main|a|b|c|spin|first|second|in_main)$/)
				line = line " " $i
		print line
	}' | sort | uniq -c
}

# own_stacks PROGRAM: of ./perf.data, "TID: function function ", those in the program's file
own_stacks() {
	"$bobbin" script -q -F tid,ip,sym,dso --no-inline | awk -v dso="/$1)" '
		/^\t/ {
			if (substr($0, length($0) - length(dso) + 1) == dso)
				line = line $2 " "
			next
		}
		NF { line = $1 ": "; next }
		{ print line }' | sed 's/+0x[0-9a-f]* / /g' | counted >own
	grep -q ' spin .*main$' own || fail "no stacks: $(cat own)"
}

# same_stacks READER WHAT PROGRAM: as in ./own, each with its number of samples
same_stacks() {
	needs python3
	python3 "$sources/stack_readers.py" "$@" >read 2>err || fail "$(cat err)"
	counted <read | diff own - >differences || fail "$1 differs: $(cat differences)"
}

# hotspot_finds_them PROGRAM
hotspot_finds_them() {
	for parser in "$readers/hotspot/perfparser" /usr/lib/*/libexec/hotspot-perfparser; do
		[ ! -x "$parser" ] || break
	done
	[ -x "$parser" ] || skip "no perfparser in build/readers, see tools/fetch-readers"
	"$parser" --input perf.data --output parsed 2>err || fail "perfparser: $(cat err)"
	same_stacks perfparser parsed "$1"
}

# samply_finds_them PROGRAM
samply_finds_them() {
	[ -x "$readers/samply/samply" ] || skip "no samply in build/readers, see tools/fetch-readers"
	spawn "$readers/samply/samply" import -n perf.data >served 2>&1
	for _ in $(seq 600); do
		! grep -q symbolServer served || break
		kill -0 "$pid" || fail "samply: $(cat served)"
		sleep 0.1
	done
	url=$(sed -n 's/.*symbolServer=//p' served | sed 's/%3A/:/g; s/%2F/\//g')
	same_stacks samply "$url" "$1"
}

# recording PROGRAM: ./perf.data, with its stacks in ./own
recording() {
	record -F 2500 "$(program "$1")" 300
	own_stacks "$1"
}

it_is_read_by_hotspot() {
	for name in chain threads; do
		recording $name
		hotspot_finds_them $name
	done
}

it_is_read_by_samply() {
	for name in chain threads; do
		recording $name
		samply_finds_them $name
	done
}

it_is_read_where_there_are_several_events() {
	record -F 999 -e cpu-clock,page-faults "$(program chain)" 300
	own_stacks chain
	hotspot_finds_them chain
}

it_is_read_with_waits() {
	needs_root
	record --off-cpu "$(program threads)" 300
	own_stacks threads
	hotspot_finds_them threads
}

run_cases
