#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# All that a program starts is followed, wherever its code comes from.
. "$(dirname "$0")/lib.sh"

it_follows_fork_and_exec() {
	record "$(program family)" 300 "$(program chain)"
	stacks | some '^family:.* spin in_parent main ' 100
	stacks | some '^family:.* spin in_child main ' 100
	stacks | some '^family:.* spin in_next main ' 100
	stacks | some '^chain:.* spin c b a main ' 100
	complete
}

it_sees_all_threads() {
	record "$(program threads)" 300
	stacks | some 'spin first start_thread ' 100
	stacks | some 'spin second start_thread ' 100
	stacks | some 'spin in_main main ' 100
	tids=$("$bobbin" script -F tid | sort -u | wc -l)
	[ "$tids" -eq 3 ] || fail "$tids threads"
	complete
}

# The machine may be busy with other things for longer than the rings hold.
few_lost() {
	lost=$(sed -n 's/.* \([0-9]*\) records lost;.*/\1/p' err)
	taken=$(sed -n 's/^bobbin record: \([0-9]*\) samples,.*/\1/p' err)
	[ $((100 * lost)) -le "$taken" ] || fail "$lost records lost of $taken"
}

it_follows_children_that_live_shortly() {
	record -F 4000 -- sh -c 'i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i + 1)); done'
	# without privileges there is little room for records
	[ "$(id -u)" -ne 0 ] || few_lost
	pids=$("$bobbin" script -F pid | sort -u | wc -l)
	[ "$pids" -ge 100 ] || fail "samples in $pids processes"
	stacks | some '^sh: ' 1
	stacks | some '^true: ' 10
	"$bobbin" script -F comm,tid | none '^ *:*[0-9]* *$'
	# some of them are about to touch a page of the stack for the first time
	reasons | grep -v -x NO_USER | mostly 90 OUTERMOST
	reasons | none NO_MAPPING
}

it_names_each_process_by_what_it_runs() {
	cp "$(program chain)" one
	cp one two
	record -- sh -c './one 200; ./two 200; exec ./one 200'
	for name in one two; do
		"$bobbin" script -F comm,ip,dso --no-inline | awk -v name=$name '
			/^[^\t]/ { mine = $1 == name }
			mine && /\/(one|two)\)/' | mostly 100 "/$name)"
	done
	stacks | some '^one: .*spin c b a main ' 200
	stacks | some '^two: .*spin c b a main ' 100
}

it_unwinds_a_program_that_was_deleted() {
	cp "$(program vanish)" ./vanish
	record ./vanish 500
	[ ! -e ./vanish ]
	complete
	frames | grep '/vanish' | with_tables | mostly 100 '\[\.eh_frame\]$'
	chain_lengths | mostly 90 '^6$'
}

it_unwinds_a_running_program_that_was_deleted() {
	cp "$(program vanish)" ./vanish
	spawn ./vanish 2500
	eventually [ ! -e vanish ]
	record -p "$pid"
	complete
	frames | grep '/vanish' | with_tables | mostly 100 '\[\.eh_frame\]$'
}

# The chain of a program that only another mount namespace can see
it_unwinds_in_another_mount_namespace() {
	needs_root
	needs unshare
	cp "$(program chain)" plain
	mkdir place
	record -- unshare -m --propagation private sh -ec '
		mount -t tmpfs none place
		cp plain place/hidden
		./place/hidden 400'
	[ ! -e place/hidden ]
	stacks | sed -n '/^hidden: /p' >hidden
	some '' 200 <hidden
	frames | grep '/place/hidden' | mostly 99 '\[\.eh_frame\]$'
	complete
}

it_unwinds_in_another_root() {
	needs_root
	needs unshare chroot
	program_as static chain -static >/dev/null
	mkdir root
	cp "$work/bin/static" root/inside
	record -- chroot root /inside 400
	stacks | some '^inside: ' 200
	frames | grep '(/inside)' | mostly 99 '\[\.eh_frame\]$'
	complete
	mkdir away
	record -- unshare -m --propagation private sh -ec '
		mount -t tmpfs none away
		cp "$1" away/inside
		exec chroot away /inside 400' sh "$work/bin/static"
	stacks | some '^inside: ' 200
	frames | grep '(/inside)' | mostly 99 '\[\.eh_frame\]$'
	complete
}

it_attaches_across_namespaces() {
	needs_root
	needs unshare
	cp "$(program chain)" plain
	mkdir place
	spawn unshare -m --propagation private sh -ec '
		mount -t tmpfs none place
		cp plain place/hidden
		exec ./place/hidden 2500'
	eventually grep -q hidden "/proc/$pid/comm"
	record -p "$pid"
	frames | grep '/place/hidden' | mostly 99 '\[\.eh_frame\]$'
	complete
}

it_attaches_into_another_pid_namespace() {
	needs_root
	needs unshare
	spawn unshare --pid --fork "$(program chain)" 2500
	eventually child_of "$pid"
	record -p "$(child_of "$pid")"
	stacks | mostly 90 'spin c b a main '
	complete
}

it_sees_libraries_that_are_loaded_late() {
	plugin=$(program_as plugin.so plugin -shared -fPIC)
	record "$(program loader)" 400 "$plugin"
	stacks | some ' spin plugin_work load main ' 200
	frames | grep '^plugin_work ' | mostly 100 '(.*/plugin.so) \[\.eh_frame\]$'
	complete
}

run_cases
