#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Backtraces by libbobbin-backtrace.so while everything that could disturb them happens; BOBBIN_STORM_SECONDS of it.
. "$(dirname "$0")/lib.sh"

library=$(realpath "$2")
seconds=${BOBBIN_STORM_SECONDS:-5}

# plugin SIZE: a library whose frames have that size, else like the other
plugin() {
	gcc -O2 -fomit-frame-pointer -DFRAME="$1" -shared -fPIC -Wl,--build-id -I"$sources/../../include" \
		-o "frame$1.so" "$sources/../unwind/frame_plugin.c"
}

it_gives_no_wrong_frame_in_a_storm() {
	needs g++
	plugin 200
	plugin 328
	g++ -O2 -fomit-frame-pointer -rdynamic -o storm "$sources/backtrace_storm.cc" "$library" \
		-Wl,-rpath,"$(dirname "$library")" -pthread
	expect 0 ./storm "$seconds" ./frame200.so ./frame328.so
	sed 's/^/# /' out
	# where an exception puts its handler in the place of a frame nobody knows the caller
	awk '$NF == "faults" && $3 > 20 * $6 { right = 1 } END { exit !right }' out || fail "$(cat out)"
}

run_cases
