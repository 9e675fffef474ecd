#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Names that outlive the files that had them.
. "$(dirname "$0")/lib.sh"

# recorded [OPTION…]: perf.data of ./chain, which is gone after that
recorded() {
	cp "$(program chain)" chain
	"$bobbin" record -q "$@" ./chain 200
	rm chain
}

it_names_a_program_that_is_gone() {
	recorded
	quietly "$bobbin" report --no-children -g none
	grep -q '\[\.\] spin$' out
	stacks | mostly 95 'spin c b a main '
}

# The program was in a folder that is gone.
it_reads_recordings_of_version_0_1() {
	stacks -i "$sources/recording-0.1.data" >shown
	[ "$(wc -l <shown)" -eq 10 ]
	mostly 100 'spin c b a main __libc_start_call_main __libc_start_main.* _start $' <shown
	"$bobbin" script -F ip,source,reason -i "$sources/recording-0.1.data" >shown
	[ "$(grep -c '^ *OUTERMOST' shown)" -eq 10 ]
	[ "$(grep -c ' \[\.eh_frame\]$' shown)" -eq 80 ]
}

it_does_not_use_another_program_at_the_same_path() {
	recorded
	program_as chain2 family >/dev/null
	cp "$work/bin/chain2" chain
	stacks | mostly 95 'spin c b a main '
	stacks --no-demangle | none in_child
}

# names_in_kernel: of lines of script, those of the kernel's text.  Above it are modules, and programs of
# BPF, others' as well, which may be gone before a recorder asks for their names.
names_in_kernel() {
	awk '$1 ~ /^ffffffff[89ab]/ { print $2 }'
}

# kernel_names FILE: what script calls the frames of the kernel
kernel_names() {
	"$bobbin" script -q -F ip,sym -i "$1" | names_in_kernel
}

# What runs on a machine of another name has another kernel, as far as anybody knows.
on_another_machine() {
	unshare -u sh -c 'hostname another && exec "$@"' sh "$@"
}

it_names_the_kernel_that_was_recorded() {
	needs_root
	needs unshare hostname
	[ "$(uname -m)" = x86_64 ] || skip 'addresses of x86-64'
	recorded
	kernel_names perf.data >here
	on_another_machine "$bobbin" script -q -F ip,sym | names_in_kernel >there
	cmp here there
	mostly 99 '^[^[]' <here
}

it_names_no_kernel_that_was_not_recorded() {
	needs_root
	needs unshare hostname
	[ "$(uname -m)" = x86_64 ] || skip 'addresses of x86-64'
	recorded --no-names
	kernel_names perf.data | mostly 99 '^[^[]'
	on_another_machine "$bobbin" script -q -F ip,sym >there
	names_in_kernel <there | mostly 100 '^\[unknown\]$'
}

it_names_a_program_without_symbols() {
	cp "$(program chain)" chain
	strip chain
	"$bobbin" record -q ./chain 200
	stacks | sort | uniq -c >before
	mv chain elsewhere
	stacks | sort | uniq -c >after
	diff before after
	some 'chain+0x[0-9a-f]* ' 1 <after
	mv elsewhere chain # for the audit of last frames
}

it_tells_functions_in_functions_apart() {
	cp "$(program nested)" nested
	"$bobbin" record -q ./nested 300
	stacks | sort | uniq -c >before
	some ' inner main ' 1 <before
	mv nested elsewhere
	stacks | sort | uniq -c >after
	diff before after
	mv elsewhere nested # for the audit of last frames
}

it_says_what_would_give_names() {
	record "$(program chain)" 300
	none 'no name' <err
	cp "$work/bin/chain" bare
	strip bare
	record ./bare 300
	grep -q "^ *[1-9][0-9.]* % of the frames in files have no name: [0-9.]* % in $PWD/bare" err
	grep -q 'debug symbols have them: packages called -dbgsym' err
	# a stripped program, which has its roots by its entry only
	roots_also='bare+0x[0-9a-f]*'
}

