# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=sh
#
# lib.sh - what the end-to-end tests have in common.
#
# A test is a script that is called with the path of the command, sources this
# file, defines cases and ends with `run_cases`.  A case is a function whose
# name is a sentence that begins with it_.  Each one runs in a shell and in an
# empty folder of its own, under `set -e`: it passes if all of its commands do.
# What is printed is TAP, with the trace of the cases that failed; the exit
# status is 77 if all cases were skipped.

bobbin=$(realpath "$1")
sources=$(realpath "$(dirname "$0")")
toolchain=$sources/../../build/toolchain/2.47/bin
work=$(mktemp -d "${TMPDIR:-/tmp}/bobbin-e2e.XXXXXX") || exit 1
trap 'cd / && rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$work"
mkdir "$work/bin"

# Not one that the command uses itself; recordings must not depend on servers.
export ASAN_OPTIONS="exitcode=99:$ASAN_OPTIONS" UBSAN_OPTIONS="exitcode=99:$UBSAN_OPTIONS"
export LC_ALL=C TZ=UTC
# what is kept on this machine is none of our business, nor is it for us to add to
export BOBBIN_TABLE_CACHE=
unset DEBUGINFOD_URLS

fail() {
	echo "FAILED: $*"
	exit 1
}

skip() {
	echo "$*" >"$work/reason"
	exit 77
}

needs() {
	for need in "$@"; do
		command -v "$need" >/dev/null || skip "no $need"
	done
}

needs_root() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
}

# program NAME [FLAG…]: NAME.c of this folder, as $work/bin/NAME, whose path is printed
program() {
	program_as "$1" "$@"
}

# program_as FILE NAME [FLAG…]: the same, as $work/bin/FILE
program_as() {
	file=$work/bin/$1 source=$sources/$2.c
	shift 2
	[ -e "$file" ] ||
		gcc -O2 -fomit-frame-pointer -o "$file" "$source" -pthread "$@" >&2
	echo "$file"
}

# with_library NAME [FLAG…]: NAME.c of this folder, for x86-64, with the library that was built
with_library() {
	[ "$(uname -m)" = x86_64 ] || skip "the program's code is x86-64's"
	folder=$(dirname "$bobbin")/..
	sanitizers=
	! nm -D "$folder/libbobbin.so" | grep -q __asan_init || sanitizers=-fsanitize=address,undefined
	# shellcheck disable=SC2086 # one flag or none
	program "$@" -I "$sources/../../include" -I "$sources/../../include/uapi" \
		-L "$folder" -Wl,-rpath,"$folder" -lbobbin $sanitizers
}

# expect STATUS COMMAND…: run it; its output is in ./out and ./err
expect() {
	wanted=$1
	shift
	status=0
	"$@" >out 2>err || status=$?
	[ $status -eq "$wanted" ] || fail "exit status $status, not $wanted, of $*: $(cat err)"
}

# complains WORD…: stderr was one line, from the command, with all of the words
complains() {
	[ "$(wc -l <err)" -eq 1 ] || fail "not one line on stderr: $(cat err)"
	grep -q '^bobbin[a-z ]*: ' err || fail "who says that? $(cat err)"
	for word in "$@"; do
		grep -q -e "$word" err || fail "no '$word' in: $(cat err)"
	done
}

# asks EXPRESSION: true for the JSON about files in ./out
asks() {
	python3 - "$1" <<-'END' || fail "not true: $1: $(head -c 2000 out)"
		import json, sys
		told = json.load(open("out"))
		files, total = told["files"], told.get("total")
		sys.exit(not eval(f"({sys.argv[1]})"))
	END
}

# quietly COMMAND…: it succeeds and has nothing to say, but what a machine that is busy lost while recording
quietly() {
	expect 0 "$@"
	! grep -v '^bobbin: .*: [0-9]* records were lost while recording$' err >"$work/complaints" ||
		fail "said on stderr, by $*: $(cat "$work/complaints")"
}

# record ARGUMENT…: it succeeds; what it said is in ./err
record() {
	expect 0 "$bobbin" record "$@"
	[ -s err ] || fail "record said nothing"
}

# stacks [OPTION…]: perf.data, a line a sample: "COMM: leaf caller … main … "
stacks() {
	"$bobbin" script -f -F comm,tid,ip,sym --no-inline "$@" | awk -f "$sources/stacks.awk"
}

