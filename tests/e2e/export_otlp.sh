#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Requests of OTLP profiles: decoded by the definitions of OpenTelemetry, they say what the report does.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/weights.sh"
. "$(dirname "$0")/otlp.sh"

# count_of KEY VALUE: the sum of samples with this attribute, in ./facts
count_of() {
	awk -v key="$1" -v value="$2" '
		$1 == "sample" && $2 == key && index($0, " " key " " value " ") { n += $NF }
		END { print n + 0 }' facts
}

it_has_the_weights_of_the_report() {
	busy_recording
	exports -o build.otlp
	decode build.otlp
	for column in self total; do
		report_weights $column
		otlp_reader weights $column >weights
		has_the_weights weights
	done
}

# posts FILE [OPTION…]: to the receiver at $address, which takes it
posts() {
	request=$1
	shift
	curl -sS --noproxy '*' -o answer -w '%{http_code}' -H 'Content-Type: application/x-protobuf' "$@" \
		--data-binary "@$request" "http://$address/v1development/profiles" >code
	[ "$(cat code)" = 200 ] || fail "status $(cat code): $(cat answer)"
}

# received_weights self|total: of the last request in ./received
received_weights() {
	awk -v column="$1" '
		$1 == "request" { split("", weights) }
		$1 == "profile" { all = $NF }
		$1 == "function" {
			weight = column == "self" ? $2 : $3
			sub(/^function [0-9]+ [0-9]+ /, "")
			weights[$0] = weight
		}
		END {
			for (name in weights)
				# rounded as the report does it, halves up
				printf "%s\t%.2f\n", name, int(10000 * weights[name] / all + 0.5) / 100
		}' received
}

it_is_taken_by_the_receiver_of_the_collector() {
	receiver=$sources/../../build/collector/otlp_receiver
	[ -x "$receiver" ] || skip "no receiver in build/collector, see tools/fetch-collector"
	needs curl
	busy_recording
	exports -o build.otlp
	# it ends when nobody can write to its input any more
	mkfifo input
	spawn sh -c 'exec "$1" <input >received' sh "$receiver"
	exec 8>input
	eventually grep -q '^listening' received
	address=$(sed -n 's/^listening //p' received)
	posts build.otlp
	exports -o build.otlp.gz
	posts build.otlp.gz -H 'Content-Encoding: gzip'
	exec 8>&-
	wait "$pid" || fail "exit status $? of the receiver"
	grep -q '^end 2$' received
	for column in self total; do
		report_weights $column
		received_weights $column >weights
		has_the_weights weights
	done
}

