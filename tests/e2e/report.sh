#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The reports of a recording: text, folded stacks, flame graphs.
. "$(dirname "$0")/lib.sh"

# One recording serves all cases.
recording() {
	[ -e "$work/recording" ] || {
		program chain >/dev/null
		"$bobbin" record -q -o "$work/recording" "$(program family)" 300 "$work/bin/chain"
	}
	cp "$work/recording" perf.data
}

# The entries of a report in ./out
entries() {
	grep -E '^ +[0-9]+\.[0-9]+% ' out
}

it_reports_children_and_self() {
	recording
	quietly "$bobbin" report --full
	grep -Eq '^# Samples: [0-9]+ +of event' out
	grep -Eq '^# Children +Self +Command +Shared Object +Symbol' out
	entries | some ' \[\.\] main$' 2
	# sorted, and a main has nothing of its own
	entries | awk '{ print $1 + 0 }' >shares
	sort -rn -c shares
	entries | grep ' \[\.\] main$' | mostly 100 '^ *[0-9.]*%  *0\.[0-9]*% '
}

it_begins_with_a_screen() {
	recording
	quietly "$bobbin" report
	entries | head -n 1 | some ' \[\.\] spin$' 1
	grep -Eq '^ +[0-9.]+%  chain: _start > .* > main > a > b > c > spin$' out
	grep -Eq '^ +[0-9.]+%  family: .* > main > in_child > spin$' out
	none -e '---' <out
	[ "$(wc -l <out)" -lt 70 ] || fail "$(wc -l <out) lines"
	mv out screen
	for options in --full --stdio '-g 0.5' '--percent-limit 0.1'; do
		# shellcheck disable=SC2086 # words
		quietly "$bobbin" report $options
		[ ! -e full ] || cmp full out
		mv out full
	done
	grep -q -e '---' full
}

it_shows_pages_on_a_terminal() {
	needs python3
	recording
	for command in report script; do
		PAGER="awk '/spin/ { n++ } END { print n ? \"page\" : \"none\" }'" \
			"$sources/terminal-user" "$bobbin" $command <<-'END'
			wait ^page
			exit 0
		END
	done
	PAGER=cat "$sources/terminal-user" "$bobbin" report -g none --percent-limit 99 <<-'END'
		wait ^# Samples: [0-9]+ of event
		exit 0
	END
}

it_says_that_there_is_no_such_pager() {
	needs python3
	recording
	touch readable
	for command in report script; do
		for pager in no-such-pager ./readable; do
			PAGER=$pager "$sources/terminal-user" "$bobbin" $command <<-END
				wait bobbin: the pager '$pager' cannot be run;
				exit 1
			END
		done
	done
}

it_reports_a_functions_own_time() {
	recording
	quietly "$bobbin" report --no-children
	entries | head -n 1 | some 'spin$' 1
	entries | none ' \[\.\] main$'
	total=$("$bobbin" report --no-children -g none --percent-limit 0 |
		awk '/^ +[0-9.]+% / { n += $1 } END { printf "%d", n + 0.5 }')
	[ "$total" -ge 98 ] && [ "$total" -le 102 ] || fail "all together: $total %"
}

it_sorts_by_what_it_is_told_to() {
	recording
	quietly "$bobbin" report --no-children -g none --sort comm
	[ "$(entries | awk '{ print $2 }' | sort -u | tr '\n' ' ')" = "chain family " ] ||
		fail "$(cat out)"
	quietly "$bobbin" report --no-children -g none --sort dso
	entries | some ' family$' 1
	entries | some ' chain$' 1
	quietly "$bobbin" report --no-children -g none --sort dso,sym
	grep -Eq '^# .*Shared Object +Symbol' out
	none ' Command ' <out
}

it_sorts_by_lines() {
	record "$(program_as lines chain -g)" 300
	line=$(grep -n 'spin(ms)' "$sources/chain.c" | head -n 1 | cut -d : -f 1)
	quietly "$bobbin" report --no-inline -g none --sort srcline,sym
	grep -Eq '^# Children +Self +Source:Line +Symbol' out
	entries | some "chain\.c:$line " 1
	quietly "$bobbin" report --no-children --sort srcfile
	entries | head -n 1 | some '^ *[89].* spin\.h$' 1
	none ' Symbol' <out
}

it_names_the_keys() {
	recording
	for keys in nonsense comm,nonsense comm,comm ''; do
		expect 2 "$bobbin" report --sort "$keys"
		grep -q "^bobbin report: --sort: '$keys' is not a list of comm, dso, .* and srcfile\$" err
	done
	expect 2 "$bobbin" diff --sort pid perf.data perf.data
}

# documented EXPRESSION: true for the JSON document in ./out
documented() {
	python3 - "$1" <<-'END' || fail "not true: $1: $(head -c 2000 out)"
		import json, sys
		told = json.load(open("out"))
		event = told["events"][0]
		rows, left_out = event["rows"], event["left_out"]
		sys.exit(not eval(f"({sys.argv[1]})"))
	END
}