# reasons [OPTION…]: perf.data, a line a sample: why the user part of its chain ended
reasons() {
	"$bobbin" script -f -F tid,reason "$@" | awk '{ print $2 }'
}

# frames [OPTION…]: perf.data, a line a user frame: "FUNCTION (DSO) [SOURCE]"
frames() {
	"$bobbin" script -f -F ip,sym,dso,source --no-inline "$@" | awk -f "$sources/frames.awk"
}

# with_tables: lines of frames, but for functions of the compiler's start files, which have none
with_tables() {
	grep -v -e '^__do_global_dtors_aux' -e '^\(de\)\{0,1\}register_tm_clones' -e '^frame_dummy'
}

# mostly PERCENT PATTERN: at least so many of the lines of stdin have it; there are some
mostly() {
	cat >lines
	all=$(wc -l <lines)
	good=$(grep -c -e "$2" lines) || :
	[ "$all" -gt 0 ] || fail "nothing to look for '$2' in"
	[ $((100 * good)) -ge $(($1 * all)) ] || {
		grep -v -e "$2" lines | sort | uniq -c | sort -rn | head -n 20
		fail "'$2' in $good of $all lines, not in $1 %"
	}
}

# some PATTERN [LEAST]: at least so many (10) of the lines of stdin have it
some() {
	cat >lines
	[ "$(grep -c -e "$1" lines)" -ge "${2:-10}" ] || {
		sort lines | uniq -c | sort -rn | head -n 20
		fail "'$1' in $(grep -c -e "$1" lines) of $(wc -l <lines) lines"
	}
}

# none [OPTION…] PATTERN: grep finds no line of stdin
none() {
	cat >lines
	found=0
	grep "$@" lines >unexpected || found=$?
	[ $found -eq 1 ] || fail "'$*' was not expected: $(head -n 20 unexpected)"
}

# chain_lengths [OPTION…]: perf.data, a line a sample: its number of frames
chain_lengths() {
	"$bobbin" script -f -F tid,ip --no-inline "$@" | awk '/^\t/ { n++ } !NF { print n; n = 0 }'
}

# complete: at least 99 % of the user stacks of perf.data are; execve() has no stack to walk,
# and may take a while
complete() {
	reasons | grep -v -x NO_USER | sed 's/^NEW_SPACE$//' >walked
	mostly 90 . <walked
	grep . walked | mostly 99 '^OUTERMOST$'
}

# forget_map [PID]: remove the perf map of a process, or of the first one in perf.data
forget_map() {
	rm -f "/tmp/perf-${1:-$("$bobbin" script -f -q -F pid | awk 'NF { print $1; exit }')}.map"
}

perf_record() {
	"$sources/../tools/perf-record" "$@"
}

# eventually COMMAND…: it succeeds within a minute
eventually() {
	for _ in $(seq 1200); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.05
	done
	fail "never: $*"
}

# top_shows PATTERN: a table of the process $target has a line with it
top_shows() {
	quietly "$bobbin" top -b -n 1 -d 1 -p "$target"
	grep -q -e "$1" out
}

# child_of PID: of its only thread, if there is one
child_of() {
	for child in $(cat "/proc/$1/task/$1/children"); do
		grep -q -x -e bobbin-reader -e bobbin-names "/proc/$child/comm" || echo "$child"
	done | grep .
}

# cpu_used PID: hundredths of a second of CPU time
cpu_used() {
	sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'
}

# has_worked PID HUNDREDTHS: it has used that much CPU time
has_worked() {
	[ "$(cpu_used "$1")" -ge "$2" ]
}

# works_on PID: wait until it has used another half a second of CPU time, however long that takes
works_on() {
	eventually has_worked "$1" $(($(cpu_used "$1") + 50))
}

# samples PID: the recorder has opened its events
samples() {
	find "/proc/$1/fd" -lname '*perf_event*' | grep .
}

# is_sampled PID: by a command that has the number as an argument
is_sampled() {
	for line in $(grep -l -a -z -x -e "$1" /proc/[0-9]*/cmdline); do
		! samples "$(basename "$(dirname "$line")")" || return 0
	done 2>/dev/null
	return 1
}

# end_once_sampled PID: after a second of its time
end_once_sampled() {
	eventually is_sampled "$1"
	works_on "$1"
	works_on "$1"
	kill "$1"
}

# record_while_it_works PID [OPTION…]: attached to it, to perf.data, for half a second of its time
record_while_it_works() {
	target=$1
	shift
	spawn "$bobbin" record "$@" -p "$target"
	eventually samples "$pid"
	works_on "$target"
	kill -INT "$pid"
	wait "$pid" || fail "exit status $? of the recorder"
}

