# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=sh
#
# pprof.sh - what the real pprof makes of an export, after lib.sh and weights.sh.

# pprof OPTION… FILE: Go's own, with all functions
pprof() {
	for folder in "$sources/../../build/toolchain/go/usr/lib"/go-*; do
		[ ! -x "$folder/pkg/tool/linux_amd64/pprof" ] || tool=$folder/pkg/tool/linux_amd64/pprof
	done
	[ -n "${tool:-}" ] || skip "no pprof in build/toolchain"
	HOME=$PWD PPROF_TMPDIR=$PWD "$tool" -symbolize=none -nodecount=1000000 -nodefraction=0 \
		-edgefraction=0 "$@"
}

# pprof_weights total|self FILE [OPTION…]
pprof_weights() {
	column=$1 file=$2
	shift 2
	pprof -top "$@" "$file" >top 2>err || fail "pprof: $(cat err)"
	awk -v column="$column" '
		listed {
			weight = column == "total" ? $5 : $2
			sub(/%/, "", weight)
			sub(/^ *[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +/, "")
			sub(/ \((partial-)?inline\)$/, "")
			printf "%s\t%.2f\n", $0, weight
		}
		$1 == "flat" { listed = 1 }' top
}
