#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# libbobbin-backtrace.so stands before the unwinders of heap profilers, which show the same stacks.
. "$(dirname "$0")/lib.sh"

library=$(realpath "$2")
archive=$(realpath "$3")

# with_ours COMMAND…: preloaded after what LD_PRELOAD has already, at the same addresses each time
with_ours() {
	LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD }$library" setarch -R "$@"
}

# bound SYMBOL FILE COMMAND…: run by the command, FILE calls ours
bound() {
	symbol=$1 file=$2
	shift 2
	LD_DEBUG=bindings LD_DEBUG_OUTPUT="$PWD/bindings" "$@" >/dev/null 2>&1 || :
	cat bindings.* | grep "binding file [^ ]*$file[^ ]* \[0\] to [^ ]*/libbobbin-backtrace\.so[^ ]* \[0\]: normal symbol .$symbol'" \
		>/dev/null || fail "$file does not call our $symbol"
	rm -f bindings.*
}

# installed FILE: of the machine's libraries
installed() {
	ldconfig -p | grep -q "^[[:space:]]*$1 " || skip "no $1"
}

# heap_stacks FILE: a heap profile, its stacks, each frame by its file and the offset there
heap_stacks() {
	python3 "$sources/heap_stacks.py" "$1"
}

same_stacks() {
	[ "$(wc -l <"$1")" -ge "$3" ] || fail "$(wc -l <"$1") stacks"
	diff "$1" "$2"
}

it_gives_jemalloc_the_same_stacks() {
	installed libjemalloc.so.2
	allocating=$(program allocating)
	conf=prof:true,prof_final:true,lg_prof_sample:0,prof_prefix
	LD_PRELOAD=libjemalloc.so.2 MALLOC_CONF=$conf:plain expect 0 setarch -R "$allocating"
	LD_PRELOAD=libjemalloc.so.2 MALLOC_CONF=$conf:ours expect 0 with_ours "$allocating"
	heap_stacks plain.*.heap >plain
	heap_stacks ours.*.heap >ours
	same_stacks plain ours 10
	grep -q 'allocating+.*allocating+.*libc\.so' ours
	export LD_PRELOAD=libjemalloc.so.2 MALLOC_CONF=prof:true
	bound _Unwind_Backtrace libjemalloc with_ours "$allocating"
}

it_gives_gperftools_the_same_stacks() {
	installed libtcmalloc.so.4
	allocating=$(program allocating)
	export LD_PRELOAD=libtcmalloc.so.4 TCMALLOC_STACKTRACE_METHOD=libgcc
	HEAPPROFILE=plain expect 0 setarch -R "$allocating"
	HEAPPROFILE=ours expect 0 with_ours "$allocating"
	heap_stacks plain*.0001.heap >plain
	heap_stacks ours*.0001.heap >ours
	same_stacks plain ours 10
	export HEAPPROFILE=again
	bound _Unwind_Backtrace libtcmalloc with_ours "$allocating"
}

it_gives_heaptrack_the_same_stacks() {
	needs heaptrack heaptrack_print
	allocating=$(program allocating)
	expect 0 heaptrack -o plain "$allocating"
	LD_PRELOAD=$library expect 0 heaptrack -o ours "$allocating"
	for name in plain ours; do
		heaptrack_print -f "$name".zst -F "$name.folded" >/dev/null
		# some frames of the loader have no names, but addresses
		sed 's/0x[0-9a-f]*//g' "$name.folded" | sort >"$name"
	done
	same_stacks plain ours 10
	export LD_PRELOAD="$library"
	bound unw_backtrace libheaptrack_preload heaptrack -o again "$allocating"
	# it has a thread that throws, by libunwind, as soon as it is loaded
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		expect 0 heaptrack --raw -o again "$allocating"
	done
}

it_gives_the_address_sanitizer_the_same_stacks() {
	allocating=$(program_as sanitized allocating -g -fsanitize=address)
	export ASAN_OPTIONS=fast_unwind_on_malloc=0:fast_unwind_on_fatal=0:verify_asan_link_order=0:detect_leaks=0:exitcode=9
	expect 9 setarch -R "$allocating" wrong
	grep '^ *#' err | sed 's/0x[0-9a-f]*//' >plain
	expect 9 with_ours "$allocating" wrong
	grep '^ *#' err | sed 's/0x[0-9a-f]*//' >ours
	same_stacks plain ours 15
	bound _Unwind_Backtrace libasan with_ours "$allocating"
}

# leaving [FLAG…]: leaving.cc
leaving() {
	g++ -O2 -fomit-frame-pointer -o leaving "$sources/leaving.cc" -pthread "$@"
	expect 0 ./leaving
	[ "$(cat out)" = well ] || fail "$(cat out)"
}

