#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Debug files of programs: of other roots, and in folders that record is given.
. "$(dirname "$0")/lib.sh"

# without its debug file: the entry
stripped_roots='hidden+0x[0-9a-f]*'

# by_link DEBUG PROGRAM [FLAG…]: a stripped program without a build ID that leads to its debug file
by_link() {
	debug=$1 stripped=$2
	shift 2
	mkdir -p "$(dirname "$debug")" "$(dirname "$stripped")"
	gcc -O2 -o whole "$sources/debug_files.c" -Wl,--build-id=none "$@"
	objcopy --only-keep-debug whole "$debug"
	strip -o "$stripped" whole
	objcopy --add-gnu-debuglink="$debug" "$stripped"
	rm whole
}

# by_build_id FOLDER PROGRAM [FLAG…]: one whose debug file is in FOLDER/.build-id
by_build_id() {
	folder=$1 stripped=$2
	shift 2
	mkdir -p "$(dirname "$stripped")"
	gcc -O2 -o whole "$sources/debug_files.c" -Wl,--build-id "$@"
	id=$(readelf -n whole | sed -n 's/.*Build ID: //p')
	debug=$folder/.build-id/$(echo "$id" | cut -c 1-2)/$(echo "$id" | cut -c 3-).debug
	mkdir -p "$(dirname "$debug")"
	objcopy --only-keep-debug whole "$debug"
	strip -o "$stripped" whole
	rm whole
}

# in_root PATH: how the program of ./root is named: while it runs, and once it is gone
in_root() {
	spawn chroot root "$1" 100000
	eventually grep -q -x hidden "/proc/$pid/comm"
	works_on "$pid"
	eventually sh -c "'$bobbin' stack $pid | grep -A 1 ' hidden_leaf' | grep ' hidden_middle'"
	eventually sh -c "'$bobbin' top -b -n 2 -d 0.3 -p $pid | grep '\\<hidden_leaf\\>'"
	kill "$pid"
	"$bobbin" record -q chroot root "$1" 1500
	roots_also=$stripped_roots
	stacks | some 'hidden_leaf hidden_middle ' 50
	quietly "$bobbin" report --no-children -g none
	grep -q '\[\.\] hidden_leaf$' out
}

it_finds_debug_files_by_build_id_in_the_root_of_a_process() {
	needs_root
	by_build_id root/usr/lib/debug root/usr/bin/hidden -static
	in_root /usr/bin/hidden
}

it_follows_debug_links_in_the_root_of_a_process() {
	needs_root
	by_link root/usr/lib/debug/usr/bin/hidden.debug root/usr/bin/hidden -static
	in_root /usr/bin/hidden
}

it_finds_debug_files_beside_a_program_in_its_root() {
	needs_root
	by_link root/opt/hidden.debug root/opt/hidden -static
	in_root /opt/hidden
}

# They lead to elsewhere in the root of the recorder
it_follows_links_from_the_root_of_a_process() {
	needs_root
	by_build_id root/opt/debug-files root/usr/bin/hidden -static
	mkdir root/usr/lib
	ln -s /opt/debug-files root/usr/lib/debug
	in_root /usr/bin/hidden
	rm root/usr/lib/debug
	ln -s ../../../../../opt/debug-files root/usr/lib/debug
	in_root /usr/bin/hidden
}

it_finds_debug_files_of_the_machine_for_programs_of_other_roots() {
	needs_root
	by_build_id "$PWD/debug" root/usr/bin/hidden -static
	"$bobbin" record -q --debug-path "$PWD/debug" chroot root /usr/bin/hidden 1500
	roots_also=$stripped_roots
	stacks | some 'hidden_leaf hidden_middle ' 50
}

it_finds_debug_files_in_mounts_that_only_the_process_has() {
	needs_root
	needs unshare
	by_build_id image/usr/lib/debug image/usr/bin/hidden -static
	by_link image/opt/linked.debug image/opt/linked -static
	mkdir root
	unshare --mount true || skip "no mount namespaces"
	for path in /usr/bin/hidden /opt/linked; do
		"$bobbin" record -q unshare --mount sh -c "mount -t tmpfs none root && cp -r image/. root && exec chroot root $path 1500"
		roots_also='\(hidden\|linked\)+0x[0-9a-f]*'
		stacks | grep "^${path##*/}: " | some 'hidden_leaf hidden_middle ' 50
	done
}

# A recorder that does not run while a process lives cannot see its root, so those of roots live for long.

# two_roots: the same program in ./first and ./second, with its debug file in the second only
two_roots() {
	by_build_id second/usr/lib/debug second/usr/bin/hidden -static
	mkdir -p first/usr/bin
	cp second/usr/bin/hidden first/usr/bin
}

it_finds_debug_files_in_the_second_root_of_a_file() {
	needs_root
	two_roots
	"$bobbin" record -q sh -c 'chroot first /usr/bin/hidden 300; chroot second /usr/bin/hidden 2000'
	rm -r first second
	roots_also=$stripped_roots
	stacks | some 'hidden_leaf hidden_middle ' 100
	stacks | none 'hidden+0x.* hidden+0x'
}

