#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Users who may sample little, or nothing, are told what to do.
# shellcheck disable=SC2086 # $as_nobody is a list of words
. "$(dirname "$0")/lib.sh"

paranoid=/proc/sys/kernel/perf_event_paranoid

as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --no-new-privs"

needs_nobody() {
	needs_root
	needs setpriv
	cp "$bobbin" "$work/bin/bobbin"
	chmod 777 .
}

# paranoid_level LEVEL: until the case ends
paranoid_level() {
	before=$(cat $paranoid)
	trap 'echo $before >$paranoid; end_spawned' EXIT
	echo "$1" 2>/dev/null >$paranoid || skip "cannot set kernel.perf_event_paranoid"
}

it_says_who_else_forbids_what_the_sysctl_allows() {
	[ "$(cat $paranoid)" -le 2 ] || skip "kernel.perf_event_paranoid does not allow it"
	library=$(program_as denied.so denied -shared -fPIC)
	export ASAN_OPTIONS="verify_asan_link_order=0:$ASAN_OPTIONS"
	expect 1 env LD_PRELOAD="$library" "$bobbin" record true
	complains "although kernel.perf_event_paranoid is $(cat $paranoid): a container's filter"
	none 'sysctl' <err
	[ ! -e perf.data ]
}

it_does_not_run_the_command_if_it_may_not_sample() {
	library=$(program_as denied.so denied -shared -fPIC)
	export ASAN_OPTIONS="verify_asan_link_order=0:$ASAN_OPTIONS"
	expect 1 env LD_PRELOAD="$library" "$bobbin" record touch it-ran
	[ ! -e it-ran ]
}

it_names_the_sysctl_to_nobody() {
	needs_nobody
	paranoid_level 3
	status=0
	$as_nobody "$work/bin/bobbin" record true >out 2>err || status=$?
	[ $status -ne 0 ] || skip "this kernel's kernel.perf_event_paranoid does not go further than 2"
	[ $status -eq 1 ]
	complains 'kernel.perf_event_paranoid is 3' 'sysctl kernel.perf_event_paranoid=2'
	[ ! -e perf.data ]
}

it_says_that_probes_are_not_for_nobody() {
	needs_nobody
	paranoid_level 2
	for probe in "uprobe:$(program calls):visit" "uretprobe:$(program calls):visit"; do
		expect 1 $as_nobody "$work/bin/bobbin" record -e "$probe" true
		complains 'no permission to set probes: run as root, or give bobbin CAP_PERFMON$'
	done
}

it_samples_the_own_programs_of_nobody() {
	needs_nobody
	paranoid_level 2
	expect 0 $as_nobody "$work/bin/bobbin" record "$(program chain)" 500
	stacks | mostly 90 ' spin c b a main __libc_start_call_main '
	"$bobbin" script -f -F event | mostly 100 '\(cpu-clock\|cycles\):u: $'
	"$bobbin" script -f -F tid,ip,dso | none '\[kernel'
	complete
}

# deep_stacks_of_nobody HZ LEVELS [RUN WITH...]
deep_stacks_of_nobody() {
	hz=$1 levels=$2
	shift 2
	expect 0 "$@" $as_nobody "$work/bin/bobbin" record -F $hz "$(program deep)" 700 $levels
	stacks | mostly 90 ' spin descend descend '
	complete
}

it_copies_deep_stacks_of_nobody() {
	needs_nobody
	paranoid_level 2
	# one sample in ten milliseconds finds room in the smallest buffers
	deep_stacks_of_nobody 99 1000 prlimit --memlock=0
	locked=$(ulimit -l)
	[ "$locked" = unlimited ] || [ "$locked" -ge $((512 * $(nproc))) ] || return 0
	deep_stacks_of_nobody 999 400
}

it_says_which_programs_nobody_may_sample() {
	needs_nobody
	paranoid_level 2
	cp "$(program chain)" secret
	chmod 711 secret
	expect 0 $as_nobody "$work/bin/bobbin" record ./secret 500
	complains 'no samples: ' 'Linux lets nobody sample a program that .* its user may not read'
	expect 0 $as_nobody "$work/bin/bobbin" record true
	none 'lets nobody' <err
}

it_shows_the_own_programs_of_nobody() {
	needs_nobody
	paranoid_level 2
	expect 0 $as_nobody "$work/bin/bobbin" top -b -d 0.5 "$(program chain)" 1000
	tail -n 20 out | grep -q '^ *[0-9.]*% .*\] spin$' || fail "$(cat out)"
	grep % out | none '\[k\]'
	expect 1 $as_nobody "$work/bin/bobbin" top -b
	complains 'sample everything' 'CAP_PERFMON'
}

it_attaches_to_the_own_programs_of_nobody() {
	needs_nobody
	paranoid_level 2
	spawn $as_nobody "$(program threads)" 2500
	eventually sh -c "[ \$(ls /proc/$pid/task | wc -l) -eq 3 ]"
	expect 0 $as_nobody "$work/bin/bobbin" record -p "$pid"
	stacks | some ' spin first start_thread '
	stacks | some ' spin in_main main '
	complete
}

it_refuses_the_programs_of_others() {
	needs_nobody
	paranoid_level 2
	spawn "$(program chain)" 20000
	expect 1 $as_nobody "$work/bin/bobbin" record -p "$pid"
	complains "process $pid" 'its owner or root'
	[ ! -e perf.data ]
}

