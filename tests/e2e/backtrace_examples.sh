#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The examples of libbobbin-backtrace, in languages that call C.
. "$(dirname "$0")/lib.sh"

library=$(realpath "$2")
examples=$sources/../../examples/backtrace
include=$(realpath "$sources/../../include")

# with the names that are installed
links() {
	mkdir -p links
	ln -sf "$library" links/libbobbin-backtrace.so
	ln -sf "$library" links/libbobbin-backtrace.so.0
	folder=$PWD/links
}

# compiled NAME [FLAG…]: a program in C++, which is run
compiled() {
	needs g++
	links
	name=$1
	shift
	g++ -Wall -Werror -O2 -rdynamic -I"$include" -o "$name" "$examples/$name.cc" \
		-L"$folder" -Wl,-rpath,"$folder" -lbobbin-backtrace "$@"
	quietly "./$name"
}

# in_order FILE LINE…: it has these lines in this order
in_order() {
	file=$1
	shift
	printf '%s\n' "$@" >wanted
	grep -Fx -f wanted "$file" | uniq | diff - wanted
}

it_tells_where_an_exception_was_thrown() {
	compiled error_stack
	in_order out 'divided by zero' 'work::refuse(char const*)' main _start
}

it_serves_abseil() {
	pkg-config --exists absl_stacktrace absl_symbolize || skip "no abseil"
	# shellcheck disable=SC2046 # flags are words
	compiled abseil_stacks $(pkg-config --cflags --libs absl_stacktrace absl_symbolize)
	in_order out print_stack outer main _start '1 of 6' end
}

it_serves_rust() {
	needs rustc
	links
	rustc -O "$examples/rust_stacks.rs" -L "$folder" -C link-arg=-Wl,-rpath,"$folder" -o rust_stacks
	RUST_BACKTRACE=1 expect 0 ./rust_stacks
	in_order out '10 frames more' caught
	grep -q 'rust_stacks::main' err
}

# hexadecimal numbers in lines that begin with 0x
is_below() {
	[ $(($1 - $2)) -ge 0 ] && [ $(($1 - $2)) -lt 64 ]
}

it_shows_c_in_crashes_of_go() {
	links
	for go in "$sources"/../../build/toolchain/go/usr/lib/go-*/bin/go; do
		[ -x "$go" ] || continue
		GOROOT=$(dirname "$(dirname "$go")") GO111MODULE=off GOFLAGS='' GOCACHE=$PWD/cache GOPATH=$PWD/path \
			CGO_CFLAGS="-I$include" CGO_LDFLAGS="-L$folder -Wl,-rpath,$folder" \
			"$go" build -o crash "$examples/cgo_stacks.go"
		expect 2 ./crash
		outer=$(sed -n 's/^outer is at //p' err)
		# the second one is that which has called the function that crashed
		caller=$(sed -n 's/^non-Go function at pc=//p' err | sed -n 2p)
		is_below "0x${caller#0x}" "$outer" || fail "$(head -20 err)"
		grep -q '^main\.main' err
		return 0
	done
	skip "no Go in build/toolchain/go"
}

run_cases
