#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs of all versions of Go that Debian has, from 1.18 on: their stacks are complete, and named
# by the run time's table where there are no symbols.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/go_programs.sh"

# is_walked NAME: to the start of its goroutines, by names of functions
is_walked() {
	record "./$1"
	reasons | mostly 95 '^OUTERMOST$'
	# with a wrapper or without, in one version or another
	stacks | mostly 90 ' main.leaf main.caller main.work \(main.main[^ ]* \)\{0,1\}runtime.goexit'
}

it_walks_programs_with_symbols() {
	for version in $(all_versions); do
		build "$version" "with-$version"
		is_walked "with-$version"
	done
}

it_walks_and_names_programs_without_symbols() {
	for version in $(all_versions); do
		build "$version" "bare-$version" -ldflags=-s
		! readelf -sW "bare-$version" | grep -q leaf
		is_walked "bare-$version"
	done
}

# What the header of the table says then is left to a relocation, or to the run time's data.
it_walks_programs_that_may_be_anywhere() {
	for version in $(all_versions | sed -n '1p;$p'); do
		build "$version" "pie-$version" -buildmode=pie
		is_walked "pie-$version"
		build "$version" "linked-$version" -buildmode=pie -ldflags='-linkmode=external -s'
		is_walked "linked-$version"
	done
}

run_cases
