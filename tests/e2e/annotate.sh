#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Instructions and lines of functions, with the samples that were taken there.
. "$(dirname "$0")/lib.sh"

# A recording of a program with debug information; made once.
recording() {
	file=$(program_as annotated chain -g)
	[ -e "$work/annotated.data" ] ||
		"$bobbin" record -q -o "$work/annotated.data" "$file" 800
	ln "$work/annotated.data" perf.data
}

# A program of its own, recorded in this folder: ./chain
own_recording() {
	gcc -O2 -fomit-frame-pointer "$@" -o chain "$sources/chain.c"
	"$bobbin" record -q ./chain 400
}

# adds_up: the shares of one function in ./out are all of it
adds_up() {
	awk '/^ *[0-9.]+%/ { sum += $1; n++ } END { print sum, n; exit !n || sum < 100 - n / 100 || sum > 100 + n / 100 }' out
}

# shares OUT: "ADDRESS PERCENT" of the instructions of one function
shares() {
	awk '/^ *[0-9.]+% +[0-9a-f]+  / { print $2, $1 + 0 }' "$1"
}

it_shows_where_a_function_spends_its_time() {
	recording
	quietly "$bobbin" annotate spin
	grep -Eq "^# spin, in annotated: [0-9.]+% of [0-9]+ samples of '" out
	grep -Eq "^# .*/annotated 0x[0-9a-f]+-0x[0-9a-f]+$" out
	grep -Eq '^ +\[ [0-9]+ instructions? \]$' out
	adds_up
	mv out short
	quietly "$bobbin" annotate --full spin
	! grep -q 'instructions\? \]$' out
	adds_up
	# what is shown of less is a part of it
	shares short | sort >a
	shares out | sort >b
	comm -23 a b | none .
	[ "$(wc -l <out)" -gt "$(wc -l <short)" ]
	quietly "$bobbin" annotate --percent-limit 100 spin
	adds_up
}

it_agrees_with_perf() {
	recording
	needs perf objdump
	perf annotate --stdio --asm-raw -i perf.data -s spin 2>/dev/null |
		sed -n 's/^ *\([0-9.]*\) : *\([0-9a-f]*\): .*/\2 \1/p' | awk '$2 > 0 { print $1, $2 + 0 }' | sort >perfs
	[ -s perfs ] || skip "perf annotate shows nothing"
	quietly "$bobbin" annotate --full spin
	shares out | awk '$2 > 0' | sort >ours
	cmp perfs ours
}

it_shows_lines_and_inlined_functions() {
	recording
	quietly "$bobbin" annotate --full spin
	grep -Eq '^ +spin\.h:[0-9]+ .*volatile int i = 0; i < 100000' out
	grep -Eq '^ +thread_ms \(inlined\)  spin\.h:[0-9]+ .*clock_gettime' out
	grep -q 'call [0-9a-f]* <clock_gettime@plt>' out
	quietly "$bobbin" annotate --full --no-inline spin
	! grep -q '(inlined)' out
	# an inlined function is shown where it is
	quietly "$bobbin" annotate thread_ms spin
	grep -q '^# spin, in annotated' out
	[ "$(grep -c '^# spin' out)" -eq 1 ]
}

it_needs_neither_lines_nor_sources() {
	own_recording
	quietly "$bobbin" annotate spin
	! grep -q 'spin\.h' out
	adds_up
	mkdir src
	cp "$sources/chain.c" "$sources/spin.h" src
	gcc -g -O2 -o chain src/chain.c
	rm -r src
	"$bobbin" record -q ./chain 300
	quietly "$bobbin" annotate spin
	grep -Eq '^ +spin\.h:[0-9]+$' out
	adds_up
}

it_shows_the_hottest_functions_if_none_is_named() {
	recording
	quietly "$bobbin" annotate
	[ "$(grep -c '^# [^ ]*, in .* samples of' out)" -le 10 ]
	grep '^# [^ ]*, in ' out | head -n 1 | grep -q '^# spin, in annotated'
	grep '^# [^ ]*, in ' out | sed 's/.*: \([0-9.]*\)% of .*/\1/' | sort -rn -c
}

it_says_why_there_are_no_instructions() {
	own_recording
	mv chain before
	gcc -O2 -DOTHER=1 -Wl,--build-id=0x0123456789 -o chain "$sources/chain.c"
	expect 0 "$bobbin" annotate spin
	grep -q '^# No instructions: its file is, or may be, another one by now' out
	adds_up
	rm chain
	expect 0 "$bobbin" annotate spin
	grep -q '^# No instructions: its file is not there any more' out
	grep -Eq '^ +[0-9.]+% +[0-9a-f]+ <spin\+0x[0-9a-f]+>$' out
	adds_up
	# its debug file has names and lines, and no code
	mkdir -p debug/.build-id
	id=$(readelf -n before | sed -n 's/.*Build ID: //p')
	mkdir "debug/.build-id/$(echo "$id" | cut -c 1-2)"
	objcopy --only-keep-debug before "debug/.build-id/$(echo "$id" | cut -c 1-2)/$(echo "$id" | cut -c 3-).debug"
	expect 0 "$bobbin" annotate --debug-path debug spin
	grep -q '^# No instructions: ' out
	adds_up
	mkdir -p "root/$PWD"
	mv before "root/$PWD/chain"
	quietly "$bobbin" annotate --symfs root --debug-path none spin
	grep -q ' mov ' out
}

