#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs of Go are walked in the kernel by the table of their run time.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/kernel_walks.sh"
. "$(dirname "$0")/go_programs.sh"

it_walks_all_versions_in_the_kernel() {
	for version in $(all_versions); do
		build "$version" "bare-$version" -ldflags=-s
		walks 80 "./bare-$version"
		stacks | mostly 90 ' main.leaf main.caller main.work \(main.main[^ ]* \)\{0,1\}runtime.goexit'
		frames | mostly 90 ' \[\.gopclntab\]$'
	done
}

# Its collector and its allocator run on the stacks of threads
it_goes_on_to_the_stack_of_the_goroutine() {
	cat >spin.go <<-'END'
		package main

		type tree struct{ left, right *tree }

		//go:noinline
		func grow(depth int) *tree {
			if depth == 0 {
				return &tree{}
			}
			return &tree{grow(depth - 1), grow(depth - 1)}
		}

		func main() {
			for i := 0; i < 4000; i++ {
				grow(13)
			}
		}
	END
	for version in $(all_versions | sed -n '1p;$p'); do
		build "$version" "trees-$version"
		record --bpf -F 2000 "./trees-$version"
		stacks | grep ' runtime.systemstack' >switched
		mostly 80 ' runtime.systemstack[^ ]* .* runtime.goexit' <switched
	done
}

# C is called on the stack of the thread
it_goes_on_to_the_goroutine_that_has_called_c() {
	each_calls_c 6000 record --bpf -F 499
}

run_cases
