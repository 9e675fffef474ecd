#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Hits of tracepoints and probes, walked in the kernel: all of them, nobody else's, and as user space does.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/kernel_walks.sh"

# events: samples by their event, "COUNT NAME"
events() {
	"$bobbin" script -F event | awk 'NF { sub(/:$/, "", $NF); n[$NF]++ } END { for (e in n) print n[e], e }'
}

# counted EVENT COUNT: so many samples; a machine that does much else may have had no time to read all of them
counted() {
	lost=$(sed -n 's/.*, \([0-9]*\) records lost.*/\1/p' err)
	found=$(events | sed -n "s|^\([0-9]*\) $1\$|\1|p")
	[ "${found:-0}" -le "$2" ] || fail "more than $2: $(events) $(cat err)"
	[ $((${found:-0} + lost)) -ge "$2" ] || fail "not $2: $(events) $(cat err)"
}

# hits EVENT COUNT LEAST ARGUMENT…: so many samples, LEAST of which are walked in the kernel
hits() {
	event=$1 number=$2 least=$3
	shift 3
	record --bpf --also-copy --stack-size 1024 -e "$event" "$(program calls)" "$@"
	[ "$(events | wc -l)" -eq 1 ] || fail "others: $(events)"
	counted "$event" "$number"
	grep -q ': 0 differ$' err || fail "the walks differ: $(cat err)"
	walked=$(count 'stacks were walked in the kernel')
	[ "$walked" -ge "$least" ] || fail "few walks: $(cat err)"
	[ $(($(count 'were compared with user space') + lost)) -ge "$walked" ] ||
		fail "not all were compared: $(cat err)"
}

it_walks_each_hit_of_a_tracepoint() {
	record --bpf --stack-size 1024 -e syscalls:sys_enter_close "$(program calls)" 0
	start=$(events | cut -d ' ' -f 1)
	hits syscalls:sys_enter_close $((200000 + start)) 100 100000 fork
	hits syscalls:sys_enter_close $((200000 + start)) 100 100000 thread
	stacks | some ' visit visit_all main ' 1000
}

it_walks_each_call_of_a_function() {
	calls=$(program calls)
	hits "uprobe:$calls:visit" 100000 100 100000
	hits "uprobe:$calls:visit" 200000 100 100000 fork
	hits "uprobe:$calls:visit" 200000 100 100000 thread
	stacks | mostly 99 ' visit visit_all '
	reasons | mostly 99 '^OUTERMOST$'
	hits "uretprobe:$calls:visit" 100000 100 100000
}

it_samples_nobody_else() {
	calls=$(program calls)
	spawn "$calls" 2000000000
	other=$pid
	spawn "$calls" 2000000000
	record_while_it_works "$pid" --bpf -c 1000 -e "uprobe:$calls:visit,syscalls:sys_enter_close"
	"$bobbin" script -F pid,period | awk 'NF { print $1, $2 }' | mostly 100 "^$target 1000$"
	events | some "uprobe:$calls:visit$" 1
	events | some 'syscalls:sys_enter_close$' 1
	# nor on other CPUs, nor of other users
	others=1
	expect 0 "$bobbin" record --bpf -C 0 -c 1000 -e "uprobe:$calls:visit" sleep 1
	"$bobbin" script -F cpu | grep . | sort -u >cpus
	[ "$(wc -l <cpus)" -le 1 ] || fail "$(cat cpus)"
	expect 0 "$bobbin" record --bpf --user 65534 -c 1000 -e "uprobe:$calls:visit" sleep 0.2
	[ -z "$(events)" ]
	kill "$other"
}

it_leaves_the_samples_of_others_alone() {
	needs perf
	calls=$(program calls)
	spawn "$calls" 2000000000
	spawn "$bobbin" record -q --bpf -c 1000 -e syscalls:sys_enter_close -p "$pid" -o other.data
	eventually attached "$pid"
	number=$(perf stat -x , -e syscalls:sys_enter_close "$calls" 500 2>&1 >/dev/null | cut -d , -f 1)
	[ "$number" -ge 500 ] || fail "only $number of 500 hits"
	rm -f other.data
}

it_records_counters_beside() {
	calls=$(program calls)
	record --bpf --stack-size 1024 -e "syscalls:sys_enter_close,cpu-clock,uprobe:$calls:visit" "$calls" 200000
	counted "uprobe:$calls:visit" 200000
	events | some ' syscalls:sys_enter_close$' 1
	events | some ' cpu-clock$' 1
	[ "$(count 'stacks were walked in the kernel')" -ge 10 ] || fail "few walks: $(cat err)"
	"$bobbin" script -F event,period | grep ' uprobe:' | mostly 100 '^ *1 '
}

run_cases
