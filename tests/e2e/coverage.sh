#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# bench/coverage: a row for each program, whatever becomes of it.

. "$(dirname "$0")/lib.sh"

coverage=$sources/../../bench/coverage

it_compares_three_recordings_of_a_program() {
	needs perf python3 dash
	expect 0 "$coverage" --only dash,mawk --seconds 3 "$bobbin"
	# nobody may not read the folder of the tests
	grep -E '^\| dash \| dash [^|]+ \| [0-9]+ \|( [0-9.]+ % \|){3} ([0-9.]+ %|–) \|( [0-9.]+ % \|){2}' out >row ||
		fail "no row: $(cat out err)"
	# dash has unwind tables for all of its code, and no frame pointers
	awk -F '|' '{ exit !($5 + 0 > 90 && $6 + 0 > 90 && $10 + 0 < 50) }' row || fail "shares: $(cat row)"
	grep -q '^| mawk | \|^Not installed: mawk' out || fail "mawk is dropped: $(cat out)"
}

it_shows_what_failed() {
	needs perf python3 dash
	printf '#!/bin/sh\necho "bobbin record: no such luck" >&2\nexit 3\n' >broken
	chmod +x broken
	expect 1 "$coverage" --only dash --seconds 1 ./broken
	grep -q '^| dash | .*failed: status 3 of first: bobbin record: no such luck' out || fail "$(cat out err)"
}

it_refuses_a_row_that_it_does_not_have() {
	needs perf
	expect 2 "$coverage" --only nothing "$bobbin"
	grep -q "no row 'nothing'" err || fail "$(cat err)"
}

run_cases
