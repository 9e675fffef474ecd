#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A stack that is given out once is known, whatever is lost or forgotten.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/kernel_walks.sh"

# bytes: of a stack in the ring, on average
bytes() {
	sed -n 's/^ *\([0-9]*\)\.[0-9] bytes a stack were given out$/\1/p' err
}

all_are_known() {
	! grep 'stacks are not known' err || fail "stacks are not known: $(cat err)"
	reasons | none STACK_UNKNOWN
}

it_is_advised_where_copies_of_stacks_end() {
	record --no-bpf "$(program roomy)" 300 204800
	[ "$(grep -c '^ *without --no-bpf stacks are walked in the kernel' err)" -eq 1 ] || fail "no advice: $(cat err)"
	record --bpf "$(program roomy)" 300 204800
	none 'without --no-bpf' <err
	reasons | mostly 70 '^OUTERMOST$'
	record --no-bpf "$(program chain)" 300
	none 'without --no-bpf' <err
}

# Whoever may not load programs is not told to
it_is_not_advised_where_it_does_not_work() {
	needs setpriv
	record --no-bpf "$(program roomy)" 100 204800
	cp "$work/bin/roomy" .
	chmod 777 .
	expect 0 setpriv --reuid 65534 --regid 65534 --clear-groups "$bobbin" record -o other ./roomy 300 204800
	grep -q 'ended early: the copy of the stack ends here' err
	none 'in the kernel' <err
	expect 0 setpriv --reuid 65534 --regid 65534 --clear-groups "$bobbin" record --no-bpf -o other ./roomy 300 204800
	none 'in the kernel' <err
	rm -f other perf.data
}

it_gives_out_a_stack_that_is_known_in_few_bytes() {
	record --bpf -F 2000 "$(program deep)" 1000 200
	[ "$(bytes)" -le 64 ] || fail "many bytes: $(cat err)"
	stacks | mostly 95 ' descend descend main __libc_start_call_main '
}

# Without a callee in common: more frames than the kernel and the recorder remember
it_agrees_on_stacks_that_are_ever_new() {
	walks 80 "$(program wandering)" 2000 400
	[ "$(bytes)" -ge 400 ] || fail "they are not new: $(cat err)"
	all_are_known
}

# runs NAME: the recorder's program has begun to
runs() {
	child=$(child_of "$pid") && [ "$(cat "/proc/$child/comm")" = "$1" ] && has_worked "$child" 10
}

stopped_is() {
	grep -q '^State:[[:space:]]*[Tt]' "/proc/$1/status"
}

# loses_records: whether the recorder was stopped for so long; it is when the shell comes to it
loses_records() {
	rm -f mark
	spawn "$bobbin" record --bpf --also-copy -F 2000 "$wandering" 3000 900 "$PWD/mark" 2>err
	eventually runs wandering
	kill -STOP "$pid"
	eventually stopped_is "$pid"
	eventually [ -e mark ]
	kill -CONT "$pid"
	wait "$pid"
	[ "$(sed -n 's/.*, \([0-9]*\) records lost.*/\1/p' err)" -gt 0 ]
}

# The ring has a tenth of a second of ever new stacks; those that are lost come again later
it_agrees_when_records_have_found_no_room() {
	wandering=$(program wandering)
	loses_records || loses_records || loses_records || fail "there was room: $(cat err)"
	[ "$(count 'stacks were walked in the kernel')" -ge 500 ] || fail "few: $(cat err)"
	[ "$(count 'were compared with user space')" -ge 300 ] || fail "few: $(cat err)"
	grep -q ': 0 differ$' err || fail "the walks differ: $(cat err)"
	all_are_known
}

run_cases
