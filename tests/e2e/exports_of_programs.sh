#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Recordings of programs that people profile have the same weights in all viewers as in the report.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/weights.sh"
. "$(dirname "$0")/pprof.sh"
. "$(dirname "$0")/callgrind.sh"
. "$(dirname "$0")/speedscope.sh"
. "$(dirname "$0")/profiler_cli.sh"
. "$(dirname "$0")/otlp.sh"

# in_all_viewers PATTERN [merged]: with "merged" only what functions weigh alone, since callers of the same name, in other
# files of a large program, would count twice; each has a function of that name, and the ten heaviest of ./perf.data weigh there what they
# do in the report
in_all_viewers() {
	[ "$("$bobbin" script -q -F tid | grep -c .)" -ge 200 ] || fail "few samples: $(cat err)"
	for name in it.pb.gz callgrind.out.it it.speedscope.json it.profile.json it.trace.json it.otlp; do
		exports -o $name
	done
	loads it.profile.json
	decode it.otlp
	for name in speedscope trace; do
		speedscope it.$name.json
		mv view $name.view
	done
	columns='self total'
	[ "${2:-}" != merged ] || columns=self
	for column in $columns; do
		report_weights $column
		pprof_weights $column it.pb.gz -sample_index=cpu >pprof.weights
		callgrind_weights $column callgrind.out.it >callgrind.weights
		viewer_weights $column ${2:-} >firefox.weights
		otlp_reader weights $column >otlp.weights
		for name in speedscope trace; do
			ln -sf $name.view view
			speedscope_weights $column >$name.weights
		done
		for viewer in pprof callgrind firefox otlp speedscope trace; do
			has_the_weights $viewer.weights
		done
	done
	# the last are those of all functions that were active
	for viewer in pprof callgrind firefox otlp speedscope trace; do
		grep -q -e "$1" $viewer.weights
	done
}

it_shows_a_compiler() {
	busy_recording
	in_all_viewers '^execute_one_pass'
}

it_shows_node() {
	needs node
	cat >work.js <<-'END'
		function add(map, n) { for (let i = 0; i < n; i++) map.set('n' + i * 7919 % 1009, { i, half: [i / 2] }); }
		function work() {
			const map = new Map();
			add(map, 20000);
			return JSON.stringify([...map].sort()).replace(/n(\d)/g, '<$1>').length;
		}
		const end = process.cpuUsage().user + 2e6;
		while (process.cpuUsage().user < end) work();
	END
	record -F 499 node --perf-basic-prof work.js
	rm -f perf-*.map
	in_all_viewers 'add .*/work\.js'
}

it_shows_java() {
	needs java
	cat >Work.java <<-'END'
		import java.util.*;
		import java.util.stream.*;
		class Work {
			static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
			public static void main(String[] args) {
				for (long end = System.nanoTime() + 4_000_000_000L; System.nanoTime() < end; fib(25))
					IntStream.range(0, 9000).mapToObj(i -> "n" + i * 7919 % 1009)
						.collect(Collectors.groupingBy(String::length));
			}
		}
	END
	record -F 499 java -XX:-UsePerfData Work.java
	in_all_viewers '^Work\.'
}

it_shows_a_program_of_go() {
	. "$sources/go_programs.sh"
	version=$(find "$versions" -maxdepth 1 -name 'go-*' -printf '%f\n' 2>/dev/null | sort -V | tail -n 1)
	[ -x "$versions/$version/bin/gofmt" ] || skip "no Go in build/toolchain"
	find -L "$versions/$version/src/runtime" -name '*.go' >files
	# shellcheck disable=SC2046 # many words
	record -F 999 "$versions/$version/bin/gofmt" -l $(cat files)
	in_all_viewers '^go/parser\.'
}

it_shows_postgres() {
	bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
	needs "$bin/postgres" "$bin/pgbench" setpriv
	# it does not run as root
	needs_root
	mkdir -m 700 db
	chmod 711 "$work" .
	chown 65534:65534 db
	cat >work.sql <<-'END'
		select count(*), max(x.s) from (select i, md5(i::text) s from generate_series(1, 20000) i) x
			join (select i * 7 % 1009 i from generate_series(1, 3000) i) y using (i) where x.s ~ 'a+b';
		select jsonb_agg(to_jsonb(t)) from pg_type t;
	END
	as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
	# shellcheck disable=SC2086 # a list of words
	$as_nobody "$bin/initdb" -A trust -U bench -D "$PWD/db" --no-sync >initdb.out
	# shellcheck disable=SC2086
	spawn $as_nobody "$bin/postgres" -D "$PWD/db" -k "$PWD/db" -c listen_addresses= -c fsync=off
	eventually "$bin/pg_isready" -h "$PWD/db"
	record -F 499 -p "$pid" -- "$bin/pgbench" -h "$PWD/db" -U bench -f work.sql -n -c 2 -t 60 postgres
	in_all_viewers '^PortalRun'
}

it_shows_the_whole_machine() {
	needs_root
	# all its samples weigh the same
	record -a -e cpu-clock -F 499 -- gcc -O2 -c -o /dev/null -I "$sources/../../src" -I "$sources/../../include" \
		"$sources/../../src/export/profile.c"
	in_all_viewers '^_int_malloc' merged
}

run_cases
