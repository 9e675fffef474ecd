# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=sh
#
# profiler_cli.sh - what the Firefox Profiler's own reader makes of an export, after lib.sh and weights.sh.

viewers=$sources/../../build/viewers
export PROFILER_CLI_SESSION_DIR="$work" PROFILER_CLI_NO_SYMBOLICATE=1

# viewer ARGUMENT…: the Firefox Profiler's command
viewer() {
	"$viewers/node/node" \
		"$viewers/profiler-cli/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js" "$@"
}

# loads FILE: the viewer has it, until the case ends
loads() {
	[ -e "$viewers/node" ] && [ -e "$viewers/profiler-cli" ] ||
		skip "no profiler-cli in build/viewers, see tools/fetch-viewers"
	needs python3
	session=$((${session:-0} + 1))
	rm -f functions-*
	spawn "$viewers/node/node" \
		"$viewers/profiler-cli/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js" \
		--daemon "$PWD/$1" --session "$$-$session"
	for _ in $(seq 600); do
		! asks_viewer list thread list --limit 0 || return 0
		kill -0 "$pid" || fail "the viewer has ended: $(cat "$work/$$-$session.log")"
		sleep 0.1
	done
	fail "the viewer does not load $1: $(cat viewer.err)"
}

# asks_viewer FILE COMMAND…: what it answers, as JSON in FILE
asks_viewer() {
	answer=$1
	shift
	viewer "$@" --json --session "$$-$session" >"$answer" 2>viewer.err
}

# threads: their handles, a line each
threads() {
	python3 -c 'import json; [print(t["threadHandle"]) for t in json.load(open("list"))["threads"]]'
}

# viewer_weights total|self [merged]: of the functions of all threads, by their names.  Merged threads are one
# question, where there are many; samples are counted then.
viewer_weights() {
	asked=0 between='\n'
	[ "${2:-}" != merged ] || between=,
	for thread in $(threads | paste -s -d "$between"); do
		asked=$((asked + 1))
		[ -e functions-$asked ] || asks_viewer functions-$asked thread functions --thread "$thread" --limit 0 ||
			fail "no functions of $thread: $(cat viewer.err)"
	done
	python3 - "$1" <<-'END'
		import collections, glob, json, sys
		weights, all = collections.Counter(), 0
		for name in glob.glob("functions-*"):
		    for f in json.load(open(name))["functions"]:
		        weights[f["name"]] += f[sys.argv[1] + "Samples"]
		        all += f["selfSamples"]
		for name, weight in weights.items():
		    print(f"{name}\t{100 * weight / all:.2f}")
	END
}
