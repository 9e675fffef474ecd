#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What is recorded is written as export would.
. "$(dirname "$0")/lib.sh"

# in_folder: recordings that are not asked for are in ./spool
in_folder() {
	mkdir spool
	export TMPDIR="$PWD/spool"
}

# spool_is_empty: nothing is left there, nor are there a recording and hidden files here
spool_is_empty() {
	[ -z "$(ls -A spool)" ] || fail "left behind: $(find spool)"
	[ ! -e perf.data ] || fail "there is a perf.data"
	find . -maxdepth 1 -name '.?*' | none .
}

# has_chain FILE: of callgrind, the calls of chain.c
has_chain() {
	awk '
		/^c?fn=/ {
			kind = $1 ~ /^cfn/
			sub(/^c?fn=/, "")
			split($0, word, " ")
			if (word[2])
				names[word[1]] = word[2]
			if (kind)
				print caller, names[word[1]]
			else
				caller = names[word[1]]
		}' "$1" >calls
	for call in 'main a' 'a b' 'b c' 'c spin'; do
		grep -q -x "$call" calls || fail "no call '$call' in $(cat calls)"
	done
}

it_tells_the_format_by_the_name() {
	in_folder
	record -o callgrind.out.1 "$(program chain)" 300
	grep -q '; callgrind.out.1, ' err
	has_chain callgrind.out.1
	record -o chain.profile.json "$(program chain)" 300
	python3 -c '
import json
names = json.load(open("chain.profile.json"))["shared"]["stringArray"]
assert {"main", "a", "b", "c", "spin"} <= set(names), names'
	record -o chain.otlp.gz "$(program chain)" 300
	gzip -dc chain.otlp.gz | grep -q -a spin
	spool_is_empty
}

it_takes_a_format() {
	in_folder
	record --format callgrind -o - "$(program chain)" 300
	grep -q '; -$' err
	mv out chain.data
	has_chain chain.data
	record --format callgrind -o named.data "$(program chain)" 300
	has_chain named.data
	for format in pprof.pb.gz callgrind.callgrind speedscope.speedscope.json chrome.trace.json \
		firefox.profile.json otlp.otlp; do
		record --format "${format%%.*}" "$(program chain)" 100
		grep -q "; perf.${format#*.}, " err
		[ -s "perf.${format#*.}" ] || fail "no perf.${format#*.}"
	done
	spool_is_empty
}

it_keeps_an_older_file() {
	in_folder
	echo old >chain.callgrind
	record -o chain.callgrind "$(program chain)" 100
	[ "$(cat chain.callgrind.old)" = old ]
	spool_is_empty
}

it_names_code_that_was_compiled() {
	[ "$(uname -m)" = x86_64 ] || skip "the program's code is x86-64's"
	in_folder
	record -o compiled.callgrind "$(program perf_map)" 200 anon removed
	grep -q ' 1 functions that were compiled at run time are named in compiled.callgrind$' err
	grep -q '^c\{0,1\}fn=.* made$' compiled.callgrind
	spool_is_empty
}

it_refuses_at_once() {
	in_folder
	expect 2 "$bobbin" record --format none touch run
	head -n 1 err >first
	grep -q "unknown format 'none'; there are pprof" first
	expect 2 "$bobbin" record --format perf.data -o x touch run
	expect 1 "$bobbin" record -o nowhere/x.pb.gz touch run
	complains nowhere/x.pb.gz 'No such file'
	export TMPDIR="$PWD/none"
	expect 1 "$bobbin" record -o x.pb.gz touch run
	complains "$TMPDIR" 'No such file'
	[ ! -e run ] || fail "the program was started"
	[ ! -e x ] && [ ! -e x.pb.gz ]
	spool_is_empty
}

it_shows_no_bytes_on_a_terminal() {
	needs script
	in_folder
	expect 2 script -q -e -c "'$bobbin' record --format pprof -o - touch run" /dev/null
	grep -q 'pprof is not for a terminal' out
	[ ! -e run ] || fail "the program was started"
	expect 0 script -q -e -c "'$bobbin' record -q --format callgrind -o - '$(program chain)' 100" /dev/null
	grep -q '^c\{0,1\}fn=.* spin' out
	spool_is_empty
}

it_has_the_status_of_the_program() {
	in_folder
	expect 7 "$bobbin" record -o x.callgrind sh -c 'exit 7'
	[ -s x.callgrind ]
	rm x.callgrind
	expect 127 "$bobbin" record -o x.callgrind ./no_such_program
	[ ! -e x.callgrind ] || fail "nothing was recorded, but there is a file"
	spool_is_empty
}

it_writes_what_there_is_after_an_interrupt() {
	needs pgrep
	in_folder
	spawn "$bobbin" record -o chain.callgrind "$(program chain)" 600000
	recorder=$pid
	eventually pgrep -P "$recorder" -x chain
	works_on "$(pgrep -P "$recorder" -x chain)"
	kill -INT "$recorder"
	status=0
	wait "$recorder" || status=$?
	# of the program, which was asked to end
	[ $status -eq 143 ] || fail "exit status $status of the recorder"
	has_chain chain.callgrind
	spool_is_empty
}

it_gives_up_at_the_next_interrupt() {
	in_folder
	echo old >chain.callgrind
	program_as interrupting.so interrupting -shared -fPIC >/dev/null
	export ASAN_OPTIONS="verify_asan_link_order=0:$ASAN_OPTIONS"
	expect 1 env LD_PRELOAD="$work/bin/interrupting.so" \
		"$bobbin" record -o chain.callgrind "$(program chain)" 300
	complains interrupted
	[ "$(cat chain.callgrind)" = old ]
	[ ! -e chain.callgrind.old ]
	spool_is_empty
}

it_leaves_nothing_where_there_is_no_room() {
	needs_root
	needs unshare
	in_folder
	program chain >path
	expect 1 unshare -m sh -c 'mount -t tmpfs -o size=100k none spool &&
		cp "$2" spool/it && echo old >spool/chain.callgrind &&
		{ dd if=/dev/zero of=spool/filled bs=1024 2>dd.err || :; } &&
		TMPDIR=$3 "$1" record -o spool/chain.callgrind spool/it 300
		status=$?
		[ "$(cat spool/chain.callgrind)" = old ] || exit 99
		ls -A spool >left
		exit $status' sh "$bobbin" "$(cat path)" "$PWD"
	complains spool/chain.callgrind 'No space'
	[ "$(cat left | tr '\n' ' ')" = 'chain.callgrind filled it ' ] || fail "left: $(cat left)"
	spool_is_empty
}

run_cases
