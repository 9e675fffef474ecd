#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Does perf say the same of a recording as perf_reader does, and of a copy by
# perf_writer as of the original?
#   perf_agreement.sh PERF_DUMP PERF_COPY PERF_LOAD PERF_TORTURE
perf_record=$(realpath "$(dirname "$0")/../tools/perf-record")
dump=$(realpath "$1") copy=$(realpath "$2") load=$(realpath "$3") torture=$(realpath "$4")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

skip() {
	echo "skipped: $1"
	exit 77
}

fail() {
	echo "FAILED: $1"
	exit 1
}

# record NAME OPTION…: a recording of the load
record() {
	name=$1
	shift
	"$perf_record" -q -e cpu-clock -F 999 --sample-cpu "$@" -o "$name" -- "$load" 300 2>log
}

# Newer versions of perf give offsets in files only with their names, before that those are the addresses.
with_offsets=
! perf script -h 2>&1 | grep -q ',dsoff' || with_offsets=,dso,dsoff

# perf pads its columns, and marks an event name's end with a colon and blanks.
script() {
	perf script --ns --no-inline -F pid,tid,cpu,time,event,ip$with_offsets "$@" 2>/dev/null |
		sed 's/^[ \t]*//; s/[ \t]*$//; s/[ \t][ \t]*/ /g
			s/^[0-9a-f]* (.*+0x\([0-9a-f]*\))$/\1/; s/ (.*)$//'
}

# agree NAME: the two descriptions of it are the same, and not empty
agree() {
	[ "$(grep -c : ours)" -gt "${2:-50}" ] || fail "$1: only $(grep -c : ours) samples"
	cmp -s ours theirs && echo "ok: $1: $(grep -c : ours) samples" && return
	diff ours theirs | head -20
	fail "$1: perf_dump (<) and perf (>) differ"
}

command -v perf >/dev/null || skip "no perf"
"$perf_record" -q -e cpu-clock -o try -- true 2>log || skip "perf cannot record here: $(head -1 log)"
record plain || fail "record plain"

"$dump" plain >ours && script -i plain >theirs
agree plain
record fp --call-graph fp || fail "record fp"
"$dump" -g fp >ours && script -i fp >theirs
agree "frame pointers"
record dwarf --call-graph dwarf,8192 || fail "record dwarf"
"$dump" dwarf >ours && script -G -i dwarf >theirs
agree dwarf
[ "$("$dump" -s dwarf | grep -c ' 8192 1$')" -gt 50 ] || fail "dwarf: no stack copies"
record z -z --call-graph dwarf,8192 || fail "record z"
perf report --header-only -i z 2>/dev/null | grep -q '# compressed' || fail "z: not compressed"
"$dump" z >ours && script -G -i z >theirs
agree compressed
record two -e task-clock --call-graph fp || fail "record two"
"$dump" -g two >ours && script -i two >theirs
agree "two events" 100
"$perf_record" -q -a -e cpu-clock -F 999 -o wide -- "$load" 300 2>log || fail "record wide"
"$dump" wide >ours && script -i wide >theirs
agree "all CPUs"
"$perf_record" -q -e cpu-clock -F 999 --sample-cpu -o - -- "$load" 300 2>log >pipe || fail "record pipe"
"$dump" pipe >ours && script -i - <pipe >theirs
agree pipe

# With the data section still open. perf itself reads nothing of it before its
# size is filled in and the features, never written, are denied.
perf record --buildid-mmap -q -e cpu-clock -F 999 --sample-cpu --call-graph dwarf,8192 -o killed \
	-- "$load" 20000 2>log &
for _ in $(seq 200); do
	[ "$(stat -c %s killed 2>/dev/null || echo 0)" -lt 4000000 ] || break
	sleep 0.1
done
orphan=$(cat "/proc/$!/task/$!/children")
kill -9 $! $orphan
wait $! 2>/dev/null
"$dump" -c killed | grep -q truncated || fail "killed: not truncated"
"$dump" killed | sed 's/(null):/cpu-clock:/' >ours
size=$(($(stat -c %s killed) - $(od -An -t u8 -j 40 -N 8 killed)))
cp killed mended
for i in 0 8 16 24 32 40; do
	printf "\\$(printf %o $((size >> i & 255)))"
done | dd of=mended bs=1 seek=48 conv=notrunc status=none
dd if=/dev/zero of=mended bs=1 seek=72 count=32 conv=notrunc status=none
"$dump" -c mended | grep -q truncated && fail "mended: still truncated"
script -G -i mended >named
sed 's/cpu-clock:[a-zA-Z]*:*/cpu-clock:/' named >theirs
agree killed

for time in 1 2; do
	"$copy" fp copy || fail "copy $time"
done
script -i fp >ours && script -i copy >theirs
agree copy
"$dump" -g copy >ours
agree "copy read again"
perf report --stdio -i copy >report 2>log || fail "perf report of the copy: $(cat log)"
grep -q work report || fail "perf report does not know the function: $(cat log)"
perf report --header-only -i copy >header 2>log || fail "perf report --header-only"
for line in "hostname : $(uname -n)" 'perf version : 1.2.3' "nrcpus online : $(nproc --all)" \
	'cmdline : copied by the test' 'name = cpu-clock' 'time of first sample'; do
	grep -q "$line" header || fail "header lacks: $line"
done
[ -s copy.old ] || fail "the first copy was not kept"

"$perf_record" -q -z -e cpu-clock -F 199 --call-graph dwarf,1024 -o tiny -- "$load" 100 2>log ||
	fail "record tiny"
"$perf_record" -q -e cpu-clock -F 199 --call-graph dwarf,1024 -o small -- "$load" 100 2>log ||
	fail "record small"
"$perf_record" -q -e cpu-clock -F 199 -o - -- "$load" 100 2>log >piped || fail "record piped"
for name in tiny small piped copy; do
	"$torture" "$name" || fail "damaged $name"
	echo "ok: damaged $name: $(stat -c %s "$name") bytes"
done