it_shows_the_kernel_by_address() {
	needs_root
	"$bobbin" record -q dd if=/dev/zero of=/dev/null bs=64k count=20000 2>err
	"$bobbin" script -q -F ip,sym,dso | awk 'NF { print $2, $3; exit }' >first
	quietly "$bobbin" annotate '*'
	grep -q "^# No instructions: the kernel's code is not in a file" out || {
		grep -q kernel out || skip "no samples of the kernel"
		fail "no word of the kernel's code"
	}
}

it_says_that_code_made_at_run_time_is_not_there() {
	[ "$(uname -m)" = x86_64 ] || skip "the program's code is x86-64's"
	"$bobbin" record -q "$(program perf_map)" 200 anon
	expect 0 "$bobbin" annotate made
	forget_map
	grep -q '^# No instructions: code that was made at run time is not in a file$' out
	grep -Eq '^ +[0-9.]+% +[0-9a-f]+ <made(\+0x[0-9a-f]+)?>$' out
	adds_up
}

it_shows_all_functions_of_a_name() {
	# shellcheck disable=SC2016 # it is for the other shell
	"$bobbin" record -q sh -c '"$1" 200; "$2" 200 5' sh "$(program chain)" "$(program deep)"
	quietly "$bobbin" annotate spin
	grep -q '^# spin, in chain: ' out
	grep -q '^# spin, in deep: ' out
	[ "$(grep -c '^# spin, in ' out)" -eq 2 ]
	quietly "$bobbin" annotate --comm deep spin
	[ "$(grep -c '^# spin, in ' out)" -eq 1 ]
}

it_knows_functions_by_both_of_their_names() {
	needs g++
	cat >named.cc <<-'END'
		#include <ctime>
		namespace space {
		template <class T> [[gnu::noipa]] long count(T n) {
			volatile long sum = 0;
			for (T i = 0; i < n; i++)
				sum = sum + i;
			return sum;
		}
		}
		int main() {
			while (clock() < CLOCKS_PER_SEC / 5)
				space::count<long>(100000);
		}
	END
	g++ -O2 -o named named.cc
	"$bobbin" record -q ./named
	for name in 'space::count<long>' _ZN5space5countIlEElT_ 'space::*'; do
		quietly "$bobbin" annotate "$name"
		grep -q '^# space::count<long>, in named: ' out || fail "not by $name: $(head -n 3 out)"
		[ "$(grep -c '^# .*, in named: ' out)" -eq 1 ]
	done
	quietly "$bobbin" annotate --no-demangle _ZN5space5countIlEElT_
	grep -q '^# _ZN5space5countIlEElT_, in named: ' out
}

it_takes_filters_and_patterns() {
	recording
	quietly "$bobbin" annotate 's*n'
	grep -q '^# spin, in annotated' out
	expect 1 "$bobbin" annotate nothing
	complains perf.data 'no samples are in the functions that are named'
	"$bobbin" record -q -e page-faults -c 1000000 -o empty.data true
	expect 0 "$bobbin" annotate -i empty.data
	complains empty.data 'no samples: there is nothing to show'
	expect 1 "$bobbin" annotate --comm nobody spin
	complains perf.data 'no samples are what the options ask for'
	quietly "$bobbin" annotate --time 0%-50% --comm annotated --dso annotated --sym main spin
	half=$(sed -n 's/^# spin, in.* of \([0-9]*\) samples.*/\1/p' out)
	quietly "$bobbin" annotate spin
	[ "$half" -lt "$(sed -n 's/^# spin, in.* of \([0-9]*\) samples.*/\1/p' out)" ]
	expect 2 "$bobbin" annotate --percent-limit 101 spin
}

it_survives_files_that_make_no_sense() {
	own_recording -g
	cp chain good
	size=$(stat -c %s good)
	# the build ID stays, so that they are read
	for seed in $(seq 24); do
		cp good chain
		python3 - "$seed" "$size" <<-'END'
			import random, sys
			seed, size = int(sys.argv[1]), int(sys.argv[2])
			r = random.Random(seed)
			with open("chain", "r+b") as f:
			    image = bytearray(f.read())
			    note = image.find(b"GNU\0", 0x200)
			    for _ in range(40 * seed):
			        at = r.randrange(size if seed % 2 else 0x1400)
			        if not note - 16 <= at < note + 24 and at > 64:
			            image[at] = r.randrange(256)
			    f.seek(0)
			    f.write(image)
		END
		status=0
		"$bobbin" annotate -q --full spin >out 2>err || status=$?
		[ $status -le 1 ] || fail "seed $seed: exit status $status: $(cat err)"
		[ $status -eq 1 ] || adds_up
	done
}

run_cases
