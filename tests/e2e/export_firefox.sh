#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The Firefox Profiler reads recordings, and functions weigh there what they do in the report.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/weights.sh"
. "$(dirname "$0")/profiler_cli.sh"

# holds FILE EXPRESSION: true for the JSON in FILE, where rows(table) are the rows of a table
holds() {
	python3 - "$1" "$2" <<-'END' || fail "not true of $1: $2"
		import json, sys
		profile = json.load(open(sys.argv[1]))
		shared, threads, meta = profile["shared"], profile["threads"], profile["meta"]
		strings = shared["stringArray"]
		def rows(table):
		    keys = [key for key in table if isinstance(table[key], list)]
		    assert all(len(table[key]) == table["length"] for key in keys), table.keys()
		    return [dict(zip(keys, row)) for row in zip(*(table[key] for key in keys))]
		for table in shared.values():
		    if isinstance(table, dict):
		        rows(table)
		markers = [dict(m, name=strings[m["name"]], thread=t) for t in threads for m in rows(t["markers"])]
		samples = [dict(s, thread=t) for t in threads for s in rows(t["samples"])]
		frames = rows(shared["frameTable"])
		functions = rows(shared["funcTable"])
		sys.exit(not eval(f"({sys.argv[2]})"))
	END
}

it_has_the_weights_of_the_report() {
	busy_recording
	exports -o build.profile.json
	loads build.profile.json
	for column in self total; do
		report_weights $column
		viewer_weights $column >weights
		has_the_weights weights
	done
}

it_has_each_sample() {
	busy_recording
	exports -o build.firefox.json
	"$bobbin" script -q -F tid >script
	holds build.firefox.json "len(samples) == $(grep -c . script)"
	holds build.firefox.json "meta['preprocessedProfileVersion'] == 66"
	holds build.firefox.json "all(t['samples']['weightType'] == 'tracing-ms' for t in threads)"
	holds build.firefox.json "all(s['stack'] is None or s['stack'] < shared['stackTable']['length'] for s in samples)"
	# weights are nanoseconds in the report
	total=$("$bobbin" report -q -g none | sed -n 's/^# Event count (approx.): //p')
	holds build.firefox.json "abs(sum(s['weight'] for s in samples) - $total / 1e6) < 1e-3"
	# one main thread each, with the name that it had in the end
	holds build.firefox.json "{t['name'] for t in threads if t['isMainThread']} >= {'gcc', 'cc1', 'as'}"
	holds build.firefox.json "len({t['pid'] for t in threads}) == sum(t['isMainThread'] for t in threads)"
}

it_keeps_reasons_and_sources() {
	busy_recording
	exports -o build.profile.json
	reasons | sort | uniq -c | awk '$2 && $2 != "NO_USER" { print $2, $1 }' >told
	while read -r reason count; do
		holds build.profile.json \
			"sum(m['data']['samples'] for m in markers if m['name'] == 'stack_end $reason') == $count"
	done <told
	grep -q '^OUTERMOST ' told
	loads build.profile.json
	asks_viewer markers thread markers --thread t-1 --list
	handle=$(sed -n 's/.*"handle": "\(m-[0-9]*\)".*/\1/p' markers | head -n 1)
	asks_viewer marker marker info "$handle"
	grep -q '"name": "stack_end OUTERMOST"' marker
	grep -q '"value": ".*\.eh_frame' marker
}

it_knows_the_files_of_code() {
	busy_recording
	exports -o build.profile.json
	cc1=$(gcc -print-prog-name=cc1)
	id=$(readelf -n "$cc1" | sed -n 's/.*Build ID: //p')
	[ -n "$id" ]
	holds build.profile.json "'$id' in [l['codeId'] for l in profile['libs'] if l['debugName'] == 'cc1']"
	# a GUID of the first sixteen bytes, and an age
	holds build.profile.json "all(l['codeId'] is None or len(l['breakpadId']) == 33 for l in profile['libs'])"
	size=$(stat -L -c %s "$cc1")
	holds build.profile.json "all(-1 <= f['address'] < 1e9 for f in frames)"
	holds build.profile.json "0 < max(f['address'] for f in frames if strings[rows(shared['resourceTable'])[
		functions[f['func']]['resource']]['name']] == 'cc1') < $size"
}

it_has_a_thread_for_each() {
	record -F 2500 "$(program threads)" 300
	exports -o threads.profile.json
	loads threads.profile.json
	[ "$(threads | wc -l)" -eq 3 ]
	for function in first second in_main; do
		for thread in $(threads); do
			asks_viewer functions thread functions --thread "$thread" --limit 0
			! grep -q "\"name\": \"$function\"" functions || echo "$function"
		done >found
		[ "$(wc -l <found)" -eq 1 ] || fail "$function is in $(wc -l <found) threads"
	done
	holds threads.profile.json "[t['isMainThread'] for t in threads] == [True, False, False]"
	holds threads.profile.json "len({t['pid'] for t in threads}) == 1 and len({t['tid'] for t in threads}) == 3"
}

it_keeps_lines_and_inlined_functions() {
	record -F 2500 "$(program_as lined chain -g)" 500
	exports -o chain.profile.json
	loads chain.profile.json
	asks_viewer functions thread functions --thread t-0 --search spin --limit 0
	handle=$(sed -n 's/.*"functionHandle": "\(f-[0-9]*\)".*/\1/p' functions | head -n 1)
	asks_viewer lines function annotate "$handle" --mode src
	grep -q 'spin\.h' lines || fail "no source: $(cat lines)"
	# most of the time is that of lines
	python3 - <<-'END'
		import json, sys
		told = json.load(open("lines"))["srcAnnotation"]
		sys.exit(not told["samplesWithLineInfo"] > 0.9 * told["samplesWithFunction"])
	END
	holds chain.profile.json "any(f['inlineDepth'] and f['line'] for f in frames)"
	# the outermost one of an address is not inlined
	holds chain.profile.json "{f['address'] for f in frames} == {f['address'] for f in frames if not f['inlineDepth']}"
}

