#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What files' tables hold, in words and as JSON.
. "$(dirname "$0")/lib.sh"

lib=/usr/lib/$(uname -m)-linux-gnu

# stat_of ARGUMENT…: it succeeds, in silence
stat_of() {
	quietly "$bobbin" sframe stat "$@"
}

it_tells_what_there_is_and_what_could_be() {
	cp /bin/ls program
	stat_of program
	grep -qx 'program:' out
	grep -q '^  text  *[0-9]* bytes$' out
	grep -q '^  CFI  *[0-9]* bytes, [0-9]* functions, [0-9]* rows$' out
	grep -q '^  \.sframe  *none$' out
	grep -q '^  converted  *[0-9]* bytes, [0-9]* functions, [0-9]* rows, .* of the text, ' out
	none '^total' <out
	"$bobbin" sframe convert -q --in-place program
	stat_of program
	grep -q '^  \.sframe V3  *[0-9]* bytes, ' out
	sed -n 's/^  \.sframe V3  *//p' out >there
	sed -n 's/^  converted  *//p' out | cmp - there
}

it_tells_the_same_as_json() {
	needs python3
	cp /bin/ls program
	"$bobbin" sframe convert -q program -o converted
	size=$("$bobbin" sframe convert -q --section-only program -o - | wc -c)
	stat_of --json program converted
	asks '[f["file"] for f in files] == ["program", "converted"]'
	asks 'files[0]["sframe"]["sections"] == 0 and "version" not in files[0]'
	asks 'files[1]["version"] == 3 and files[1]["sframe"] == files[1]["converted"]'
	asks 'files[0]["converted"] == files[1]["converted"]'
	asks 'all(f["cfi_functions"] > 10 and f["cfi_rows"] > f["cfi_functions"] for f in files)'
	asks 'all(0 < f["converted"]["text_covered"] <= f["text"] for f in files)'
	asks "files[0]['converted']['bytes'] == $size"
}

it_adds_up() {
	needs python3
	stat_of --json "$lib/libc.so.6" /bin/ls "$lib/libcrypto.so.3"
	asks 'all(total[k] == sum(f[k] for f in files) for k in
	          ("text", "cfi_bytes", "cfi_functions", "cfi_rows",
	           "lost_rows", "lost_text", "lost_functions"))'
	asks 'all(total["converted"][k] == sum(f["converted"][k] for f in files)
	          for k in files[0]["converted"])'
	asks 'all(sum(f["lost_by_reason"].values()) == f["lost_rows"] for f in files + [total])'
	stat_of "$lib/libc.so.6" /bin/ls
	[ "$(grep -cx 'total:' out)" -eq 1 ]
}

it_tells_why_rows_are_left_out() {
	needs python3
	stat_of --json "$lib/libcrypto.so.3"
	asks 'files[0]["lost_rows"] > 0 and files[0]["lost_by_reason"].get("SFRAME_RULE", 0) > 0'
	stat_of "$lib/libcrypto.so.3"
	grep -q '^  left out  *[0-9]* rows .*; [0-9]*: ' out
}

it_counts_shared_rows_less() {
	needs python3
	stat_of --json "$lib/libc.so.6"
	alone=$(python3 -c 'import json
print(json.load(open("out"))["total"]["converted"]["bytes"])')
	stat_of --json --share "$lib/libc.so.6"
	asks "total['converted']['bytes'] < $alone"
}

it_reads_files_of_other_architectures() {
	needs python3
	set --
	for file in /usr/aarch64-linux-gnu/lib/libc.so.6 /usr/s390x-linux-gnu/lib/libc.so.6; do
		[ ! -e $file ] || set -- "$@" $file
	done
	[ $# -gt 0 ] || skip "no libraries of other architectures"
	stat_of --json "$@"
	asks 'all(f["converted"]["rows"] > 1000 for f in files)'
}

it_goes_on_after_a_file_that_is_none() {
	needs python3
	echo text >text
	expect 1 "$bobbin" sframe stat --json text missing /bin/ls
	[ "$(grep -c '^bobbin: ' err)" -eq 2 ] || fail "$(cat err)"
	asks '[f["file"] for f in files] == ["/bin/ls"]'
	expect 1 sh -c 'cat /bin/ls | "$0" sframe stat -' "$bobbin"
	complains '-: not a regular file'
	expect 1 "$bobbin" sframe stat /
	complains '/: not a regular file'
	expect 2 "$bobbin" sframe stat
	expect 2 "$bobbin" sframe stat --nonsense /bin/ls
}

run_cases
