#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# All that runs is sampled all the time: recordings are whole, are sent, and what is lost is counted.
. "$(dirname "$0")/lib.sh"

unset STATE_DIRECTORY NOTIFY_SOCKET http_proxy
for variable in $(env | sed -n 's/^\(OTEL_[A-Z_]*\)=.*/\1/p'); do
	unset "$variable"
done

# agent [OPTION…]: it runs, with recordings in ./kept that end by SIGHUP; $agent
agent() {
	needs_root
	# recordings are of all programs of the machine
	others=1
	spawn "$bobbin" agent -o kept --window 1d --metrics 127.0.0.1:0 -F 99 "$@" 2>agent.err
	agent=$pid
	eventually metrics_at
}

metrics_at() {
	port=$(sed -n 's/^bobbin agent: metrics are at port //p' agent.err)
	[ -n "$port" ]
}

# metrics: ./metrics, as of the last ten seconds
metrics() {
	metrics_at
	python3 -c '
import sys, urllib.request
sys.stdout.buffer.write(urllib.request.urlopen(sys.argv[1]).read())' "http://127.0.0.1:$port/metrics" >metrics
}

# metric NAME: its value
metric() {
	metrics
	awk -v name="bobbin_$1" '$1 == name { printf "%.0f\n", $2 }' metrics | grep .
}

# metric_is NAME VALUE
metric_is() {
	[ "$(metric "$1")" -eq "$2" ]
}

# recordings: in ./kept, oldest first
recordings() {
	find kept -name 'bobbin-*.perf.data' | sort
}

# has_recordings N
has_recordings() {
	[ "$(recordings | wc -l)" -eq "$1" ]
}

# cut N: the present recording ends, and is the N-th; the program $busy has samples in it
cut() {
	works_on "$busy"
	works_on "$busy"
	kill -HUP "$agent"
	eventually metric_is recordings_total "$1"
}

# end_agent: it ends as it should
end_agent() {
	kill -TERM "$agent"
	wait "$agent" || fail "exit status $?: $(cat agent.err)"
}

busy_program() {
	spawn "$(program chain)" 1000000
	busy=$pid
}

# samples_in FILE…: their number
samples_in() {
	for file in "$@"; do
		"$bobbin" script -q -i "$file" -F tid
	done | grep -c .
}

