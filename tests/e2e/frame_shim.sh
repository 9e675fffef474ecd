#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# libbobbin-frames.so stands before libgcc, whose callers do not notice.
. "$(dirname "$0")/lib.sh"

shim=$(realpath "$2")
library=$(dirname "$shim")/libbobbin.so

# throwing FILE [FLAG…]: throwing_jit.cc, as $work/bin/FILE, whose path is printed
throwing() {
	file=$work/bin/$1
	shift
	[ -e "$file" ] ||
		g++ -O2 -fomit-frame-pointer -I"$sources/../../include" -o "$file" \
			"$sources/throwing_jit.cc" -pthread "$@" >&2
	echo "$file"
}

# Two are refused: an empty section, and what is registered already.
counts='808 registered, 2 refused, 810 functions, 2430 rows, 0 lost'

it_is_not_needed_by_the_test() {
	needs g++
	quietly "$(throwing throwing)"
	[ "$(cat out)" = well ]
}

it_lets_exceptions_through_jitted_code() {
	needs g++
	quietly env LD_PRELOAD="$shim" "$(throwing throwing)"
	printf '%s\nwell\n' "$counts" | diff - out
}

it_can_be_linked() {
	needs g++
	quietly "$(throwing linked "$shim" "-Wl,-rpath,$(dirname "$shim")")"
	printf '%s\nwell\n' "$counts" | diff - out
}

it_finds_a_libgcc_that_only_the_caller_has() {
	needs g++
	throwing libthrowing.so -shared -fPIC >/dev/null
	quietly env LD_PRELOAD="$shim" "$(program loader)" 0 "$work/bin/libthrowing.so"
	printf '%s\nwell\n' "$counts" | diff - out
}

it_uses_the_libbobbin_that_the_program_has() {
	needs g++
	quietly env LD_PRELOAD="$shim $library" "$(throwing throwing)"
	printf '%s\none map\nwell\n' "$counts" | diff - out
}

# Programs bring libraries of their own, of other versions.
it_needs_nothing_but_the_c_library() {
	readelf -dW "$shim" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >needed
	grep -q '^libc\.so' needed
	mostly 100 '^\(libc\|ld-linux.*\)\.so\.[0-9]*$' <needed
}

it_exports_what_it_stands_for_and_nothing_else() {
	readelf --dyn-syms -W "$(gcc -print-file-name=libgcc_s.so.1)" |
		sed -n 's/.* \(__[a-z]*register_frame[a-z_]*\)@.*/\1/p' >wanted
	echo bobbin_frames_totals >>wanted
	nm -D --defined-only "$shim" | sed 's/.* //' >given
	sort wanted | diff - given
}

run_cases
