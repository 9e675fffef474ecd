#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The files of `bobbin record` are perf's, and those of perf are bobbin's.
. "$(dirname "$0")/lib.sh"

ours() {
	"$bobbin" script -q --no-inline -F comm,tid,time,ip,sym,dso | awk -f "$sources/same.awk"
}

theirs() {
	# perf takes the C function a() for the C++ type signed char
	perf script --no-demangle --no-inline -F comm,tid,time,ip,sym,symoff,dso "$@" 2>perf.log |
		awk -f "$sources/same.awk"
}

# What is left of a line of ours or theirs without the symbol, which may have other names, too
places() {
	awk '/^... / { print $1, $NF; next } { print }'
}

# Samples of ours or theirs in a line each, frames without addresses: perf moves callers by one, and
# perf 6.12 prefers the names that glibc itself calls functions by
names() {
	sed 's/^... //; s/+0x[0-9a-f]* / /; s/^__GI_//' |
		awk 'NF { line = line $0 "; "; next } { print line; line = "" }'
}

# The lines of the program's own functions, spelled out; perf takes its PLT for a part of _init
own() {
	grep "^... .* ($work/bin/$1)\$" | grep -v -e @plt -e ' _init+'
}

# same_stacks PROGRAM: perf and bobbin say the same of perf.data
same_stacks() {
	ours >ours
	theirs >theirs
	[ "$(grep -c : ours)" -ge 200 ] || fail "only $(grep -c : ours) samples"
	places <ours >our-places
	# perf learns too late where code of the kernel is that others load meanwhile
	places <theirs | paste our-places - | awk -F '\t' '
		$1 ~ / \(\[kernel\.kallsyms\]\)$/ && $2 ~ / \(\[unknown\]\)$/ { $2 = $1 } { print $2 }' >their-places
	cmp our-places their-places || fail "$(diff our-places their-places | head -n 20)"
	own "$1" <ours >our-own
	own "$1" <theirs >their-own
	[ "$(wc -l <our-own)" -ge 200 ] || fail "only $(wc -l <our-own) frames of $1"
	cmp our-own their-own || fail "$(diff our-own their-own | head -n 20)"
	# an address may have several names, but they begin at the same place
	sed 's/^\(...\) .*\(+0x[0-9a-f]*\) /\1 \2 /' ours >our-offsets
	sed 's/^\(...\) .*\(+0x[0-9a-f]*\) /\1 \2 /' theirs >their-offsets
	different=$(diff our-offsets their-offsets | grep -c '^<') || :
	[ $((20 * different)) -le "$(wc -l <ours)" ] ||
		fail "$different other symbols: $(diff our-offsets their-offsets | head -n 20)"
}

it_writes_what_perf_script_reads_alike() {
	needs perf
	record "$(program chain)" 500
	same_stacks chain
	record "$(program threads)" 200
	same_stacks threads
	# as deep as perf reads
	record "$(program deep)" 300 100
	theirs | awk '/ descend[+]/ { n++ } !NF { print n; n = 0 }' | mostly 95 '^101$'
	same_stacks deep
}

it_writes_processes_that_perf_script_sees_alike() {
	needs perf
	record "$(program family)" 200 "$(program chain)"
	same_stacks family
}

it_writes_libraries_that_perf_script_sees_alike() {
	needs perf
	plugin=$(program_as plugin.so plugin -shared -fPIC)
	record "$(program loader)" 300 "$plugin"
	same_stacks plugin.so
}

it_writes_what_perf_report_reads() {
	needs perf
	record "$(program chain)" 500
	perf report --no-demangle --stdio -i perf.data >theirs 2>perf.log
	for function in main a b c spin; do
		grep -Eq "^ +(9[0-9]|100)\.[0-9]+% .* chain +\[\.\] $function *\$" theirs ||
			fail "no line for $function: $(cat theirs)"
	done
	perf report --header-only -i perf.data >header 2>perf.log
	grep -q "^# hostname : $(uname -n)" header
	grep -q "^# cmdline : .*record .*chain 500" header
	perf evlist -i perf.data | grep -q '^c'
	perf buildid-list -i perf.data | grep -q "$work/bin/chain"
}

it_says_the_same_of_profiles_as_perf_report() {
	needs perf
	record "$(program family)" 300 "$(program chain)"
	perf report --stdio -i perf.data --no-children -g none --sort comm,dso,sym 2>perf.log |
		awk '/^ +[0-9.]+%/ && $1 + 0 >= 2 { print $1, $2, $3, $5 }' | sort >theirs
	"$bobbin" report --no-children -g none --sort comm,dso,sym |
		awk '/^ +[0-9.]+%/ && $1 + 0 >= 2 { print $1, $2, $3, $5 }' | sort >ours
	[ -s ours ]
	diff ours theirs
}

