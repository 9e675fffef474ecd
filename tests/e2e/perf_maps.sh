#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Names that programs tell in perf maps, wherever the code is, and whoever runs it.
. "$(dirname "$0")/lib.sh"

made() {
	[ "$(uname -m)" = x86_64 ] || skip "the program's code is x86-64's"
	program perf_map
}

# leaves: of perf.data, in user code
leaves() {
	stacks | awk '{ print $2 }' | grep -x 'made\|later\|own\|\[.*\]\|.*0x.*'
}

# forget: what the recorded processes have left in /tmp
forget() {
	for p in $("$bobbin" script -q -F pid | awk 'NF { print $1 }' | sort -u); do
		rm -f "/tmp/perf-$p.map" "/dev/shm/bobbin-code-$p"
	done
}

it_names_code_in_all_kinds_of_memory() {
	for where in anon shared memfd shm deleted sysv; do
		record "$(made)" 200 $where
		leaves >names
		forget
		mostly 95 '^made$' <names
	done
}

it_names_code_of_running_processes() {
	for where in anon shm deleted; do
		spawn "$(made)" 600000 $where
		eventually has_worked "$pid" 5
		quietly "$bobbin" stack "$pid"
		forget_map "$pid"
		rm -f "/dev/shm/bobbin-code-$pid"
		some '^#0 .* made+0x[0-9a-f]* (\[JIT\])$' 1 <out
		kill "$pid"
	done
}

it_keeps_names() {
	record "$(made)" 200
	grep -q ' 1 functions that were compiled at run time are named in perf.data.jit$' err
	forget
	leaves | mostly 95 '^made$'
	record "$(made)" 200 anon removed
	leaves | mostly 95 '^made$'
}

it_keeps_names_of_another_tmp() {
	needs_root
	needs unshare
	made >program
	cp "$(cat program)" "$work/bin/of_another_tmp"
	mkdir /var/tmp/bobbin-perf-map.$$
	cp "$(cat program)" /var/tmp/bobbin-perf-map.$$/it
	for how in -m '-m -p -f --mount-proc'; do
		# shellcheck disable=SC2086 # options are words
		record unshare $how sh -c "mount -t tmpfs none /tmp && exec /var/tmp/bobbin-perf-map.$$/it 300" || :
		leaves >names
		mostly 95 '^made$' <names
	done
	rm -r /var/tmp/bobbin-perf-map.$$
}

it_names_what_a_forked_child_runs() {
	record "$(made)" 200 anon forked
	forget
	leaves | mostly 95 '^made$'
	spawn "$(made)" 600000 anon forked
	eventually child_of "$pid"
	child=$(child_of "$pid")
	eventually has_worked "$child" 5
	quietly "$bobbin" stack "$child"
	some '^#0 .* made+' 1 <out
	record_while_it_works "$child"
	forget_map "$pid"
	leaves | mostly 95 '^made$'
}

it_names_as_of_the_fork() {
	record "$(made)" 300 anon parted
	forget
	"$bobbin" script -F pid,ip,sym --no-inline >frames
	awk 'NF && /^ *[0-9]+/ { pid = $1 } / (made|later)\+/ { sub(/\+.*/, "", $2); print pid, $2 }' frames |
		sort | uniq -c >counts
	[ "$(awk '$3 == "later" { print $2 }' counts | wc -l)" -eq 1 ] || fail "$(cat counts)"
	parent=$(awk '$3 == "later" { print $2 }' counts)
	awk -v p="$parent" '$2 != p' counts | some ' made$' 1
	awk -v p="$parent" '$2 == p' counts | some ' made$' 1
}

it_prefers_a_map_of_its_own() {
	record "$(made)" 300 anon own
	forget
	leaves | mostly 95 '^own$'
}

it_names_code_when_the_first_thread_has_ended() {
	record "$(made)" 300 anon threaded
	forget
	leaves | mostly 95 '^made$'
	spawn "$(made)" 600000 anon threaded
	eventually gone "$pid"
	eventually has_worked "$pid" 5
	expect 0 "$bobbin" stack "$pid"
	some '^#0 .* made+' 1 <out
	forget_map "$pid"
}

run_cases
