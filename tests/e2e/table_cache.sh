#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Compiled tables are kept, used again, and never trusted more than what they were made of.
. "$(dirname "$0")/lib.sh"

# all_asleep PID: its three threads wait for something
all_asleep() {
	[ "$(cat "/proc/$1/task/"*/stat | awk '{ n += $3 == "S" } END { print n }')" -eq 3 ]
}

# start_asleep [FLAG…]: a process that waits, $pid, and its stacks without a cache, ./wanted
start_asleep() {
	gcc -O2 -fomit-frame-pointer "$@" -o asleep "$sources/asleep.c" -pthread
	spawn ./asleep
	eventually all_asleep "$pid"
	quietly "$bobbin" stack -v "$pid"
	mv out wanted
	[ ! -e kept ]
}

# same_stacks: with the cache ./kept
same_stacks() {
	quietly "$bobbin" stack -v --table-cache "$PWD/kept" "$pid"
	diff wanted out
}

# tables: how many are kept
tables() {
	find kept -type f -name '*.table' -size +0 | wc -l
}

it_keeps_what_it_used_and_uses_it_again() {
	start_asleep
	same_stacks
	count=$(tables)
	[ "$count" -ge 2 ]
	[ "$(stat -c %a kept)" -eq 700 ]
	find kept -type f | none -v '\.table$'
	touch -d 2001-01-01 kept/*
	same_stacks
	[ "$(tables)" -eq "$count" ]
	# one that is used is marked
	[ "$(find kept -type f -newermt 2002-01-01 | wc -l)" -eq 2 ]
}

it_says_the_same_of_debug_frame() {
	start_asleep -g -fno-asynchronous-unwind-tables -fno-unwind-tables
	grep -q 'debug_frame' wanted
	same_stacks
	touch -d 2001-01-01 kept/*
	same_stacks
	[ "$(find kept -type f -newermt 2002-01-01 | wc -l)" -eq 2 ]
}

it_makes_damaged_tables_again() {
	start_asleep
	same_stacks
	cp -r kept good
	for table in kept/*; do
		printf '\377' | dd of="$table" bs=1 seek=300 conv=notrunc
	done
	same_stacks
	diff -r good kept
	: >empty
	for table in kept/*; do
		cp empty "$table"
	done
	same_stacks
	diff -r good kept
}

it_does_not_use_what_others_may_write() {
	start_asleep
	mkdir kept
	chmod 777 kept
	same_stacks
	[ "$(tables)" -eq 0 ]
	rmdir kept
	mkdir real
	ln -s real kept
	same_stacks
	[ "$(find real -type f | wc -l)" -eq 0 ]
}

it_tells_files_with_the_same_build_id_apart() {
	needs objcopy
	id=-Wl,--build-id=0x00112233445566778899
	gcc -O2 -fomit-frame-pointer $id -o one "$sources/asleep.c" -pthread
	gcc -O0 -fno-omit-frame-pointer $id -o two "$sources/asleep.c" -pthread
	for program in one two; do
		spawn "./$program"
		eventually all_asleep "$pid"
		quietly "$bobbin" stack -v "$pid"
		mv out wanted
		same_stacks
		same_stacks
	done
}

it_keeps_nothing_where_that_is_turned_off() {
	start_asleep
	mkdir home
	HOME=$PWD/home XDG_CACHE_HOME=$PWD/home BOBBIN_TABLE_CACHE='' quietly "$bobbin" stack "$pid"
	BOBBIN_TABLE_CACHE=$PWD/kept quietly "$bobbin" stack --table-cache '' "$pid"
	[ ! -e kept ]
	[ "$(find home | wc -l)" -eq 1 ]
	BOBBIN_TABLE_CACHE=$PWD/kept quietly "$bobbin" stack "$pid"
	[ "$(tables)" -ge 2 ]
}

it_serves_recordings() {
	gcc -O2 -fomit-frame-pointer -o chain "$sources/chain.c" -pthread
	for _ in first second; do
		record --table-cache "$PWD/kept" ./chain 200
		complete
		[ "$(tables)" -ge 2 ]
	done
}

run_cases