# By what its process has mapped.
it_says_what_compiled_code_needs() {
	[ "$(uname -m)" = x86_64 ] || skip "the code is x86-64's"
	cat >made.c <<-'END'
		#include <fcntl.h>
		#include <string.h>
		#include <sys/mman.h>
		int main(int argc, char **argv)
		{
			/* mov $1500000000,%ecx; 1: dec %ecx; jnz 1b; ret */
			static const char code[] = "\xb9\x00\x2f\x68\x59\xff\xc9\x75\xfc\xc3";
			void *made = mmap(NULL, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (argc > 1)
				mmap(NULL, 4096, 5, MAP_PRIVATE, open(argv[1], O_RDONLY), 0);
			memcpy(made, code, sizeof(code));
			((void (*)(void))made)();
			return 0;
		}
	END
	gcc -O2 -o node made.c
	record ./node
	grep -q '^ *node --perf-basic-prof names ' err
	none java <err
	# they are named
	head -c 4096 /dev/zero >jit-1.dump
	record ./node jit-1.dump
	none 'perf-basic-prof' <err
	echo 'int nothing;' | gcc -shared -x c -o libjvm.so -
	gcc -O2 -o java made.c -Wl,--no-as-needed -L. -ljvm -Wl,-rpath,"$PWD"
	record ./java
	grep -q '^ *java -XX:+DumpPerfMapAtExit names ' err
	none node <err
}

it_names_programs_of_other_roots() {
	needs_root
	needs chroot
	mkdir -p root/bin
	program_as chain.static chain -static >/dev/null
	cp "$work/bin/chain.static" root/bin/only-there
	"$bobbin" record -q chroot root /bin/only-there 200
	rm -r root
	stacks | some 'spin c b a main ' 50
}

it_keeps_no_names_when_told_so() {
	recorded --no-names
	stacks | none ' spin '
	# but what was mapped is known
	frames | grep '/chain)' | mostly 100 '^chain+0x[0-9a-f]* '
	rm perf.data # which has nothing to audit last frames by
}

it_is_no_hindrance_to_perf() {
	needs perf
	recorded
	perf script -i perf.data >out 2>err
	grep -q '^chain' out
	[ ! -s err ] || none -i 'invalid\|unknown\|error' <err
}

it_survives_names_that_make_no_sense() {
	recorded
	size=$(wc -c <perf.data)
	grep -abo '__libc_start_call_main' perf.data | tail -n 1 >at
	start=$(cut -d : -f 1 at)
	for place in $(seq $((start - 200)) 17 $((size - 1)) | head -n 40); do
		cp perf.data damaged
		printf '\377' | dd of=damaged bs=1 seek="$place" conv=notrunc 2>/dev/null
		timeout 20 "$bobbin" script -i damaged >out 2>err || [ $? -eq 1 ]
		none Sanitizer <err
	done
}

# built AS [OPTION…]: ./app without a build ID, whose functions are AS_leaf and AS_middle
built() {
	cat >app.c <<-END
		#include <time.h>
		static volatile unsigned long sink;
		__attribute__((noinline)) void $1_leaf(unsigned long n)
		{
			for (unsigned long i = 0; i < n; i++)
				sink += i * i;
		}
		__attribute__((noinline)) void $1_middle(unsigned long n)
		{
			$1_leaf(n);
			sink++;
		}
		int main(void)
		{
			clock_t end = clock() + CLOCKS_PER_SEC / 4;
			while (clock() < end)
				$1_middle(100000);
			return 0;
		}
	END
	shift
	gcc -O2 -Wl,--build-id=none -o app app.c "$@"
}

# is_told FILE: script has nothing else to say than that ./app may be another file
is_told() {
	expect 0 "$bobbin" script -i "$1"
	complains "/app: may not be the file that was recorded"
}

it_keeps_names_of_a_program_that_is_built_again() {
	built old
	"$bobbin" record -q ./app
	quietly "$bobbin" script
	"$bobbin" record -q -o - ./app >piped
	stacks -i piped | mostly 95 'old_leaf old_middle main '
	"$bobbin" record -q --no-names -o nameless ./app
	mv app app.old
	built new
	stacks | mostly 95 'old_leaf old_middle main '
	is_told perf.data
	# where nothing was kept there is no name
	for file in piped nameless; do
		stacks -i $file | mostly 95 'app+0x[0-9a-f]* app+0x[0-9a-f]* '
		stacks -i $file | none 'new_[lm]'
		is_told $file
		"$bobbin" report -i $file 2>err | none 'new_[lm]'
		"$bobbin" flamegraph -i $file 2>err | none 'new_[lm]'
	done
	rm piped nameless
	mv app.old app # for the audit of last frames
}

it_sees_that_a_program_was_written_over() {
	built old
	cp app old
	built new
	cp app new
	cat old >app
	"$bobbin" record -q ./app
	"$bobbin" record -q --no-names -o nameless ./app
	touch -r app date
	cat new >app
	touch -r date app
	stacks | mostly 95 'old_leaf old_middle main '
	is_told perf.data
	stacks -i nameless | none 'new_[lm]'
	rm perf.data nameless # whose names are not those of the program that is there
}

it_keeps_no_names_of_a_program_that_is_written_over_meanwhile() {
	built old
	cp app old
	built new
	cp app new
	cat old >app
	"$bobbin" record -q sh -c './app; cat new >app; ./app'
	stacks | none 'old_[lm]\|new_[lm]'
	stacks | some ' app+0x[0-9a-f]* '
	# what is replaced, though, has a name for each
	cp old app
	"$bobbin" record -q -o both sh -c './app; mv new app; ./app'
	stacks -i both | some 'old_leaf old_middle main '
	stacks -i both | some 'new_leaf new_middle main '
	rm perf.data both
}

it_names_what_perf_recorded_if_it_is_the_same() {
	needs perf
	built old
	for options in "-g" "--call-graph dwarf" "-g -k mono" "-g --buildid-mmap"; do
		# shellcheck disable=SC2086 # several options
		perf_record -q -e cpu-clock:u -F 999 -m 4M $options -o perfs ./app 2>/dev/null
		quietly "$bobbin" script -q -i perfs
		stacks -i perfs | some ' old_leaf '
		cp perfs "perfs$options"
	done
	sleep 0.1
	built new
	for file in perfs*; do
		stacks -i "$file" | none 'old_[lm]\|new_[lm]'
		is_told "$file"
	done
	# its stack was not unwound by another program's tables
	reasons -i "perfs--call-graph dwarf" | none '^outermost$'
}

it_knows_files_of_perf_by_the_build_ids_at_the_end() {
	needs perf
	built old -Wl,--build-id
	perf_record -q -e cpu-clock:u -g -o perfs ./app
	# not where it was recorded any more, as it seems
	sed "s/$(uname -n)/$(uname -n | tr 'a-z' 'b-za')/g" perfs >elsewhere
	cp app app.old
	mv app.old app
	stacks -i elsewhere | some ' old_leaf '
	# the names alone make no other build ID
	built new -Wl,--build-id -O1
	stacks -i elsewhere | none 'old_[lm]\|new_[lm]'
}

run_cases
