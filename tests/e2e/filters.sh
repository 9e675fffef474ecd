#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A part of a recording is the same part for all commands that read it.
. "$(dirname "$0")/lib.sh"

# recorded: ./perf.data of two commands, one after the other, of a few functions; made once
recorded() {
	[ -e "$work/recorded.data" ] || record -F 2500 -o "$work/recorded.data" \
		sh -c '"$1" 300; "$2" 300 20' sh "$(program chain)" "$(program deep)"
	ln "$work/recorded.data" perf.data
	"$bobbin" script -q -F comm,pid,tid,time,ip,sym >all
	# a command may have had several processes, and a process several commands: sh becomes one
	awk '
		/^[^\t ]/ {
			split($2, id, "/")
			command[$1]++
			process[id[1]]++
			thread[$1 " --tid " id[2]]++
		}
		END {
			for (c in command) print command[c], "--comm", c
			for (p in process) print process[p], "--pid", p
			for (t in thread) print thread[t], "--comm", t
		}' all >parts
}

# selects COUNT OPTION…: script, report and export take as many samples
selects() {
	samples=$1
	shift
	quietly "$bobbin" script -F tid "$@"
	[ "$(grep -c . out)" -eq "$samples" ] || fail "$(grep -c . out) samples in script, not $samples, by $*"
	quietly "$bobbin" report "$@" --full
	[ "$(sed -n "s/^# Samples: \([0-9]*\) of event.*/\1/p" out)" -eq "$samples" ] ||
		fail "not $samples samples in the report: $(head -n 3 out)"
	quietly "$bobbin" export --format callgrind "$@"
	# a sample is 400 microseconds
	[ "$(awk '/^totals:/ { print $2 / 400000 }' out)" = "$samples" ] ||
		fail "not $samples samples in the export: $(grep '^totals' out)"
	quietly "$bobbin" flamegraph --folded "$@"
	[ -s out ]
}

it_takes_the_samples_of_commands_processes_and_threads() {
	recorded
	while read -r count options; do
		# shellcheck disable=SC2086 # options and their arguments
		selects "$count" $options
	done <parts
	both=$(awk 'NF == 3 && ($3 == "chain" || $3 == "deep") { n += $1 } END { print n }' parts)
	selects "$both" --comm chain,deep
	selects "$both" --comm chain --comm deep
}

it_takes_the_samples_with_a_function_or_a_file() {
	recorded
	# a line of frames for each sample
	awk '
		/^[^\t ]/ { n++; next }
		/[^ \t]/ { stack[n] = stack[n] " " $2 " " }
		END { for (i = 1; i <= n; i++) print stack[i] }' all >stacks
	descents=$(grep -c ' descend+' stacks)
	chains=$(grep -c ' [abc]+' stacks)
	[ "$descents" -gt 100 ] && [ "$chains" -gt 100 ]
	selects "$descents" --sym descend
	selects "$descents" --sym 'desc?nd'
	selects $((descents + chains)) --sym '[abc],descend'
	selects "$(grep -c ' main+' stacks)" --sym main --dso chain,deep
	selects "$chains" --dso "$(program chain)" --sym c
}

it_takes_the_samples_of_a_time() {
	recorded
	"$bobbin" script -q -F time | awk 'NF { sub(/:/, ""); print $1 }' >times
	middle=$(sed -n 200p times)
	from=$(awk -v t="$middle" '$1 >= t' times | wc -l)
	selects "$from" --time "$middle,"
	selects "$(wc -l <times)" --time 0%-100%
	"$bobbin" script -q -F tid --time 0%-50% >first
	"$bobbin" script -q -F tid --time 50%-100% >second
	sum=$(($(grep -c . first) + $(grep -c . second)))
	# one may lie on the border
	[ $((sum - $(wc -l <times))) -le 1 ] && [ "$sum" -ge "$(wc -l <times)" ]
}

it_says_when_nothing_is_left() {
	recorded
	for command in report annotate script flamegraph export; do
		[ $command != export ] || format='--format callgrind'
		# shellcheck disable=SC2086 # nothing, or an option and its argument
		expect 1 "$bobbin" $command -q --comm nobody ${format:-}
		complains perf.data 'no samples are what the options ask for'
	done
}

it_refuses_what_is_no_list() {
	for option in '--pid x' '--pid 1,' '--tid -1' '--time 5' '--time 2,1' '--time 10%'; do
		# shellcheck disable=SC2086 # an option and its argument
		expect 2 "$bobbin" report $option
		grep -q -- "${option% *}: " err
	done
}

run_cases
