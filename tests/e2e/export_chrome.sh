#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Traces of Chrome are read by speedscope, and have the weights of the report.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/weights.sh"
. "$(dirname "$0")/speedscope.sh"

# is_valid FILE: what the format wants is there, and the times of each lane rise
is_valid() {
	python3 - "$1" <<-'END'
		import json, sys
		told = json.load(open(sys.argv[1], encoding="utf-8"))
		frames = told["stackFrames"]
		for frame in frames.values():
		    assert frame["name"] and ("parent" not in frame or frame["parent"] in frames), frame
		ends = {}
		for sample in told["samples"]:
		    lane = sample["pid"], sample["tid"]
		    assert ends.get(lane, 0) <= sample["ts"], sample
		    ends[lane] = sample["ts"]
		    assert "sf" not in sample or sample["sf"] in frames, sample
		named = {(e["pid"], e["tid"]) for e in told["traceEvents"] if e["name"] == "thread_name"}
		assert named == set(ends), named ^ set(ends)
	END
}

it_has_the_weights_of_the_report() {
	busy_recording
	exports -o build.trace.json
	is_valid build.trace.json
	as_in_the_report build.trace.json
	grep "$(printf '^profile\tcc1 (pid [0-9]*), cc1 (tid [0-9]*)\tmicroseconds\t')" view
}

it_has_samples_at_their_times() {
	busy_recording
	exports -o build.trace.json
	"$bobbin" script -q -F tid,time,period | awk 'NF { sub(/:/, "", $2); print $1, $2, $3 }' >samples
	python3 - build.trace.json samples <<-'END'
		import collections, json, sys
		lanes, taken = collections.defaultdict(list), collections.defaultdict(list)
		for sample in json.load(open(sys.argv[1]))["samples"]:
		    if "cpu" in sample:
		        lanes[sample["tid"]].append((sample["ts"] + sample["weight"] / 1000, sample["weight"]))
		for line in open(sys.argv[2]):
		    tid, time, period = line.split()
		    taken[int(tid)].append((float(time) * 1e6, int(period)))
		assert lanes.keys() == taken.keys(), (lanes.keys(), taken.keys())
		for tid, ends in lanes.items():
		    assert [weight for _, weight in ends] == [period for _, period in taken[tid]]
		    # one that was taken late moves those behind it
		    late = [end - time for (end, _), (time, _) in zip(ends, taken[tid])]
		    assert min(late) > -2 and sorted(late)[len(late) // 2] < 1000, (tid, late)
	END
}

it_counts_a_recursion_once() {
	record -F 2500 "$(program deep)" 500 20
	exports -o deep.trace.json
	"$bobbin" report -q -g none --sort sym --full --no-fold >report
	awk '$4 == "descend" { sub(/%/, "", $1); print "descend\t" $1 }' report >ten
	[ -s ten ] || fail "no descend: $(cat report)"
	speedscope deep.trace.json
	speedscope_weights total >weights
	has_the_weights weights
}

it_has_a_lane_for_each_thread() {
	threads_recording
	exports -o threads.trace.json
	is_valid threads.trace.json
	"$bobbin" script -q -F comm,pid,tid |
		awk 'NF { split($2, id, "/"); print $1 " (tid " id[2] ")" }' | sort -u >threads
	[ "$(grep -c '^threads ' threads)" -eq 3 ] || fail "not three threads: $(cat threads)"
	speedscope threads.trace.json
	# what a process runs next is in the lane of what it was
	awk -F '\t' '$1 == "profile" { sub(/.*, /, "", $2); print $2 }' view | grep '^threads ' | sort >lanes
	grep '^threads ' threads | diff - lanes
	for function in first second in_main; do
		sed 's/.*tid \(.*\))/\1/' lanes | while read -r tid; do
			speedscope threads.trace.json "tid $tid\\)"
			! grep -q "$(printf '^function\t%s\t' "$function")" view || echo "$tid"
		done >having
		[ "$(wc -l <having)" -eq 1 ] || fail "$function in: $(cat having)"
	done
}

it_says_where_functions_are() {
	record -F 2500 "$(program_as lined chain -g)" 500
	exports -o chain.trace.json
	grep -q '"name": "spin", "category": "[^"]*/lined", "file": "[^"]*/spin\.h", "line": [1-9]' chain.trace.json
}

it_says_how_stacks_were_walked_and_why_they_end() {
	cut_recording
	exports -o cut.trace.json
	as_in_the_report cut.trace.json
	reasons | sort | uniq -c >reasons
	python3 - cut.trace.json >told <<-'END'
		import json, sys
		for sample in json.load(open(sys.argv[1]))["samples"]:
		    if "cpu" in sample:
		        print(sample["args"].get("stack_end", "NO_USER"))
	END
	sort told | uniq -c | diff reasons -
	grep -q -v -e OUTERMOST -e NO_USER told || fail "all are complete"
	grep -q '"args": {"stack_end": "[A-Z_]*", "unwound_by": "[^"]*\.eh_frame' cut.trace.json
}

it_has_lanes_for_further_events() {
	record -e cpu-clock,page-faults -F 2500 gcc -O2 -c -o /dev/null -x c /dev/null
	exports -o events.trace.json
	is_valid events.trace.json
	speedscope events.trace.json
	grep -q "$(printf '^profile\t.*, cc1 (tid ')" view || fail "no clock: $(cat view)"
	grep -q "$(printf '^profile\t.*, cc1 page-faults (tid ')" view || fail "no faults: $(cat view)"
}

it_is_read_if_it_is_empty() {
	empty_recording
	exports -o empty.trace.json
	is_valid empty.trace.json
	speedscope empty.trace.json
	! grep '^profile' view
}

it_is_read_whatever_the_names_are() {
	nasty_recording
	exports -o nasty.trace.json
	is_valid nasty.trace.json
	speedscope nasty.trace.json
	grep -q 'n"\\</script>' view || fail "no such function: $(cat view)"
	! LC_ALL=C grep "$(printf '[\001-\010\033]')" nasty.trace.json
}

it_is_read_however_long_a_name_is() {
	long_recording
	exports -o long.trace.json
	speedscope long.trace.json
	grep -q 'ffff… #[0-9]' view || fail "no long name: $(cut -c 1-80 view)"
	[ "$(wc -c <long.trace.json)" -lt 1000000 ]
}

run_cases
