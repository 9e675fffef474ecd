#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What takes a file's place does so as a whole, and leaves nothing else.
. "$(dirname "$0")/lib.sh"

# The new file has a second name between two calls (src/cli/output_file.c): whole, without privileges.
# That a kill comes there is rare.
it_leaves_nothing_when_it_is_killed() {
	lefts=0
	library=$(ldconfig -p | sed -n 's|.*libcrypto\.so\.3.*=> ||p; s|.*libc\.so\.6.*=> ||p' | head -n 1)
	mkdir files
	for n in $(seq 40); do
		cp "$library" files/program
		chmod 4755 files/program
		"$bobbin" sframe convert -q --in-place files/program &
		converter=$!
		sleep "0.0$((n % 10))$((n % 7))"
		kill -KILL $converter 2>/dev/null || :
		wait $converter 2>/dev/null || :
		for left in files/program.*; do
			[ -e "$left" ] || continue
			[ "$(stat -c %a "$left")" = 755 ] || fail "has privileges: $(ls -l files)"
			readelf -SW "$left" | grep -q ' \.sframe ' || fail "left in part: $(ls -l files)"
			lefts=$((lefts + 1))
			[ $lefts -le 4 ] || fail "left $lefts times: $(ls -l files)"
			rm "$left"
		done
		[ "$(ls files)" = program ] || fail "left behind: $(ls -l files)"
		# the new file is given its privileges last
		[ "$(stat -c %a files/program)" = 4755 ] || {
			[ "$(stat -c %a files/program)" = 755 ]
			readelf -SW files/program | grep -q ' \.sframe '
		}
	done
}

# attributes FILE [CAPABILITY]: name its extended attributes, or give it one that is a privilege
attributes() {
	python3 -c 'import os, sys
if len(sys.argv) > 2:
    os.setxattr(sys.argv[1], "security.capability", bytes.fromhex(sys.argv[2]))
print(*os.listxattr(sys.argv[1]))' "$@"
}

# killed_at CALL: who converts a privileged program in place ends there
killed_at() {
	cp "$(program chain)" files/program
	chmod 6755 files/program
	attributes files/program 0100000200200000000000000000000000000000 >/dev/null
	strace -qq -o calls -e trace="$1" -e inject="$1":signal=KILL \
		"$bobbin" sframe convert -q --in-place files/program || :
	grep -q '(.*program' calls || fail "never came to $1"
}

it_gives_privileges_to_nothing_that_a_kill_leaves_behind() {
	needs_root
	needs strace python3
	strace -o /dev/null true 2>/dev/null || skip "nothing may be traced here"
	mkdir files
	for call in linkat '/^rename'; do
		killed_at "$call"
		for left in files/program.*; do
			[ -e "$left" ] || continue
			[ "$(stat -c %a "$left")" = 755 ] || fail "killed at $call: $(ls -l files)"
			[ -z "$(attributes "$left")" ] || fail "killed at $call: has capabilities"
		done
		[ "$(stat -c %a files/program)" = 6755 ]
		rm -r files/*
	done
}

it_keeps_privileges() {
	needs_root
	needs python3
	mkdir files
	cp "$(program chain)" files/program
	chmod 6755 files/program
	attributes files/program 0100000200200000000000000000000000000000 >before
	quietly "$bobbin" sframe convert -q --in-place files/program
	attributes files/program >after
	cmp before after
	[ "$(stat -c %a files/program)" = 6755 ]
}

it_warns_of_hard_links() {
	cp "$(program chain)" program
	ln program other
	expect 0 "$bobbin" sframe convert -q --in-place program
	complains program 'hard links'
	cmp -s program other && fail 'the other name has the new file'
	"$bobbin" sframe check program
	[ "$(ls)" = "$(printf 'err\nother\nout\nprogram')" ]
}

it_replaces_where_there_are_no_files_without_names() {
	needs_root
	needs unshare
	cp "$(program chain)" program
	# ramfs has none
	unshare -m sh -c "mkdir -p ram && mount -t ramfs ram ram && cp program ram/ &&
		$bobbin sframe convert -q --in-place ram/program &&
		$bobbin sframe convert -q -o ram/new program && ls ram && cp ram/program converted" \
		>listed || skip "no file systems may be mounted here"
	[ "$(cat listed)" = "$(printf 'new\nprogram')" ] || fail "$(cat listed)"
	"$bobbin" sframe check converted
}

run_cases