# rows: of a report, "SHARE ROW"; perf adds versions to some names
rows() {
	sed -n 's/@@[A-Za-z0-9_.]*//; s/^ *\([0-9.]*%\)/\1/p' | sed 's/  */ /g; s/ $//'
}

# same_rows KEYS: of perf.data, by perf report and by us, whose shares are the same but for roundings
same_rows() {
	for children in --children --no-children; do
		# perf's process is a thread
		perf report --no-inline --no-demangle --stdio -i perf.data $children -g none \
			--percent-limit 0 --sort "$(echo "$1" | sed 's/tid/pid/')" 2>perf.log | rows >theirs
		"$bobbin" report --no-inline --no-demangle $children -g none --percent-limit 0 --sort "$1" |
			rows >ours
		[ -s ours ]
		awk '
			function differs(a, b) { return a - b > 0.011 || b - a > 0.011 }
			{ share = $1 + 0; row = $0; sub(/[^ ]* /, "", row) }
			# the second number is what there is with children
			$2 ~ /%$/ { sub(/[^ ]* /, "", row); self = $2 + 0 }
			FNR == NR { shares[row] = share; selves[row] = self; next }
			!(row in shares) || differs(share, shares[row]) || differs(self, selves[row])
			{ delete shares[row] }
			END { for (row in shares) print "not there: " row }' theirs ours >differences
		[ ! -s differences ] || fail "$(cat differences), by $1 with $children"
	done
}

it_sorts_as_perf_report() {
	needs perf
	record -F 499 sh -c '"$1" 200 "$2"; "$3" 200' sh "$(program family)" "$(program chain)" "$(program threads)"
	for keys in comm dso cpu tid comm,tid cpu,comm,dso; do
		same_rows $keys
	done
}

# Also after its last sample
it_calls_threads_as_they_were_called_last() {
	needs perf
	# shellcheck disable=SC2016 # the shell that is started expands it
	record -F 4999 sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; exec sleep 0.01'
	same_rows tid
	"$bobbin" report --no-children -g none --sort tid >out
	grep -q ':sleep$' out
}

it_sorts_real_programs_as_perf_report() {
	needs perf python3
	# not a script that starts it: perf cuts longer names of commands
	python=$(python3 -c 'import sys; print(sys.executable)')
	record -F 499 sh -c 'gcc -O2 -c -o chain.o "$0" & "$1" -c "print(sum(map(hash, range(1 << 22))))" & wait
		for i in 1 2 3; do sh -c ": \$(seq 100000)"; done' "$sources/chain.c" "$python"
	for keys in comm dso cpu tid comm,tid cpu,tid,dso; do
		same_rows $keys
	done
}

# drawn FUNCTION: in a report, its line without small digits, and the program's functions in its call graph, in order,
# without itself, which perf leaves out at the start
drawn() {
	awk -v wanted="$1" '
		/^ +[0-9.]+%/ { inside = $NF == wanted; if (inside) print; next }
		inside && match($0, /[- ](main|a|b|c|spin)$/) { print substr($0, RSTART + 1) }' | grep -v -x "$1" |
		sed 's/\.[0-9]*%//g; s/^  *//; s/ *$//'
}

it_draws_call_graphs_as_perf_report() {
	needs perf
	record "$(program chain)" 500
	for options in --children --no-children '--no-children -G' '--children -g 0.5,callee' \
		'--no-children -g graph,0.5,caller'; do
		for function in spin b; do
			# shellcheck disable=SC2086 # words
			perf report --no-inline --stdio -i perf.data -s sym $options 2>perf.log |
				drawn $function >theirs
			# shellcheck disable=SC2086 # words
			"$bobbin" report --no-inline -s sym $options | drawn $function >ours
			diff ours theirs || fail "with $options"
			cat ours >>all
		done
	done
	some '^main$' 3 <all
}

it_reads_frame_pointer_chains_of_perf() {
	needs perf
	file=$(program_as framed chain -fno-omit-frame-pointer)
	perf_record -q -e cpu-clock -F 999 --call-graph fp "$file" 500 2>perf.log
	same_stacks framed
	stacks | mostly 90 ' spin c b a main '
	quietly "$bobbin" report --full
	grep -q ' a$' out
}

