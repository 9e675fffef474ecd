#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Files that other processes serve are looked at by the helper only, and wait for nobody.

# mounts that nobody else sees
[ "$(id -u)" -ne 0 ] || [ -n "$OWN_MOUNTS" ] ||
	OWN_MOUNTS=1 exec unshare --mount -- "$0" "$@"
. "$(dirname "$0")/lib.sh"
trap 'cd /; for case in "$work"/it_*; do umount -q -l "$case/files"; done; rm -rf "$work"' EXIT

# A program without a build ID, in a file system of our own; its server is $server.
serve() {
	needs_root
	server_program=$(program foreign_files)
	plain=$(program_as "${1:-compute}.no_id" "${1:-compute}" -Wl,--build-id=none)
	started "$server_program" "$plain"
	server=$pid
}

# runs: a program of that file system, until the case ends; $target
runs() {
	spawn files/code "$@"
	target=$pid
	eventually grep -q -x code "/proc/$target/comm"
	works_on "$target"
}

# falls_silent: from now on
falls_silent() {
	kill -USR1 "$server"
	eventually grep -q -x 'State:.S.*' "/proc/$server/status"
}

# no_more_files: whoever asks for them is told so
no_more_files() {
	kill -KILL "$server"
	umount -l files
}

# traced COMMAND…: it touches no foreign path; its helper does
traced() {
	needs strace
	# leaks cannot be looked for in a traced process
	ASAN_OPTIONS="detect_leaks=0:$ASAN_OPTIONS" strace -f -qq -s 4096 -o trace -e trace=%file,prctl "$@" >out 2>err || fail "$*: $(cat err)"
	awk -v folder="$PWD/files" '
		/prctl\(PR_SET_NAME, "bobbin-reader"/ { helper[$1] = 1 }
		NR == FNR { own[$1] = 1; next }
		# libdw asks what its own descriptors are
		match($0, /"\/proc\/[0-9]+\/fd/) && own[substr($0, RSTART + 7, RLENGTH - 10)] { next }
		index($0, "\"" folder) || /"\/proc\/[0-9]+\/(root|cwd|exe|map_files|fd)/ {
			if (helper[$1])
				seen++
			else
				print
		}
		END { if (!seen) print "the helper touches none either" }' trace trace >found
	none . <found
}

# in_time COMMAND…: it ends by itself; its output is in ./out and ./err
in_time() {
	timeout -s KILL 120 "$@" >out 2>err || fail "status $? of $*: $(cat err)"
}

it_touches_no_path_but_through_the_helper() {
	others=1
	serve
	runs 1000000
	traced "$bobbin" stack "$target"
	traced "$bobbin" maps "$target"
	traced "$bobbin" top -b -n 2 -d 0.2 -p "$target"
	traced "$bobbin" record --duration 0.5 -p "$target"
	traced "$bobbin" report
	traced "$bobbin" script
	traced "$bobbin" flamegraph
	traced "$bobbin" record --duration 0.5 -a
}

it_touches_no_path_of_another_root() {
	needs_root
	mkdir files
	cp "$(program_as compute.static compute -static)" files/code
	strip files/code
	spawn chroot files /code 1000000
	eventually grep -q -x code "/proc/$pid/comm"
	target=$pid
	traced "$bobbin" stack "$target"
	traced "$bobbin" maps "$target"
	traced "$bobbin" top -b -n 2 -d 0.2 -p "$target"
	traced "$bobbin" record --duration 0.5 -p "$target"
	traced "$bobbin" report
}

it_ends_beside_a_file_system_that_does_not_answer() {
	others=1
	serve
	runs 1000000
	in_time "$bobbin" record --duration 0.5 -p "$target"
	falls_silent
	in_time "$bobbin" report
	grep -q compiled_leaf out
	in_time "$bobbin" script
	in_time "$bobbin" flamegraph
	in_time "$bobbin" stack "$target"
	in_time "$bobbin" maps "$target"
	in_time "$bobbin" top -b -n 2 -d 0.2 -p "$target"
	in_time "$bobbin" record --duration 0.5 -p "$target"
	in_time "$bobbin" record --duration 0.5 -a
	no_more_files
}

it_sees_others_beside_it() {
	others=1
	serve
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		runs 1000000
	done
	falls_silent
	spawn "$(program compute)" 1000000
	eventually has_worked "$pid" 10
	in_time "$bobbin" record --duration 2 -a
	no_more_files
	stacks | grep '^compute: ' | some ' main '
}

run_cases