# gone PID: it has ended, or is a zombie
gone() {
	! grep -q '^State:[[:space:]][^Z]' "/proc/$1/status" 2>/dev/null
}

# spawn COMMAND…: in the background, with a process group of its own, until the case ends; $pid
spawn() {
	setsid "$@" &
	pid=$!
	spawned="$spawned $pid"
}

# started PROGRAM [ARGUMENT]…: it runs, and has made ./ready
started() {
	rm -f ready
	spawn "$@"
	until [ -e ready ]; do
		kill -0 "$pid" 2>/dev/null || {
			status=0
			wait "$pid" || status=$?
			[ $status -ne 77 ] || skip "userfaultfd or FUSE is not allowed here"
			fail "$1 has ended: $status"
		}
		sleep 0.05
	done
}

end_spawned() {
	set +ex
	for p in $spawned; do
		kill -KILL "-$p"
	done 2>/dev/null
}

# entries FILE: of the file here, and in the roots of others, whose processes recordings may have, too
entries() {
	for each in "$1" /proc/[0-9]*/root"$1"; do
		readelf -hW "$each" 2>/dev/null | sed -n 's/.*Entry point.*: *//p'
	done
}

# is_root FUNCTION FILE: it has no caller, by its name or by the entry of the file
is_root() {
	case $1 in
	_start | _dlstart | _dl_start_user | clone | clone3 | __clone | __clone3 | __start_context) ;;
	runtime.goexit* | runtime.mstart* | runtime.rt0_go* | runtime._rt0_* | _rt0_*) ;;
	# once it is on the scheduler's stack
	runtime.mcall | runtime.mcall.abi*) ;;
	"${2##*/}"+0x*)
		entries "$2" | grep -q -x -e "${1##*+}"
		;;
	*) false ;;
	esac
}

# audit_roots FOLDER: each trace in recordings there that is called complete ends at a root.
# A case for which names cannot tell says which are, too, in $roots_also.  One that records what
# others run sets $others: only traces through its own files are looked at.  Files of other
# processes may have been built anew since, or be those of another root.
audit_roots() {
	find "$1" -type f -size +4k | while read -r file; do
		[ "$(head -c 8 "$file" | tr -d '\0')" = PERFILE2 ] || continue
		"$bobbin" script -f -i "$file" -F ip,sym,dso,reason --no-inline 2>"$work/said" |
			awk -v within="${others:+$work/}" -f "$sources/last_frames.awk" | sort -u >"$work/last"
		# what a root is mapped from may have been told in a record that was lost
		! grep -q 'records were lost' "$work/said" || sed -i '/^\[unknown\] /d' "$work/last"
		cat "$work/last"
	done >"$work/roots"
	while read -r function file; do
		# a program with another root has files that are not here
		[ -e "$file" ] || [ "${file#/}" = "$file" ] || continue
		is_root "$function" "$file" || echo "$function" | grep -q -x -e "$roots_also" ||
			fail "complete, but $function of $file has callers"
	done <"$work/roots"
}

in_shell_of_its_own() {
	spawned= roots_also= others=
	trap end_spawned EXIT
	# a shell that a signal ends runs no other trap
	trap 'exit 1' HUP INT TERM
	mkdir "$work/$1"
	cd "$work/$1" || exit 1
	set -ex
	"$1"
	set +x
	audit_roots "$work/$1"
}

run_cases() {
	passed=0 skipped=0 number=0
	cases=$(sed -n 's/^\(it_[a-z0-9_]*\)() [{(]$/\1/p' "$0")
	echo "1..$(echo "$cases" | wc -l)"
	for name in $cases; do
		number=$((number + 1))
		(in_shell_of_its_own "$name") >"$work/log" 2>&1 </dev/null
		case $? in
		0) passed=$((passed + 1)) && echo "ok $number - $name" ;;
		77)
			skipped=$((skipped + 1)) reason=$(cat "$work/reason")
			echo "ok $number - $name # SKIP $reason"
			;;
		*) echo "not ok $number - $name" && tail -n 16 "$work/log" | sed 's/^/# /' ;;
		esac
	done
	[ $((passed + skipped)) -eq $number ] || exit 1
	[ $passed -gt 0 ] || {
		echo "$reason"
		exit 77
	}
	exit 0
}