it_gives_each_place_of_a_file_that_is_gone_its_own_name() {
	needs perf
	file=$(program_as vanished chain -fno-omit-frame-pointer -Wl,--build-id=none)
	perf_record -q -e cpu-clock:u -F 999 --call-graph fp "$file" 500 2>perf.log
	mv "$file" elsewhere
	quietly "$bobbin" script -F comm,ip,sym
	grep -o ' vanished+0x[0-9a-f]*' out | sort -u >names
	[ "$(wc -l <names)" -ge 6 ] || fail "different functions have one name: $(cat names)"
	# the name is the place: last three digits of both
	grep ' vanished+0x' out >places
	sed 's/^	* *[0-9a-f]*\([0-9a-f]\{3\}\) vanished+0x\([0-9a-f]*\)+\(0x[0-9a-f]*\).*/\1 0x\2 \3/' places |
		while read -r digits name more; do
			[ $(((name + more) % 4096)) -eq $((0x$digits)) ] || fail "not the place: $digits $name $more"
		done
}

it_unwinds_stack_copies_of_perf() {
	needs perf
	perf_record -q -e cpu-clock -F 999 --call-graph dwarf,8192 "$(program chain)" 500 2>perf.log
	stacks | mostly 90 ' spin c b a main __libc_start_call_main __libc_start_main _start $'
	complete
	frames | grep '/chain)' | with_tables | mostly 100 '\[\.eh_frame\]$'
	quietly "$bobbin" report
	grep -q 'are complete' out
}

it_unwinds_stack_copies_as_perf_does() {
	needs perf
	perf_record -q -e cpu-clock -F 499 --call-graph dwarf,16384 "$(program threads)" 300 \
		2>perf.log
	ours | names >ours
	theirs | names >theirs
	[ "$(wc -l <ours)" -ge 200 ]
	[ "$(wc -l <ours)" -eq "$(wc -l <theirs)" ]
	# perf gives some of them up
	paste -d '|' ours theirs | awk -F '|' '{ print (index($1, $2) == 1) ? "begins alike" : $0 }' |
		mostly 95 '^begins alike$'
	diff ours theirs | grep -c '^<' | awk -v all="$(wc -l <ours)" '$1 * 2 > all' | none .
}

it_reads_compressed_recordings_of_perf() {
	needs perf
	perf_record -q -z -e cpu-clock -F 999 --call-graph dwarf,8192 "$(program chain)" 300 2>perf.log
	stacks | mostly 90 ' spin c b a main '
}

it_reads_what_perf_wrote_to_a_pipe() {
	needs perf
	perf_record -q -e cpu-clock -F 999 -g -o - \
		"$(program_as framed chain -fno-omit-frame-pointer)" 300 >perf.data 2>perf.log
	stacks | mostly 90 ' spin c b a main '
}

# sums: of each event, samples and what they stand for
sums() {
	awk 'NF { sub(/:$/, "", $2); n[$2]++; s[$2] += $1 }
		END { for (e in n) printf "%s %d %.0f\n", e, n[e], s[e] }' | sort
}

it_counts_what_the_leader_of_a_group_carries() {
	needs perf
	file=$(program_as framed chain -fno-omit-frame-pointer)
	for group in '{cpu-clock,page-faults}:S' '{page-faults,cpu-clock,task-clock,context-switches}:S'; do
		perf_record -q -e "$group" -g -- "$file" 300 2>perf.log
		"$bobbin" script -q -F period,event | sums >ours
		perf script -F period,event -G -i perf.data 2>perf.log | sums >theirs
		[ -s ours ]
		grep -q '^page-faults ' ours
		grep -q '^cpu-clock ' ours
		diff ours theirs
		perf report --stdio --no-group -i perf.data 2>perf.log |
			sed -n "s/^# Event count (approx.): //p" | sort >theirs
		"$bobbin" report | sed -n 's/^# Event count (approx.): //p' | sort | diff - theirs
	done
}

# they_are_there FILE: samples of both events
they_are_there() {
	"$bobbin" script -q -i "$1" -F event | awk 'NF { print $NF }' | sort -u >left
	[ "$(cat left)" = "$(printf 'cpu-clock:\npage-faults:')" ]
}

it_tells_events_of_a_killed_perf_apart() {
	needs perf
	spawn perf record -q -F 4999 -e cpu-clock -e page-faults -g -o killed -- sh -c 'while :; do /bin/true; done'
	eventually they_are_there killed
	kill -9 "$pid"
}

run_cases
