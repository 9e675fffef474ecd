# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=sh
#
# go_programs.sh - programs of all versions of Go that Debian has, from 1.18 on, after lib.sh.

versions=$sources/../../build/toolchain/go/usr/lib
export GO111MODULE=off GOFLAGS= GOTOOLCHAIN=local HOME="$work"

# build VERSION NAME [OPTION…]: ./NAME, of the program below
build() {
	[ -e "$versions/$1" ] || skip "no Go in build/toolchain"
	export GOROOT="$versions/$1" GOCACHE="$work/cache-$1"
	[ -e spin.go ] || cat >spin.go <<-'END'
		package main

		//go:noinline
		func leaf(n int) (s int) {
			for i := 0; i < n; i++ {
				s = s*31 + i
			}
			return
		}

		//go:noinline
		func caller(n int) (s int) {
			for i := 0; i < 100; i++ {
				s += leaf(n) ^ i
			}
			return
		}

		func work(done chan int) {
			s := 0
			for i := 0; i < 300; i++ {
				s += caller(10000)
			}
			done <- s
		}

		func main() {
			done := make(chan int)
			for i := 0; i < 4; i++ {
				go work(done)
			}
			for i := 0; i < 4; i++ {
				<-done
			}
		}
	END
	name=$2
	shift 2
	"$GOROOT/bin/go" build -o "$name" "$@" spin.go
}

# all_versions: their names in build/toolchain
all_versions() {
	ls "$versions" 2>/dev/null || echo none
}

# build_calling_c VERSION NAME: ./NAME, of calling_c.go
build_calling_c() {
	[ -e "$versions/$1" ] || skip "no Go in build/toolchain"
	GOROOT="$versions/$1" GOCACHE="$work/cache-$1" CGO_ENABLED=1 "$versions/$1/bin/go" build -o "$2" "$sources/calling_c.go"
}

# in stacks of that program, from C on
of_goroutine=' sorted _cgo_[^ ]* runtime.asmcgocall[^ ]* runtime.cgocall main._Cfunc_sorted[^ ]* main.work main.main.func1 .*runtime.goexit'

# each_calls_c MILLISECONDS COMMAND…: it records such a program of the oldest and of the newest version
each_calls_c() {
	milliseconds=$1
	shift
	for version in $(all_versions | sed -n '1p;$p'); do
		build_calling_c "$version" "calling-$version"
		"$@" "./calling-$version" "$milliseconds"
		complete
		stacks | grep ' sorted ' | mostly 90 "$of_goroutine"
	done
}