it_finds_debug_files_once_the_first_root_of_a_file_has_ended() {
	needs_root
	two_roots
	cp -r second/usr/lib first/usr
	"$bobbin" record -q sh -c 'chroot first /usr/bin/hidden 300; rm -r first; chroot second /usr/bin/hidden 2000'
	roots_also=$stripped_roots
	stacks | some 'hidden_leaf hidden_middle ' 100
}

# runs_in ROOT: /opt/hidden, until the case ends; $pid
runs_in() {
	spawn chroot "$1" /opt/hidden 1000000
	eventually grep -q -x hidden "/proc/$pid/comm"
}

# By the paths of /proc/PID/maps, which begin with where the root is in ours
it_finds_debug_files_beside_a_file_in_any_root() {
	needs_root
	by_link one/opt/hidden.debug one/opt/hidden -static -Wl,--build-id
	mkdir -p other/opt
	cp one/opt/hidden other/opt
	mkdir elsewhere
	for roots in 'one other' 'other one'; do
		runs_in "${roots% *}"
		first=$pid
		runs_in "${roots#* }"
		second=$pid
		spawn "$bobbin" record -q -p "$first,$second"
		recorder=$pid
		eventually samples "$recorder"
		works_on "$first"
		works_on "$second"
		kill -INT "$recorder"
		wait "$recorder"
		kill "$first" "$second"
		# the names that were kept
		mv one other elsewhere
		stacks >of_both
		some ': hidden_leaf hidden_middle ' 20 <of_both
		none ': hidden+0x' <of_both
		"$bobbin" report --no-children -g none --full >out
		grep -q '\[\.\] hidden_leaf$' out
		mv elsewhere/* .
	done
}

# all_have_names: in one of the tables of ./out that another one follows
all_have_names() {
	awk '/^bobbin top: / { found = found || (named && !bare); named = bare = 0 }
		/ hidden_leaf$/ { named = 1 }
		/ hidden\+0x/ { bare = 1 }
		END { exit !found }' out
}

it_shows_names_once_a_root_with_the_debug_file_is_seen() {
	needs_root
	two_roots
	spawn "$bobbin" top -b -z -d 0.2 -- sh -c 'chroot first /usr/bin/hidden 1000000 &
		until [ -e go ]; do sleep 0.1; done
		chroot second /usr/bin/hidden 2000 & wait' >out
	eventually grep -q '\<hidden+0x' out
	none '\<hidden_leaf\>' <out
	touch go
	eventually all_have_names
}

it_believes_debug_files_of_the_machine_before_those_of_another_root() {
	needs_root
	by_build_id root/usr/lib/debug root/usr/bin/hidden -static
	mkdir debug
	mv root/usr/lib/debug/.build-id debug
	cp root/usr/bin/hidden .
	debug=$(cd debug && find .build-id -type f)
	mkdir -p "root$PWD/debug/$(dirname "$debug")"
	objcopy --redefine-sym hidden_leaf=forged_leaf "debug/$debug" "root$PWD/debug/$debug"
	"$bobbin" record -q --debug-path "$PWD/debug" sh -c 'chroot root /usr/bin/hidden 1500; ./hidden 300'
	# the names that were kept
	rm -r root hidden debug
	roots_also=$stripped_roots
	stacks | some 'hidden_leaf hidden_middle ' 100
	stacks | none forged_leaf
}

it_takes_no_other_debug_file_in_the_root_of_a_process() {
	needs_root
	by_link root/opt/hidden.debug root/opt/hidden -static
	echo more >>root/opt/hidden.debug
	"$bobbin" record -q chroot root /opt/hidden 1500
	roots_also=$stripped_roots
	stacks | none hidden_leaf
	stacks | some ' hidden+0x'
}

it_keeps_names_of_the_folders_that_record_is_given() {
	by_build_id debug hidden
	"$bobbin" record -q --debug-path debug ./hidden 300
	"$bobbin" record -q -o plain ./hidden 300
	roots_also=$stripped_roots
	stacks | some 'hidden_leaf hidden_middle ' 50
	mv debug elsewhere
	stacks | some 'hidden_leaf hidden_middle ' 50
	stacks -i plain | none hidden_leaf
	rm plain
}

it_remembers_the_folders_for_lines_and_inlined_functions() {
	by_build_id debug hidden -g
	"$bobbin" record -q --debug-path nothing:debug ./hidden 300
	mkdir elsewhere
	roots_also=$stripped_roots
	(cd elsewhere && "$bobbin" script -i ../perf.data -F ip,sym,srcline) >lines_of
	grep -q 'debug_files.c:' lines_of || fail "no lines: $(head lines_of)"
	(cd elsewhere && "$bobbin" script -i ../perf.data --debug-path /nothing -F ip,sym,srcline) >lines_of
	none 'debug_files.c:' <lines_of
}

it_keeps_names_of_debug_files_beside_a_program() {
	by_link hidden.debug hidden
	"$bobbin" record -q ./hidden 300
	mkdir elsewhere
	mv hidden hidden.debug elsewhere
	stacks | some 'hidden_leaf hidden_middle ' 50
}

run_cases
