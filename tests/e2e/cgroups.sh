#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Which cgroups samples are of: in recordings, ours and perf's, and as what is asked for.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cgroup_folders.sh"
. "$(dirname "$0")/otlp.sh"

# cgroups [OPTION…]: of perf.data, a line a sample: "COMM PATH"
cgroups() {
	"$bobbin" script -q -F comm,cgroup "$@" | awk 'NF { print $1, $NF }'
}

# two_groups NAME: programs "one" in $group/a and "two" in $group/b/below, whose numbers are in $both
two_groups() {
	cgroup_mount "$1"
	mkdir -p "$mount/$group/a" "$mount/$group/b/below"
	spawn_in "$group/a" "$(program_as one chain)" 60000
	both=$pid
	spawn_in "$group/b/below" "$(program_as two chain)" 60000
	both=$both,$pid
	works_on "${both%,*}"
	works_on "$pid"
}

# has_both: each sample of perf.data has the cgroup of its process
has_both() {
	cgroups >each
	some '^one ' 20 <each
	some '^two ' 20 <each
	none -v -x -e "one /$group/a" -e "two /$group/b/below" <each
}

it_has_the_cgroup_of_each_sample() {
	two_groups each
	record -p "$both" sleep 1
	has_both
	record --no-bpf -p "$both" sleep 1
	has_both
	"$bobbin" record -q -o - -p "$both" sleep 1 >perf.data
	has_both
}

it_has_the_cgroups_of_waits() {
	needs_root
	cgroup_mount waits
	spawn_in "$group" "$(program waits -D_GNU_SOURCE)" again
	eventually grep -q -x waits "/proc/$pid/comm"
	expect 0 "$bobbin" record --off-cpu -p "$pid" sleep 1
	cgroups --event offcpu-time >each
	some . 1 <each
	none -v -x -e "waits /$group" <each
}

# What is short was where its parent is, and what calls exec may have moved before
it_knows_those_of_processes_that_have_ended() {
	cgroup_mount short
	# shellcheck disable=SC2016 # the shell that is started expands it
	record -e cpu-clock -F 5000 sh -c "$enter" sh "$mount/$group" \
		sh -c 'for i in $(seq 200); do "$@" 1; done' sh "$(program chain)"
	cgroups --comm chain >each
	some . 20 <each
	mostly 99 " /$group\$" <each
	# a process has samples while it ends, too
	cgroups | mostly 99 " /"
}

# What is moved is asked again within a second
it_follows_a_process_that_is_moved() {
	cgroup_mount from
	from=$group
	mkdir "$mount/$group/to"
	spawn_in "$from" "$(program chain)" 60000
	chain=$pid
	works_on "$chain"
	spawn "$bobbin" record -p "$chain"
	eventually samples "$pid"
	works_on "$chain"
	echo "$chain" >"$mount/$from/to/cgroup.procs"
	for _ in 1 2 3 4; do
		works_on "$chain"
	done
	kill -INT "$pid"
	wait "$pid" || fail "exit status $? of the recorder"
	cgroups | uniq >turns
	printf 'chain /%s\n' "$from" "$from/to" | cmp - turns || fail "$(cat turns)"
}

it_is_read_by_perf() {
	needs perf
	two_groups perf
	record -p "$both" sleep 1
	"$bobbin" script -q -F cgroup | awk 'NF { print $NF }' | sort | uniq -c | awk '{ print $2, $1 }' >ours
	perf report --stdio --no-children -g none --sort cgroup -n >report 2>perf.log || fail "$(cat perf.log)"
	awk '$1 ~ /%$/ { print $3, $2 }' report | sort >theirs
	cmp ours theirs || fail "$(cat ours report)"
	quietly "$bobbin" report --no-children -g none --sort cgroup --percent-limit 0
	awk '$1 ~ /%$/ { print $2, $1 }' out | sort >ours
	awk '$1 ~ /%$/ { print $3, $1 }' report | sort >theirs
	cmp ours theirs || fail "$(cat ours report)"
	perf report -D 2>perf.log | grep -o 'PERF_RECORD_CGROUP cgroup: .*' | awk '{ print $3, $4 }' | sort >told
	for folder in a b/below; do
		echo "$(stat -c %i "$mount/$group/$folder") /$group/$folder"
	done | sort | cmp - told || fail "$(cat told)"
}

it_reads_those_of_perf() {
	needs perf
	two_groups theirs
	perf_record -q -e cpu-clock -g --all-cgroups -p "$both" sleep 1 2>err ||
		skip "perf cannot record cgroups here: $(head -n 1 err)"
	has_both
}

it_takes_the_samples_of_cgroups() {
	two_groups filter
	record -e cpu-clock -F 2500 -p "$both" sleep 1
	one=$("$bobbin" script -q -F tid --comm one | grep -c .)
	two=$("$bobbin" script -q -F tid --comm two | grep -c .)
	for want in "$one /$group/a" "$one a" "$one $group/a" "$two /$group/b" "$two below" "$two $group/*/below" \
		"$((one + two)) /$group" "$((one + two)) a,b" "$((one + two)) bobbin-test-*"; do
		samples=${want%% *} list=${want#* }
		quietly "$bobbin" script -F tid --cgroup "$list"
		[ "$(grep -c . out)" -eq "$samples" ] || fail "$(grep -c . out) samples in script, not $want"
		quietly "$bobbin" report --full --cgroup "$list"
		grep -q "^# Samples: $samples of event" out || fail "report, not $want: $(head -n 3 out)"
		quietly "$bobbin" export --format callgrind --cgroup "$list"
		[ "$(awk '/^totals:/ { print $2 / 400000 }' out)" = "$samples" ] || fail "export, not $want"
		quietly "$bobbin" flamegraph --folded --cgroup "$list"
		[ "$(awk '{ n += $NF } END { print n }' out)" -ge "$samples" ]
	done
	expect 0 "$bobbin" diff --cgroup a perf.data perf.data
	expect 1 "$bobbin" report --cgroup no-such-group
	complains 'no samples are what the options ask for'
	expect 2 "$bobbin" report --cgroup a,,b
	complains "--cgroup: 'a,,b' is not a list of cgroups"
}

# has_service PROGRAM SERVICE CONTAINER POD: with the program's samples
has_service() {
	has_facts "service $2 $3 $4 $(cgroups --comm "$1" | grep -c .)"
}

it_tells_services_and_containers_apart() {
	cgroup_mount services
	container=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
	pod=2f9a7c15-3c1d-4a0e-9d52-7f1f8b6f0c11
	within=kubepods-pod$(echo $pod | tr - _).slice/cri-containerd-$container.scope
	mkdir -p "$mount/$group/$within" "$mount/$group/web.service/worker"
	spawn_in "$group/$within" "$(program_as one chain)" 60000
	both=$pid
	spawn_in "$group/web.service/worker" "$(program_as two chain)" 60000
	works_on "$pid"
	record -e cpu-clock -F 2500 -p "$both,$pid" sleep 1
	quietly "$bobbin" export -o both.otlp
	facts both.otlp
	has_service one one $container $pod
	has_service two web.service none none
	[ "$(grep -c '^service' facts)" -eq 2 ]
}

it_says_where_no_cgroup_is_known() {
	expect 0 "$bobbin" script -f -i "$sources/recording-0.1.data" -F comm,cgroup
	grep . out | mostly 100 ' unknown$'
}

run_cases
