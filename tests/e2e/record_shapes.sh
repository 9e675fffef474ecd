#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Stacks and files of unusual shapes.
. "$(dirname "$0")/lib.sh"

needs_large_copies() {
	[ "$(id -u)" -eq 0 ] || skip "needs root, others may lock too little memory for large copies"
}

it_passes_through_a_signal_handler() {
	record "$(program handler)" 400
	stacks | some ' spin on_alarm [^ ]* interrupted main ' 200
	stacks | grep ' on_alarm ' | mostly 99 ' on_alarm [^ ]* interrupted main '
	complete
}

it_unwinds_from_the_vdso() {
	record "$(program clock)" 500
	stacks | some ': .*clock_gettime.* ask main ' 200
	frames | grep '(\[vdso\])' | mostly 100 '\[\.eh_frame\]$'
	complete
}

it_unwinds_from_plt_stubs() {
	program_as libplugin.so plugin -shared -fPIC >/dev/null
	for flags in -fcf-protection=full -fcf-protection=none '-fcf-protection=none -Wl,-z,now'; do
		# each of them one sample of several hundred, by the processor
		record -F 5000 "$(program_as "stubs$(echo "$flags" | tr -d ' ,')" stubs $flags -fplt \
			-L "$work/bin" -lplugin -Wl,-rpath,"$work/bin")" 1000
		stacks | some ': nothing@plt call_stubs main ' 3
		stacks | some ': nothing call_stubs main ' 3
		complete
	done
}

it_keeps_both_ends_of_a_deep_stack() {
	needs_large_copies
	record "$(program deep)" 300 2000
	complete
	grep -q ' have more than 1024 frames' err
	"$bobbin" script -F ip,sym,dso | some ' \[unknown\] (9[0-9][0-9] frames left out)$' 100
	stacks | some ' main __libc_start_call_main ' 100
	quietly "$bobbin" report --full
	grep -q ' \[frames left out\]$' out
	quietly "$bobbin" flamegraph
}

it_keeps_as_many_frames_as_it_is_told_to() {
	needs_large_copies
	record --max-stack 40 "$(program deep)" 300 900
	complete
	# the kernel's part, and the mark
	chain_lengths | some '^\(4[0-9]\|[5-9][0-9]\)$' 100
	chain_lengths | none '^[1-9][0-9][0-9]'
	stacks | some ' main __libc_start_call_main ' 100
	record --max-stack 2 "$(program chain)" 100
	stacks | some ' spin \[unknown\] _start $' 50
}

it_records_a_recursion_in_little_room() {
	needs_large_copies
	record "$(program deep)" 300 900
	samples=$("$bobbin" script -F tid | grep -c .)
	[ "$(stat -c %s perf.data)" -lt $((20000 + 1000 * samples)) ] || fail "$(ls -l perf.data)"
}

it_sees_a_recursion_within_the_limit_whole() {
	needs_large_copies
	record "$(program deep)" 300 900
	complete
	chain_lengths | some '^90[5-9]$' 100
}

it_says_where_the_copy_of_a_stack_ended() {
	record --no-bpf "$(program roomy)" 300 204800
	reasons | grep -v -x NO_USER | mostly 90 '^STACK_END$'
	grep -q 'ended early: the copy of the stack ends here' err
	stacks | some ' spin inside take_room ' 100
	quietly "$bobbin" report
	grep -q 'the copy of the stack ends here' out
}

it_says_that_the_stack_has_a_hole() {
	record --no-bpf "$(program roomy)" 300 30000 empty
	reasons | grep -v -x NO_USER | mostly 90 '^STACK_HOLE$'
	grep -q 'ended early: the copy of the stack ends at a page that is not in memory' err
	stacks | some ' spin inside take_room $' 100
}

# What the kernel finds by frame pointers: the C library's functions keep none
it_passes_the_end_of_the_copy_by_frame_pointers() {
	framed=$(program_as framed_roomy roomy -O0 -fno-omit-frame-pointer)
	record --no-bpf "$framed" 200 204800
	stacks | mostly 90 ' spin inside take_room main __libc_start_call_main $'
	record --no-bpf "$framed" 200 30000 empty
	stacks | mostly 90 ' spin inside take_room main __libc_start_call_main $'
}

it_looks_at_less_of_the_stack_if_told_to() {
	needs_large_copies
	record --no-bpf --stack-size 65528 "$(program roomy)" 200 30000
	complete
	record --no-bpf --stack-size 16384 "$(program roomy)" 200 30000
	reasons | grep -v -x NO_USER | mostly 90 '^STACK_END$'
}

it_unwinds_static_programs() {
	record "$(program_as static chain -static)" 300
	stacks | mostly 90 ' spin c b a main '
	complete
	record "$(program_as static-pie chain -static-pie)" 300
	stacks | mostly 90 ' spin c b a main '
	complete
}

it_unwinds_programs_at_fixed_addresses() {
	record "$(program_as fixed chain -no-pie)" 300
	stacks | mostly 90 ' spin c b a main '
	complete
}

it_tells_functions_of_stripped_programs_apart() {
	strip -o stripped "$(program chain)"
	# most of it after the start, which takes long beside others
	record ./stripped 2000
	complete
	frames | grep '/stripped)' | mostly 99 '^stripped+0x[0-9a-f]* (.*) \[\.eh_frame\]$'
	[ "$(stacks | tr ' ' '\n' | grep '^stripped+' | sort | uniq -c | awk '$1 > 200' | wc -l)" -eq 6 ]
	chain_lengths | mostly 90 '^8$'
}

it_names_stripped_programs_by_their_debug_files() {
	cp "$(program_as debuggable chain -g)" ./split
	id=$(readelf -n split | sed -n 's/.*Build ID: //p')
	dir=debug/.build-id/$(echo "$id" | cut -c 1-2)
	mkdir -p "$dir"
	objcopy --only-keep-debug split "$dir/$(echo "$id" | cut -c 3-).debug"
	strip split
	record ./split 300
	stacks | none ' c b a main '
	stacks --debug-path debug | mostly 90 ' spin c b a main '
}

it_shows_inlined_functions() {
	record "$(program_as inlined chain -g '-DNOINLINE=__attribute__((always_inline)) inline')" 300
	"$bobbin" script -F ip,sym,dso | some ' main+0x[0-9a-f]* (.*/inlined)' 100
	for function in spin c b a; do
		"$bobbin" script -F ip,sym,dso | some " $function (inlined)" 100
	done
	quietly "$bobbin" report --stdio
	grep -q ' a (inlined)' out
}

it_walks_by_what_the_code_does_without_tables() {
	program_as bare chain -fno-asynchronous-unwind-tables >/dev/null
	record --no-code "$work/bin/bare" 300
	complete
	frames | grep -E '^(a|b|c) ' | mostly 99 '\[code at the PC\]'
	stacks | mostly 90 ': .*c b a main '
}

run_cases
