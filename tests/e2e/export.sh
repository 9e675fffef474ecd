#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Recordings in the formats of other programs weigh there what they do in the report.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/weights.sh"
. "$(dirname "$0")/pprof.sh"
. "$(dirname "$0")/callgrind.sh"

it_has_the_weights_of_the_report_in_pprof() {
	busy_recording
	exports -o build.pb.gz
	for column in self total; do
		report_weights $column
		pprof_weights $column build.pb.gz -sample_index=cpu >weights
		has_the_weights weights
	done
}

it_counts_samples_in_pprof() {
	busy_recording
	exports --format pprof -o profile
	pprof -raw profile >raw
	"$bobbin" script -q -F tid >samples
	awk '/^Samples:/ { on = 1; next } /^Locations/ { on = 0 } on && $2 ~ /^[0-9]+:$/ { n += $1 } END { print n }' \
		raw >count
	[ "$(cat count)" -eq "$(grep -c . samples)" ]
	# which of them is complete, and how it was walked
	grep -q 'stack_end:\[OUTERMOST\]' raw
	grep -q 'unwound_by:\[.*\.eh_frame' raw
	grep -q "comm:\[cc1\]" raw
	cgroup=$("$bobbin" script -q -F cgroup | awk 'NF { print $1; exit }')
	[ "$cgroup" = unknown ] || grep -q -F "cgroup:[$cgroup]" raw || fail "not $cgroup: $(head raw)"
	# build IDs are those of the files
	id=$(readelf -n "$(gcc -print-prog-name=cc1)" | sed -n 's/.*Build ID: //p')
	grep -q "cc1 $id " raw || fail "no build ID $id: $(sed -n '/^Mappings/,$p' raw)"
}

it_has_the_weights_of_the_report_in_callgrind() {
	busy_recording
	exports -o callgrind.out.build
	for column in self total; do
		report_weights $column
		callgrind_weights $column callgrind.out.build >weights
		has_the_weights weights
	done
	grep -q '^desc: stack_end OUTERMOST: [0-9]* samples$' callgrind.out.build
}

it_compresses_what_is_called_gz() {
	busy_recording
	exports -o build.callgrind.gz
	gzip -dc build.callgrind.gz >unpacked
	"$bobbin" export -q --format callgrind >plain
	cmp plain unpacked
}

it_tells_copies_of_a_program_apart() {
	for copy in one two; do
		cp "$(program quarters)" $copy
	done
	quietly "$bobbin" record -q -F 999 -- sh -c './one 300; ./two 300'
	"$bobbin" report -q -g none --no-children --sort dso --full |
		awk '$2 == "one" || $2 == "two" { print $2, $1 }' | sort >shares
	[ "$(wc -l <shares)" -eq 2 ] || fail "not both are there: $(cat shares)"
	exports --format callgrind -o profile
	awk '
		/^ob=/ { sub(/.*\//, ""); file = $0 }
		/^calls=/ { getline; next }
		/^[0-9]+ [0-9]+$/ { costs[file] += $2; total += $2 }
		END { for (i in costs) printf "%s %.2f%%\n", i, 100 * costs[i] / total }' profile |
		grep -E '^(one|two) ' | sort | diff shares - >&2
}

it_counts_a_recursion_once() {
	record -F 2500 "$(program deep)" 500 20
	exports -o deep.pb.gz
	exports -o callgrind.out.deep
	"$bobbin" report -q -g none --sort sym --full --no-fold >report
	awk '$4 == "descend" { sub(/%/, "", $1); print "descend\t" $1 }' report >ten
	[ -s ten ] || fail "no descend: $(cat report)"
	pprof_weights total deep.pb.gz >weights
	has_the_weights weights
	callgrind_weights total callgrind.out.deep >weights
	has_the_weights weights
}

it_keeps_lines_and_inlined_functions() {
	record -F 2500 "$(program_as lined chain -g)" 500
	exports -o chain.pb.gz
	exports -o callgrind.out.chain
	pprof -list '^spin$' chain.pb.gz >list 2>err || fail "pprof: $(cat err)"
	grep -q 'spin\.h' list || fail "no source: $(cat list)"
	callgrind_annotate --auto=yes --include="$sources" callgrind.out.chain >annotated
	grep -q "spin\.h" annotated
}

it_says_what_it_cannot_do() {
	busy_recording
	expect 2 "$bobbin" export -o file.unknown
	grep -q "the name of 'file.unknown' tells no format; --format takes pprof" err
	expect 2 "$bobbin" export --format none -o file
	grep -q "unknown format 'none'; there are pprof" err
	expect 1 "$bobbin" export -i none.data -o file.pb.gz
	complains none.data 'No such file'
	head -c 30000 perf.data >cut.data
	"$bobbin" export -i cut.data -o cut.pb.gz >out 2>err || :
	[ -s err ]
	expect 1 "$bobbin" export -o no/folder/file.pb.gz
	complains no/folder/file.pb.gz 'No such file'
	[ ! -e file ] && [ ! -e file.pb.gz ] && [ ! -e file.unknown ]
}

it_leaves_no_half_of_a_file_on_a_full_disk() {
	needs_root
	needs unshare
	busy_recording
	mkdir full
	expect 1 unshare -m --propagation private sh -c '
		mount -t tmpfs -o size=16k none full || exit 99
		"$1" export -q --format callgrind -o full/callgrind.out.build
		status=$?
		ls -A full
		exit $status' sh "$bobbin"
	complains 'full/callgrind.out.build' 'No space left'
	[ ! -s out ] || fail "left behind: $(cat out)"
}

it_is_read_whatever_the_names_are() {
	nasty_recording
	exports -o nasty.pb.gz
	exports -o callgrind.out.nasty
	pprof -raw nasty.pb.gz >raw 2>err || fail "pprof: $(cat err)"
	grep -q 'n"\\</script>' raw || fail "no such function: $(cat raw)"
	callgrind_weights total callgrind.out.nasty >weights
	grep -q 'n"\\</script>' weights || fail "no such function: $(cat weights)"
	! grep '^F0R' callgrind.out.nasty
}

it_is_read_however_long_a_name_is() {
	long_recording
	exports -o long.pb.gz
	exports -o callgrind.out.long
	pprof_weights total long.pb.gz >weights
	grep -q fffffff weights || fail "no long name in pprof: $(cut -c 1-80 weights)"
	callgrind_weights total callgrind.out.long >weights
	grep -q fffffff weights || fail "no long name in callgrind: $(cut -c 1-80 weights)"
}

run_cases
