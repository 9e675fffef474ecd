#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Where code without tables suggests a wrong caller, the stack is right, or not called complete.
. "$(dirname "$0")/lib.sh"

# stack_of N DEPTH [made]: DEPTH functions of unproved.S are on it, or it says that it ends or guesses
stack_of() {
	gcc -O2 -o unproved "$sources/unproved.c" "$sources/unproved.S"
	spawn ./unproved "$1" $3
	works_on "$pid"
	quietly "$bobbin" stack -v --no-code "$pid"
	count=$(grep -c -E '^#[0-9]+ .*( [a-z]+[0-9]+\+0x| spin\+0x| noret\+0x|\[anon\])' out)
	[ "$count" -eq "$2" ] || grep -q 'the trace ends here' out || fail "$count of $2 callers in $(cat out)"
}

in_file_and_made() {
	stack_of "$1" "$2" ''
	kill "$pid"
	stack_of "$1" "$2" made
}

it_does_not_take_what_is_stored_for_a_return_address() {
	in_file_and_made 1 3
}

it_does_not_take_a_pointer_for_a_frame_pointer() {
	in_file_and_made 2 4
}

it_does_not_go_on_after_calls_that_do_not_return() {
	in_file_and_made 3 5
}

it_does_not_take_an_old_record_for_a_frame() {
	in_file_and_made 4 3
}

run_cases