# collector [ANSWER]: it runs in ./received; $collector
collector() {
	mkdir -p received
	[ $# -eq 0 ] || echo "$1" >received/answer
	spawn python3 "$sources/otlp_collector.py" received
	collector=$pid
	eventually test -s received/port
	url=http://127.0.0.1:$(cat received/port)
}

it_makes_recordings_that_are_whole() {
	busy_program
	agent
	cut 1
	cut 2
	end_agent
	has_recordings 3
	for file in $(recordings); do
		[ "$(stat -c %a "$file")" = 600 ]
		cp "$file" perf.data
		stacks --pid "$busy" | mostly 95 ' spin c b a main '
		# each tells of its cgroups
		"$bobbin" script -q --pid "$busy" -F cgroup | grep . | none unknown
		# what has no samples is not there
		"$bobbin" script -q -F pid | awk 'NF { print $1 }' | sort -u >sampled
		! command -v perf >/dev/null || {
			perf script -i "$file" -F tid 2>perf.err | grep -c . >read
			[ "$(cat read)" -eq "$(samples_in "$file")" ] || fail "perf reads other samples: $(cat perf.err)"
			perf script -i "$file" --show-mmap-events -F pid,time 2>/dev/null |
				sed -n 's/.*PERF_RECORD_MMAP2 \([0-9]*\)\/.*/\1/p' | sort -u >mapped
			comm -13 sampled mapped | none .
		}
	done
	# the rest of the last one is what the agent took at its end
	samples=$(samples_in $(recordings))
	[ "$samples" -ge "$(awk '$1 == "bobbin_recorded_samples_total" { print $2 }' metrics)" ]
}

it_knows_processes_that_come_and_go() {
	brief=$(program_as brief chain)
	busy_program
	spawn sh -c "while :; do '$brief' 20; done"
	agent
	cut 1
	cut 2
	end_agent
	for file in $(recordings | head -n 2); do
		cp "$file" perf.data
		stacks --comm brief | grep ' main ' | mostly 95 ' spin c b a main '
	done
}

it_records_waits_if_it_is_asked() {
	busy_program
	spawn sh -c 'while :; do sleep 0.05; done'
	agent --off-cpu
	cut 1
	end_agent
	recordings | head -n 1 | while read -r file; do
		"$bobbin" script -q -i "$file" -F comm,event --comm sleep | some offcpu-time
		"$bobbin" script -q -i "$file" -F comm,event --pid "$busy" | some cpu-clock
	done
}

it_sends_each_recording() {
	busy_program
	collector
	OTEL_EXPORTER_OTLP_ENDPOINT=$url OTEL_SERVICE_NAME='a "name"' agent
	cut 1
	eventually test -e received/request-1
	cut 2
	eventually metric_is sent_recordings_total 2
	eventually metric_is unsent_samples 0
	# shellcheck disable=SC2046 # paths without blanks
	metric_is sent_samples_total "$(samples_in $(recordings))"
	end_agent
	eventually test -e received/request-3
	grep -v -x '200 /v1development/profiles [0-9]*' received/log | none .
	grep -a -q 'a "name"' received/request-1
	grep -a -q 'spin' received/request-2
	has_recordings 3
	[ "$(find kept -name '*.unsent' | wc -l)" -eq 0 ]
}

it_is_taken_by_the_receiver_of_the_collector() {
	receiver=$sources/../../build/collector/otlp_receiver
	[ -x "$receiver" ] || skip "no receiver in build/collector, see tools/fetch-collector"
	busy_program
	# it ends when nobody can write to its input any more
	mkfifo input
	spawn sh -c 'exec "$1" <input >taken' sh "$receiver"
	exec 8>input
	eventually grep -q '^listening' taken
	agent --otlp "http://$(sed -n 's/^listening //p' taken)/v1development/profiles"
	cut 1
	eventually metric_is sent_recordings_total 1
	eventually grep -q '^function [0-9]* [0-9]* spin$' taken
	# its samples are those of all services
	[ "$(sed -n '/^request 2/,$d; s/^profile samples count [0-9]* //p' taken | awk '{ n += $1 } END { print n }')" -ge \
		"$(metric sent_samples_total)" ]
	metric_is refused_samples_total 0
	end_agent
	exec 8>&-
}

it_waits_for_who_receives() {
	busy_program
	printf '503\nRetry-After: 1\n' >busy
	collector "$(cat busy)"
	agent --otlp "$url/p" --keep 0
	cut 1
	eventually metric_is send_failures_total 2
	grep -q '^bobbin agent: profiles cannot be sent now, and wait: HTTP status 503$' agent.err
	kill "$collector"
	cut 2
	cut 3
	[ "$(find kept -name '*.unsent' | wc -l)" -eq 3 ]
	# shellcheck disable=SC2046 # paths without blanks
	samples=$(samples_in $(recordings))
	metric_is unsent_samples "$samples"
	rm received/answer
	collector
	eventually metric_is sent_samples_total "$samples"
	grep -q '^bobbin agent: profiles are sent again$' agent.err
	grep '^200' received/log | awk '$2 != "/p"' | none .
	eventually has_recordings 0
	metric_is dropped_samples_total 0
	end_agent
}

it_sends_what_the_last_agent_could_not() {
	busy_program
	agent --otlp http://127.0.0.1:1/p --keep 0
	cut 1
	end_agent
	has_recordings 2
	collector
	agent --otlp "$url/p" --keep 0
	eventually metric_is sent_recordings_total 2
	eventually has_recordings 0
	end_agent
}

it_counts_what_is_refused() {
	busy_program
	collector 400
	agent --otlp "$url/p"
	cut 1
	eventually metric_is refused_samples_total "$(samples_in $(recordings))"
	grep -q '^bobbin agent: a profile was refused: HTTP status 400$' agent.err
	metric_is unsent_samples 0
	has_recordings 1
	end_agent
}

it_counts_what_makes_room_before_it_is_sent() {
	busy_program
	mkdir kept
	record -o kept/bobbin-20200101T000000Z.perf.data "$(program chain)" 100
	truncate -s 1M kept/bobbin-20200101T000000Z.perf.data
	echo 1234 >kept/bobbin-20200101T000000Z.perf.data.unsent
	agent --otlp http://127.0.0.1:1/p --max-size 1M
	cut 1
	metric_is dropped_samples_total 1234
	has_recordings 1
	[ ! -e kept/bobbin-20200101T000000Z.perf.data.unsent ]
	end_agent
}

# cut_once_more: the present recording ends, and is the first that is kept
cut_once_more() {
	works_on "$busy"
	kill -HUP "$agent"
	works_on "$busy"
	[ "$(metric recordings_total)" -ge 1 ]
}

it_outlives_a_full_disk() {
	needs_root
	needs unshare
	busy_program
	mkdir kept
	spawn unshare -m --propagation private sh -c '
		mount -t tmpfs -o size=8m none kept || exit 99
		head -c 8380416 /dev/zero >kept/other
		exec "$0" agent -o kept --window 1d --metrics 127.0.0.1:0 -F 99 2>agent.err' "$bobbin"
	agent=$pid
	eventually metrics_at
	works_on "$busy"
	kill -HUP "$agent"
	eventually metric_is recordings_failed_total 1
	[ "$(metric unrecorded_samples_total)" -gt 0 ]
	grep -q '^bobbin agent: kept/bobbin-.*: No space left on device: [0-9]* of [0-9]* samples are kept$' agent.err
	rm "/proc/$agent/root$PWD/kept/other"
	# the one that began meanwhile may have failed, too
	eventually cut_once_more
	grep -q '^bobbin agent: recordings are written again$' agent.err
	end_agent
}

it_samples_less_often_where_it_takes_too_much() {
	agent --max-cpu 0.01%
	eventually grep -q '^bobbin agent: 49 samples per second instead of 99: ' agent.err
	eventually metric_is sample_rate_hertz 49
	end_agent
}

# Each program that is sampled has a file open, and there are always more of them
it_begins_anew_after_too_many_files() {
	needs_root
	busy_program
	one=$(program_as one chain -Wl,--build-id=none)
	cat >limited <<-END
		#!/bin/sh
		ulimit -n 700
		exec '$bobbin' "\$@"
	END
	chmod +x limited
	spawn sh -c "i=0; while [ \$i -lt 2000 ]; do cp '$one' one.\$i; ./one.\$i 10; i=\$((i + 1)); done"
	files=$pid
	bobbin=$PWD/limited agent
	eventually metric_is restarts_total 1
	# so that what comes now is one recording, which has the program, too
	kill "$files"
	samples=$(metric samples_total)
	works_on "$busy"
	works_on "$busy"
	eventually more_samples "$samples"
	[ "$(metric open_files)" -lt 700 ]
	end_agent
	for file in $(recordings); do
		cp "$file" perf.data
		stacks --pid "$busy" | mostly 90 ' spin c b a main '
	done
}

# more_samples N
more_samples() {
	[ "$(metric samples_total)" -gt "$1" ]
}

it_tells_its_manager() {
	needs_root
	cat >manager.py <<-'END'
		import socket, sys
		s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		s.bind("socket")
		while True:
		    print(s.recv(4096).decode(), flush=True)
	END
	spawn python3 manager.py >told
	eventually test -S socket
	busy_program
	NOTIFY_SOCKET=$PWD/socket agent
	eventually grep -x READY=1 told
	cut 1
	eventually grep '^STATUS=[0-9]* samples at 99 Hz, ' told
	end_agent
	eventually grep -x STOPPING=1 told
}

it_has_a_folder_for_itself() {
	busy_program
	agent
	expect 1 "$bobbin" agent -o kept
	complains 'kept: another agent has this folder'
	end_agent
}

it_refuses_what_it_cannot_do() {
	for options in '--window 0' '--window 2w' '--keep -1' '--max-size 1K' '--max-cpu 0' '--max-cpu 101%' \
		'-F 0' '--otlp collector:4318' '--metrics here' '--keep 0'; do
		# shellcheck disable=SC2086 # options and their arguments
		expect 2 "$bobbin" agent -o kept $options
		grep -q '^bobbin agent: ' err || fail "$options: $(cat err)"
	done
	OTEL_EXPORTER_OTLP_PROTOCOL=grpc expect 2 "$bobbin" agent -o kept
	grep -q 'OTEL_EXPORTER_OTLP_PROTOCOL is not http/protobuf' err
	expect 1 "$bobbin" agent -o no/where
	complains 'no/where' 'No such file'
	echo >file
	expect 1 "$bobbin" agent -o file
	complains file 'Not a directory'
}

run_cases