# with_most RATE ARGUMENT…: record where kernel.perf_event_max_sample_rate reads as RATE
with_most() {
	echo "$1" >most
	shift
	# shellcheck disable=SC2016 # the other shell's
	expect 0 unshare -m sh -c 'mount --bind most /proc/sys/kernel/perf_event_max_sample_rate || exit 76
		exec "$@"' sh "$bobbin" record "$@"
}

it_takes_as_many_samples_as_the_kernel_allows() {
	needs_root
	needs unshare
	with_most 500 "$(program chain)" 100
	grep -q '^bobbin record: 500 samples per second instead of 999: .*max_sample_rate' err
	complete
	with_most 500 -F 400 "$(program chain)" 100
	none 'samples per second' <err
}

it_says_that_it_may_not_write_here() {
	needs_nobody
	chmod 755 .
	expect 1 $as_nobody "$work/bin/bobbin" record true
	complains perf.data 'Permission denied'
}

it_says_that_it_may_not_read_a_recording() {
	needs_nobody
	record "$(program chain)" 10
	chmod 600 perf.data
	expect 1 $as_nobody "$work/bin/bobbin" report
	complains perf.data 'Permission denied'
}

# works NAME, lacks NAME: what the doctor in ./out says of a feature
works() {
	grep -qx "yes  $1" out || fail "no '$1': $(cat out)"
}

lacks() {
	grep -q "^no   $1: " out || fail "not without '$1': $(cat out)"
}

it_knows_what_recordings_of_root_use() {
	needs_root
	quietly "$bobbin" doctor
	works 'own processes'
	works 'kernel part'
	works 'large buffers'
	works 'names in the kernel'
	event=cpu-clock
	! grep -q '^yes  hardware counters' out || event=cycles
	record "$(program chain)" 100
	"$bobbin" script -F event | mostly 100 "$event: \$"
}

it_knows_what_nobody_lacks() {
	needs_nobody
	paranoid_level 2
	quietly $as_nobody "$work/bin/bobbin" doctor
	works 'own processes'
	lacks 'kernel part'
	grep -q 'kernel.perf_event_paranoid=1' out
	lacks 'large buffers'
	grep -q 'less of each stack is copied' out
	lacks 'walks in the kernel'
}

it_knows_that_nothing_can_be_recorded() {
	library=$(program_as denied.so denied -shared -fPIC)
	export ASAN_OPTIONS="verify_asan_link_order=0:$ASAN_OPTIONS"
	expect 1 env LD_PRELOAD="$library" "$bobbin" doctor
	lacks 'own processes'
	grep -q 'nothing can be recorded' out
}

it_knows_the_settings_of_the_kernel() {
	needs_root
	needs unshare
	mkdir -p settings/yama
	echo 500 >settings/perf_event_max_sample_rate
	echo 3 >settings/yama/ptrace_scope
	expect 0 unshare -m sh -c 'mount --bind settings /proc/sys/kernel && exec "$0" doctor' "$bobbin"
	lacks '999 Hz'
	lacks attaching
	echo 1 >settings/yama/ptrace_scope
	expect 0 unshare -m sh -c 'mount --bind settings /proc/sys/kernel && exec "$0" doctor' "$bobbin"
	works attaching
}

it_says_why_there_are_no_walks_in_the_kernel() {
	needs_root
	needs unshare
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF anyhow"
	! "$bobbin" record --bpf -o /dev/null true 2>&1 | grep 'built without BPF' || skip "this bobbin has no BPF"
	others=1
	# a kernel without BTF
	expect 0 unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$0" doctor' "$bobbin"
	[ "$(grep -c '^no   walks .*: the kernel has no BTF, see CONFIG_DEBUG_INFO_BTF$' out)" -eq 2 ]
	expect 1 unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$0" record --bpf true' "$bobbin"
	complains '--bpf: the kernel has no BTF'
	expect 0 unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$0" record -a true' "$bobbin"
	grep -q 'stacks are copied, and walked here: --bpf: the kernel has no BTF' err
	# a container
	expect 0 unshare --pid --fork "$bobbin" doctor
	[ "$(grep -c '^no   walks .*: does not work inside a process-ID namespace (container)$' out)" -eq 2 ]
}

# As one alone, each
it_records_beside_another_recorder() {
	needs_root
	others=1
	"$bobbin" record -q --bpf -o /dev/null true 2>err || skip "$(tail -n 1 err)"
	spawn "$bobbin" record --bpf -a -o other.data 2>said
	other=$pid
	eventually samples "$other"
	record --bpf "$(program chain)" 1000
	stacks | mostly 95 'spin c b a main'
	grep -q ' stacks were walked in the kernel$' err
	expect 0 "$bobbin" doctor
	works 'walks in the kernel'
	kill -INT "$other"
	wait "$other" || fail "exit status $? of the other"
	stacks -i other.data | grep '^chain:' | mostly 95 'spin c b a main'
}

it_prints_what_it_knows_as_json() {
	needs python3
	quietly "$bobbin" doctor
	mv out text
	quietly "$bobbin" doctor --json
	python3 -c '
import json
for feature in json.load(open("out"))["features"]:
    print("yes " if feature["works"] else "no  ", feature["name"])
    assert feature["works"] or feature["takes"] and feature["without"]' >told
	sed -n 's/^\(yes \|no  \) \([^:]*\).*/\1 \2/p' text | diff - told
}

run_cases