it_leaves_exceptions_to_libgcc() {
	needs g++
	leaving
	expect 0 with_ours ./leaving
	[ "$(cat out)" = well ]
	bound _Unwind_Backtrace /leaving with_ours ./leaving
}

it_can_be_linked() {
	needs g++
	leaving "$library" "-Wl,-rpath,$(dirname "$library")"
	leaving "$archive"
	nm leaving | grep -q ' T _Unwind_Backtrace$'
}

# The archive needs nothing of glibc.
it_can_be_linked_with_musl() {
	needs musl-gcc
	for how in -static -no-pie; do
		musl-gcc -O2 -fomit-frame-pointer -fasynchronous-unwind-tables "$how" -o musl_calls "$sources/musl_calls.c" \
			"$archive"
		expect 0 ./musl_calls
		[ "$(grep -c ': right$' out)" -eq 2 ] || fail "$how: $(cat out)"
	done
}

# The program has all of libgcc's functions, so none of ours must be called by libraries alone.
it_goes_with_a_libgcc_that_the_program_contains() {
	needs g++
	leaving -static-libgcc -static-libstdc++
	expect 0 with_ours ./leaving
	[ "$(cat out)" = well ]
}

it_finds_a_libgcc_that_is_loaded_later() {
	needs g++
	g++ -O2 -fomit-frame-pointer -shared -fPIC -o libleaving.so "$sources/leaving.cc" -pthread
	expect 0 with_ours "$(program loader)" 0 ./libleaving.so
	[ "$(cat out)" = well ] || fail "$(cat out)"
}

# Libraries start in the reverse order.
it_is_no_hindrance_before_it_has_started() {
	needs g++
	g++ -O2 -fomit-frame-pointer -shared -fPIC -DEARLY -o libearly.so "$sources/leaving.cc" -pthread
	expect 0 env LD_PRELOAD="$library $PWD/libearly.so" /bin/true
	[ "$(cat out)" = well ] || fail "$(cat out)"
}

# What a library has instead of .eh_frame_hdr is in a segment of its own.
it_walks_by_sframe_alone() {
	[ -x "$toolchain/ld" ] || skip "no newer binutils in build/toolchain"
	gcc -O2 -fomit-frame-pointer -DFRAME=200 -shared -fPIC -I"$sources/../../include" -B"$toolchain/" \
		-Wa,--gsframe -Wl,--no-eh-frame-hdr -o library.so "$sources/../unwind/frame_plugin.c"
	readelf -lW library.so >segments
	grep -q GNU_SFRAME segments || skip "an assembler without SFrame"
	! grep -q GNU_EH_FRAME segments
	cat >chain.c <<-'END'
		#include <bobbin/backtrace.h>
		#include <dlfcn.h>
		#include <stdio.h>

		/* it ends where no table says who has called */
		__attribute__((noipa)) void leaf(void)
		{
			uintptr_t addresses[20] = {0};
			struct bobbin_cgo_traceback chain = {.buffer = addresses, .max = 20};

			bobbin_cgo_traceback(&chain);
			for (int i = 0; i < 20 && addresses[i]; i++) {
				Dl_info info = {0};

				dladdr((void *)(addresses[i] - 1), &info);
				if (info.dli_sname)
					puts(info.dli_sname);
			}
		}

		int main(int argc, char **argv)
		{
			void *library = dlopen(argv[1], RTLD_NOW);
			void (*outer)(void (*f)(void)) = dlsym(library, "plugin_outer");

			outer(leaf);
			return argc == 0;
		}
	END
	gcc -w -D_GNU_SOURCE -O2 -fomit-frame-pointer -rdynamic -I"$sources/../../include" -o chain chain.c "$library" \
		-Wl,-rpath,"$(dirname "$library")"
	./chain ./library.so >out
	printf '%s\n' leaf plugin_inner plugin_outer main __libc_start_main _start | diff - out
	# without that segment
	gcc -O2 -fomit-frame-pointer -DFRAME=200 -shared -fPIC -I"$sources/../../include" -Wl,--no-eh-frame-hdr \
		-o library.so "$sources/../unwind/frame_plugin.c"
	./chain ./library.so >out
	printf '%s\n' leaf | diff - out
}

it_needs_nothing_but_the_c_library() {
	readelf -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >needed
	grep -q '^libc\.so' needed
	mostly 100 '^\(libc\|ld-linux.*\)\.so\.[0-9]*$' <needed
	strip -o stripped "$library"
	[ "$(wc -c <stripped)" -lt 250000 ] || fail "$(wc -c <stripped) bytes"
}

run_cases