it_writes_a_document() {
	needs python3
	recording
	quietly "$bobbin" report --json
	documented 'told["recording"] == "perf.data" and told["keys"] == ["comm", "dso", "sym"]'
	documented 'event["weight"] == sum(row["self"] for row in rows) + left_out["self"]'
	documented 'event["stacks"]["walked"] == sum(event["stacks"]["ended"].values()) <= event["samples"]'
	documented 'any(row["sym"] == "main" and row["comm"] == "chain" and row["children_percent"] > 10 for row in rows)'
	quietly "$bobbin" report --json --no-children --sort pid,cpu --percent-limit 0
	documented 'sorted((row["self"] for row in rows), reverse=True) == [row["self"] for row in rows]'
	documented '{row["pid_comm"] for row in rows} == {"chain", "family"} and left_out["rows"] == 0'
	# what is printed is what is in the document
	quietly "$bobbin" report --no-children --sort sym -g none --percent-limit 0
	entries | awk '{ print $1 }' | sort >printed
	quietly "$bobbin" report --no-children --sort sym --json --percent-limit 0
	python3 -c 'import json
for row in json.load(open("out"))["events"][0]["rows"]: print("%.2f%%" % row["self_percent"])' | sort >written
	diff printed written
}

it_writes_names_of_strangers_in_documents() {
	needs python3
	name=$(printf 'a"\\</script>\n\302\205\377')
	mkdir "${name%/*}"
	cp "$(program chain)" "$name"
	record "./$name" 200
	quietly "$bobbin" report --json
	documented 'any(row["dso"].endswith("/a\"\\</script>\n\u0085\ufffd") for row in rows)'
	documented 'any(row["sym"] == "spin" for row in rows)'
}

it_documents_all_events() {
	needs python3
	record -e cpu-clock,page-faults "$(program chain)" 200
	quietly "$bobbin" report --json
	documented '[e["event"] for e in told["events"]] == ["cpu-clock", "page-faults"]'
	quietly "$bobbin" report --json --event page-faults
	documented 'event["samples"] == 0 and not rows and told["events"][1]["samples"] > 0'
}

it_leaves_small_entries_out() {
	recording
	quietly "$bobbin" report -g none --percent-limit 0
	all=$(entries | wc -l)
	quietly "$bobbin" report -g none --percent-limit 50
	[ "$(entries | wc -l)" -gt 0 ] && [ "$(entries | wc -l)" -lt "$all" ]
	entries | awk '$1 + 0 < 50' | none .
	none '^ .*---' <out
}

it_folds_stacks() {
	recording
	quietly "$bobbin" flamegraph --folded
	mostly 100 '^[^;]*;.* [0-9]*$' <out
	some '^chain;_start;__libc_start_main[^;]*;__libc_start_call_main;main;a;b;c;spin [0-9]*$' 1 <out
	some '^family;.*;main;in_child;spin [0-9]*$' 1 <out
	samples=$("$bobbin" script -F tid | grep -c .)
	[ "$(awk '{ n += $NF } END { print n }' out)" -eq "$samples" ]
	[ -z "$(sed 's/ [0-9]*$//' out | sort | uniq -d)" ] || fail "a stack comes twice"
}

it_draws_flame_graphs() {
	needs xmllint
	recording
	quietly "$bobbin" flamegraph --title 'A <title> & "more"'
	xmllint --noout out
	[ "$(xmllint --xpath 'string(//*[local-name() = "title"][1])' out)" = 'A <title> & "more"' ]
	for function in main a b c spin in_child in_parent in_next; do
		grep -q "[>\"]$function[ <\"]" out || fail "no $function"
	done
	quietly "$bobbin" flamegraph --inverted --min-width 20
	xmllint --noout out
}

it_names_hidden_files_and_functions_safely() {
	needs xmllint
	name='a;b <c> & "d"'
	cp "$(program chain)" "$name"
	record "./$name" 100
	quietly "$bobbin" flamegraph
	xmllint --noout out
	quietly "$bobbin" flamegraph --folded
	awk -F ';' '{ print NF }' out | sort -u | mostly 100 '^[0-9]*$'
	some '^[^;]*;_start;' 1 <out
	quietly "$bobbin" report
	quietly "$bobbin" script
}

it_says_that_there_is_nothing_to_draw() {
	record -F 1 true
	expect 0 "$bobbin" flamegraph
	complains "^bobbin: perf.data: no samples of '[a-z-]*': there is nothing to draw"
	quietly "$bobbin" flamegraph -q
}

it_folds_the_levels_of_a_recursion() {
	record "$(program deep)" 200 900
	quietly "$bobbin" report --full
	[ "$(wc -l <out)" -lt 1500 ] || fail "$(wc -l <out) lines"
	some ' descend \[recursion, up to 90[01] levels\]$' 1 <out
	quietly "$bobbin" report --full --no-fold
	none 'recursion' <out
	[ "$(grep -c ' descend$' out)" -gt 800 ]
	quietly "$bobbin" flamegraph --folded
	none 'descend;descend' <out
	some ';main;descend;spin ' 1 <out
	quietly "$bobbin" flamegraph --folded --no-fold
	some 'descend;descend' 1 <out
}

it_finds_recorded_files_elsewhere() {
	cp "$(program chain)" moved
	record --no-names ./moved 200
	mkdir -p "root$PWD"
	mv moved "root$PWD/moved"
	stacks | none ' spin c b a main '
	stacks --symfs root | mostly 90 ' spin c b a main '
	# the audit of last frames reads its entry point
	mv "root$PWD/moved" moved
}

run_cases