it_keeps_further_events() {
	record -e cpu-clock,page-faults "$(program threads)" 300
	exports -o events.profile.json
	loads events.profile.json
	holds events.profile.json "any(t['name'].endswith('(page-faults)') and not t['isMainThread'] and
		t['samples']['weightType'] == 'samples' for t in threads)"
	"$bobbin" script -q -F tid >script
	holds events.profile.json "len(samples) == $(grep -c . script)"
	report_events
}

# each event weighs what it does in the report
report_events() {
	for event in cpu-clock page-faults; do
		"$bobbin" report -q -g none --event $event | sed -n 's/^# Event count (approx.): //p' >count
		unit=1
		[ $event != cpu-clock ] || unit=1e6
		holds events.profile.json "abs(sum(s['weight'] for s in samples
			if s['thread']['name'].endswith('(page-faults)') == ('$event' == 'page-faults')) -
			$(cat count) / $unit) < 1e-3"
	done
}

it_reads_hostile_names() {
	nasty_recording
	exports -o nasty.profile.json
	report_weights self | head -n 1 >first
	loads nasty.profile.json
	viewer_weights self >weights
	grep -q 'F0RG' weights
	mv first ten
	has_the_weights weights
	holds nasty.profile.json "all(c.isprintable() for s in strings + [t['name'] for t in threads] for c in s)"
}

it_reads_long_names() {
	long_recording
	exports -o long.profile.json
	loads long.profile.json
	viewer_weights total >weights
	grep -q fffffffffffffff weights
	holds long.profile.json "any(len(s) > 16000 and set(s) == {'f'} for s in strings)"
}

it_reads_a_recording_without_samples() {
	record -e page-faults -c 1000000000 true
	exports -o empty.profile.json
	loads empty.profile.json
	[ "$(threads | wc -l)" -eq 1 ]
	holds empty.profile.json "not samples and not markers"
	asks_viewer functions thread functions --thread t-0 || fail "no functions: $(cat viewer.err)"
}

it_is_the_same_when_compressed() {
	busy_recording
	exports -o build.profile.json.gz
	"$bobbin" export -q --format firefox >plain
	gzip -dc build.profile.json.gz | cmp - plain
	loads build.profile.json.gz
	[ "$(threads | wc -l)" -ge 3 ]
}

it_says_where_functions_are() {
	needs python3 nm
	file=$(program chain)
	record -F 2500 "$file" 300
	exports -o chain.profile.json
	nm -S "$file" >symbols
	python3 - <<-'END' || fail "native symbols: $(cat err)"
		import json
		profile = json.load(open("chain.profile.json"))
		shared = profile["shared"]
		strings, native, frames = shared["stringArray"], shared["nativeSymbols"], shared["frameTable"]
		known = {}
		for line in open("symbols"):
		    words = line.split()
		    if len(words) == 4:
		        known[words[3]] = int(words[0], 16), int(words[1], 16)
		own = [i for i, lib in enumerate(native["libIndex"]) if profile["libs"][lib]["name"] == "chain"]
		told = {strings[native["name"][i]]: (native["address"][i], native["functionSize"][i]) for i in own}
		for name in "main", "a", "b", "c", "spin":
		    # sections of a position-independent program are in the file as they are in memory
		    assert told[name] == known[name], (name, told, known)
		for symbol, address in zip(frames["nativeSymbol"], frames["address"]):
		    if symbol in own and native["functionSize"][symbol]:
		        past = address - native["address"][symbol]
		        assert 0 <= past < native["functionSize"][symbol], (address, symbol)
	END
	# none of what is in no file
	python3 -c '
import json
shared = json.load(open("chain.profile.json"))["shared"]
frames = shared["frameTable"]
assert all((symbol is None) or address >= 0 for symbol, address in zip(frames["nativeSymbol"], frames["address"]))'
}

it_shows_the_instructions_of_functions() {
	readers=$sources/../../build/readers
	[ -x "$readers/samply/samply" ] || skip "no samply in build/readers, see tools/fetch-readers"
	record -F 2500 "$(program chain)" 500
	exports -o chain.profile.json
	loads chain.profile.json
	asks_viewer functions thread functions --thread t-0 --search spin --limit 0
	handle=$(sed -n 's/.*"functionHandle": "\(f-[0-9]*\)".*/\1/p' functions | head -n 1)
	# samply finds the code of a function, by its library and address
	spawn "$readers/samply/samply" load -n chain.profile.json >served 2>&1
	eventually grep -q symbolServer served
	url=$(sed -n 's/.*symbolServer=//p' served | sed 's/%3A/:/g; s/%2F/\//g')
	asks_viewer code function annotate "$handle" --mode asm --symbol-server "$url"
	python3 - <<-'END' || fail "other instructions: $(head -c 2000 code)"
		import json
		told = json.load(open("code"))
		[code] = told["asmAnnotations"]
		assert code["instructions"], told
		all_samples = sum(line.get("selfSamples") or 0 for line in code["instructions"])
		assert all_samples >= 100, told
	END
}

run_cases