it_says_what_is_known_of_samples() {
	record -e cpu-clock -F 2500 "$(program threads)"
	exports --format otlp -o request
	facts request
	# those of a clock count for a period each
	has_facts 'profile cpu-clock samples count cpu nanoseconds 400000 [1-9][0-9]* [1-9][0-9]* [0-9]* [0-9]*' \
		"resource host.name $(uname -n)" 'resource service.name .*'
	"$bobbin" script -q -F comm,tid,pid | awk 'NF { print $2 }' | sort >ids
	[ "$(awk '$1 == "profile" { print $NF }' facts)" -eq "$(grep -c . ids)" ]
	uniq -c ids | while read -r count id; do
		[ "$(count_of thread.id "${id#*/}")" -eq "$count" ] || fail "thread $id: not $count: $(cat facts)"
		[ "$(count_of process.pid "${id%/*}")" -ge "$count" ]
	done
	has_facts 'sample thread.name threads [0-9]*'
}

it_keeps_reasons_sources_and_build_ids() {
	busy_recording
	exports -o build.otlp.pb
	facts build.otlp.pb
	for reason in OUTERMOST $(reasons | grep -v -x NO_USER | sort -u); do
		[ "$(count_of bobbin.stack_end "$reason")" -eq "$(reasons | grep -c -x "$reason")" ] ||
			fail "$reason: $(grep stack_end facts)"
	done
	has_facts 'sample bobbin.unwound_by .*\.eh_frame.*' 'location native main:[0-9]*' 'location kernel .*'
	cc1=$(realpath "$(gcc -print-prog-name=cc1)")
	has_facts "mapping $cc1 $(readelf -n "$cc1" | sed -n 's/.*Build ID: //p')" 'sample thread.name cc1 [0-9]*'
}

it_keeps_lines_and_inlined_functions() {
	record -F 2500 "$(program_as lined chain -g)" 500
	exports -o chain.otlp
	facts chain.otlp
	has_facts 'function spin .*/spin\.h' 'location native spin:[1-9][0-9]*.*'
	cat >inlined.c <<-END
		#include "$sources/spin.h"
		static inline __attribute__((always_inline)) void inner(long ms)
		{
			spin(ms);
			NO_TAIL_CALL();
		}
		NOINLINE void outer(long ms)
		{
			inner(ms);
			NO_TAIL_CALL();
		}
		int main(void)
		{
			outer(500);
			return 0;
		}
	END
	gcc -O2 -g -o inlined inlined.c
	record -F 2500 ./inlined
	exports -o inlined.otlp
	facts inlined.otlp
	has_facts 'location native inner:4 < outer:9'
}

it_has_a_profile_for_each_event() {
	needs_root
	expect 0 "$bobbin" record --off-cpu -e cpu-clock -F 2500 -- sh -c \
		'"$1" share; "$1" sleep' sh "$(program waits -D_GNU_SOURCE)"
	exports -o waits.otlp
	facts waits.otlp
	grep '^profile ' facts
	[ "$(grep -c '^profile ' facts)" -ge 2 ]
	# back ends know waits by their type, and that there is no period
	has_facts 'profile cpu-clock samples count cpu nanoseconds 400000 .*' \
		'profile offcpu-time off_cpu nanoseconds none none 0 .*'
	waited=$("$bobbin" script --event offcpu-time -F period | awk 'NF { s += $1 } END { printf "%.0f", s }')
	has_facts "profile offcpu-time .* $waited"
	"$bobbin" report -q -g none --sort sym --full --event offcpu-time >report
	awk '$NF == "sleeps_long" { sub(/%/, "", $1); print "sleeps_long\t" $1 }' report >ten
	[ -s ten ] || fail "no sleeps_long: $(cat report)"
	otlp_reader weights total offcpu-time >weights
	has_the_weights weights
}

it_has_weights_where_samples_are_no_periods() {
	record -e page-faults -c 1 "$(program chain)" 100
	exports -o faults.otlp
	facts faults.otlp
	has_facts "profile page-faults page-faults count page-faults count 1 .* $("$bobbin" script -q -F tid | grep -c .)"
}

it_compresses_what_is_called_gz() {
	busy_recording
	exports -o build.otlp.pb.gz
	exports -o build.otlp
	gzip -dc build.otlp.pb.gz >unpacked
	for request in unpacked build.otlp; do
		facts $request
		mv facts facts.$request
		# all but the ID
		grep -v profile_id: decoded >decoded.$request
		grep profile_id: decoded >>ids
	done
	cmp facts.unpacked facts.build.otlp
	cmp decoded.unpacked decoded.build.otlp
	[ "$(sort -u ids | wc -l)" -eq "$(wc -l <ids)" ]
}

it_is_a_request_without_samples_too() {
	record -e cpu-clock:u -c 1000000000 true
	exports -o none.otlp
	facts none.otlp
	has_facts 'profile cpu-clock:u samples count cpu nanoseconds 1000000000 0 0 0 0' \
		'resource service.name unknown_service'
}

it_is_read_whatever_the_names_are() {
	nasty_recording
	exports -o nasty.otlp
	facts nasty.otlp
	has_facts 'function n"\\</script>.*F0RG.*'
	none -P '[\x00-\x09\x0b-\x1f\x7f]' <facts
	iconv -f UTF-8 -t UTF-8 facts >/dev/null
}

it_is_read_however_long_a_name_is() {
	long_recording
	exports -o long.otlp
	decode long.otlp
	otlp_reader weights total >weights
	grep -q 'f\{10000\}' weights || fail "no long name: $(cut -c 1-80 weights)"
}

it_is_nothing_for_a_terminal() {
	busy_recording
	needs script
	script -q -e -c "'$bobbin' export --format otlp" /dev/null >out 2>&1 </dev/null && fail "written"
	grep -q 'not for a terminal' out || fail "$(head -c 300 out)"
}

run_cases
