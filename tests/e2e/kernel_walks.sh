# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=sh
#
# kernel_walks.sh - compare walks in the kernel with those of user space, after lib.sh.

"$bobbin" record -q --bpf -o /dev/null true 2>"$work/bpf" ||
	if grep -e 'does not allow it' -e 'without BPF' -e 'namespace' "$work/bpf" >"$work/reason"; then
		echo "1..0 # skip $(cat "$work/reason")"
		exit 77
	fi

exec 3>&1

# count WORDS: the number before them in ./err
count() {
	sed -n "s/^ *\([0-9]*\) $1.*/\1/p" err
}

# compare_walks ARGUMENT…: walks in the kernel are those of user space; sets all, whole, and
# compared_all, unless so many records were lost that little was compared
compare_walks() {
	record --bpf --also-copy -F 2000 "$@"
	all=$(sed -n 's/^bobbin record: \([0-9]*\) samples.*/\1/p' err)
	whole=$(count 'stacks were walked in the kernel')
	compared=$(count 'were compared with user space')
	[ "$all" -ge 400 ] || fail "few samples: $(cat err)"
	echo "# $* : $whole of $all samples were walked in the kernel" >&3
	# copies beside the walks need room, and a busy machine leaves little time to read them
	lost=$(sed -n 's/.*, \([0-9]*\) records lost.*/\1/p' err)
	# and a copy ends at a page that is not in memory, which the walk may have waited for
	holes=$(count 'ended early: the copy of the stack ends at a page that is not in memory')
	grep -q ': 0 differ$' err || fail "the walks differ: $(cat err)"
	compared_all=yes
	# where some are lost, the walks that wait for theirs are not compared either
	[ $((100 * (compared + lost + lost / 10 + ${holes:-0}))) -ge $((99 * whole)) ] && [ "$lost" -le "$all" ] || compared_all=
}

# walks LEAST ARGUMENT…: so many per cent of the samples of a recording are walked in the kernel,
# and none of them differs from user space's walk of the same stack.  Tables of large files are
# made while the program runs, for which a busy machine may take all of its time: then once more
walks() {
	least=$1
	shift
	for _ in 1 2 3; do
		compare_walks "$@"
		[ -z "$compared_all" ] || [ $((100 * whole)) -lt $((least * all)) ] || return 0
	done
	fail "few walks in the kernel, or few were compared: $(cat err)"
}

# cuts_few: hardly a stack ends before its root
cuts_few() {
	reasons | grep -v -x NO_USER | mostly 99 '^OUTERMOST$'
}

# ids PID KIND: of what a process has of BPF
ids() {
	cat "/proc/$1/fdinfo/"* | sed -n "s/^$2_id:[[:space:]]*//p" | sort -u
}

# attached PID: it has a program, and events to run it
attached() {
	ids "$1" prog | grep . && samples "$1"
}

gone_are() {
	for id in $(cat programs); do
		! bpftool prog show id "$id" || return 1
	done
	for id in $(cat maps); do
		! bpftool map show id "$id" || return 1
	done
}
