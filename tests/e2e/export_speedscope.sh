#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# speedscope reads what is exported for it, and has the weights of the report.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/weights.sh"
. "$(dirname "$0")/speedscope.sh"

# is_valid FILE: by speedscope's schema, and of each sample there is all
is_valid() {
	python3 - "$1" "$sources/../../build/viewers/speedscope/node_modules/speedscope/dist/release/file-format-schema.json" <<-'END'
		import json, os, sys
		told = json.load(open(sys.argv[1], encoding="utf-8"))
		frames, walks = told["shared"]["frames"], told["walks"]
		for profile in told["profiles"]:
		    numbers = {len(profile[key]) for key in ("samples", "weights", "walks")}
		    assert len(numbers) == 1 and 0 not in numbers, numbers
		    assert profile["endValue"] - profile["startValue"] == sum(profile["weights"])
		    assert all(walk < len(walks) for walk in profile["walks"])
		    assert all(frame < len(frames) for stack in profile["samples"] for frame in stack)
		try:
		    import jsonschema
		except ImportError:
		    sys.exit()
		if os.path.exists(sys.argv[2]):
		    jsonschema.validate(told, json.load(open(sys.argv[2])))
	END
}

it_has_the_weights_of_the_report() {
	busy_recording
	exports -o build.speedscope.json
	is_valid build.speedscope.json
	as_in_the_report build.speedscope.json
	# the compiler itself is shown at first
	shown=$(awk -F '\t' '$1 == "group" { print $3 + 1 }' view)
	grep '^profile' view | sed -n "${shown}p" | grep "$(printf '^profile\tcc1 [0-9]*/[0-9]*\tnanoseconds\t')"
}

it_counts_a_recursion_once() {
	record -F 2500 "$(program deep)" 500 20
	exports -o deep.speedscope.json
	"$bobbin" report -q -g none --sort sym --full --no-fold >report
	awk '$4 == "descend" { sub(/%/, "", $1); print "descend\t" $1 }' report >ten
	[ -s ten ] || fail "no descend: $(cat report)"
	speedscope deep.speedscope.json
	speedscope_weights total >weights
	has_the_weights weights
}

it_has_a_profile_for_each_thread() {
	threads_recording
	exports -o threads.speedscope.json
	is_valid threads.speedscope.json
	"$bobbin" script -q -F comm,pid,tid | awk 'NF { print $1 " " $2 }' | sort -u >threads
	[ "$(wc -l <threads)" -ge 3 ] || fail "too few threads: $(cat threads)"
	speedscope threads.speedscope.json
	awk -F '\t' '$1 == "profile" { print $2 }' view | sort >profiles
	diff threads profiles
	for function in first second in_main; do
		while read -r profile; do
			speedscope threads.speedscope.json "^$profile\$"
			! grep -q "$(printf '^function\t%s\t' "$function")" view || echo "$profile"
		done <profiles >having
		[ "$(wc -l <having)" -eq 1 ] || fail "$function in: $(cat having)"
	done
}

it_says_where_functions_are() {
	record -F 2500 "$(program_as lined chain -g)" 500
	exports -o chain.speedscope.json
	speedscope chain.speedscope.json
	grep -q "$(printf '^function\tspin\t.*/spin\\.h:[1-9]')" view || fail "no line: $(cat view)"
}

it_says_why_stacks_are_not_complete() {
	cut_recording
	exports -o cut.speedscope.json
	is_valid cut.speedscope.json
	as_in_the_report cut.speedscope.json
	reasons | sort | uniq -c | sort -rn >reasons
	reason=$(awk '$2 != "OUTERMOST" && $2 != "NO_USER" { print $2; exit }' reasons)
	[ -n "$reason" ] || fail "all are complete: $(cat reasons)"
	# what is called by it is what has no other callers
	python3 - cut.speedscope.json >told <<-'END'
		import json, sys
		told = json.load(open(sys.argv[1]))
		names = [frame["name"] for frame in told["shared"]["frames"]]
		for profile in told["profiles"]:
		    for stack, walk in zip(profile["samples"], profile["walks"]):
		        reason = told["walks"][walk].get("stack_end", "NO_USER")
		        ends = [names[frame] for frame in stack if names[frame].startswith("[stack ends")]
		        complete = reason in ("OUTERMOST", "NO_USER")
		        assert ends == ([] if complete else [f"[stack ends: {reason}]"]), ends
		        assert complete or names[stack[0]] == ends[0]
		        print(reason)
	END
	sort told | uniq -c | sort -rn | diff reasons -
	grep -q "$(printf '^function\t\\[stack ends: %s\\]\t0\t' "$reason")" view || fail "no $reason: $(cat view)"
}

it_says_how_stacks_were_walked() {
	busy_recording
	exports -o build.speedscope.json
	grep -q '{"stack_end": "OUTERMOST", "unwound_by": "[^"]*\.eh_frame' build.speedscope.json
}

it_has_profiles_for_further_events() {
	record -e cpu-clock,page-faults -F 2500 gcc -O2 -c -o /dev/null -x c /dev/null
	exports -o events.speedscope.json
	is_valid events.speedscope.json
	speedscope events.speedscope.json
	grep -q "$(printf '^profile\tcc1 [0-9]*/[0-9]*\tnanoseconds\t')" view || fail "no clock: $(cat view)"
	grep -q "$(printf '^profile\tcc1 [0-9]*/[0-9]* page-faults\tnone\t')" view || fail "no faults: $(cat view)"
}

it_is_read_if_it_is_empty() {
	empty_recording
	exports -o empty.speedscope.json
	is_valid empty.speedscope.json
	speedscope empty.speedscope.json
	! grep '^profile' view
}

it_is_read_whatever_the_names_are() {
	nasty_recording
	exports -o nasty.speedscope.json
	is_valid nasty.speedscope.json
	speedscope nasty.speedscope.json
	grep -q 'n"\\</script>' view || fail "no such function: $(cat view)"
	! LC_ALL=C grep "$(printf '[\001-\010\033]')" nasty.speedscope.json
}

it_is_read_however_long_a_name_is() {
	long_recording
	exports -o long.speedscope.json
	speedscope long.speedscope.json
	awk -F '\t' '$1 == "function" && length($2) > 10000' view | grep -q fffffff ||
		fail "no long name: $(cut -c 1-80 view)"
}

run_cases
