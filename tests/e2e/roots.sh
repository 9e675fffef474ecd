#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What counts as a complete trace: one whose last frame is known to have no caller.
. "$(dirname "$0")/lib.sh"

it_does_not_take_a_zero_for_the_outermost_frame() {
	record "$(program zero_caller)" 300
	stacks | some ' spin coroutine $' 100
	reasons | grep -v -x NO_USER | mostly 90 '^ZERO_RA$'
	grep -q 'ended early: the return address is 0, in a frame that is not known as a root' err
}

it_says_that_a_frame_is_found_by_memory_that_no_copy_has() {
	record "$(program below)" 300
	reasons | grep -v -x NO_USER | mostly 80 '^BELOW_SP$'
	spawn "$(program below)" 100000
	eventually sh -c "'$bobbin' stack $pid | grep -w -A 2 below | grep -w main"
}

run_cases
