# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=sh
#
# otlp.sh - what requests of OTLP profiles say, after lib.sh.

definitions=$sources/../../build/otlp/proto
package=opentelemetry/proto/collector/profiles/v1development

# decode FILE: as text, to ./decoded
decode() {
	needs protoc
	[ -d "$definitions" ] || skip "no definitions in build/otlp"
	protoc --proto_path="$definitions" \
		--decode "$(echo $package | tr / .).ExportProfilesServiceRequest" \
		"$definitions/$package/profiles_service.proto" <"$1" >decoded 2>err || fail "protoc: $(cat err)"
	[ ! -s err ] || fail "protoc says: $(cat err)"
	# what the definitions lack has a number for a name
	grep -v '"' decoded | none '^ *[0-9]'
}

# otlp_reader COMMAND…: what it reads in ./decoded
otlp_reader() {
	python3 "$sources/otlp_reader.py" "$@" <decoded 2>err || fail "$(cat err)"
}

# facts FILE: of a request, to ./facts
facts() {
	decode "$1"
	otlp_reader facts >facts
}

# has_facts PATTERN…: whole lines of ./facts
has_facts() {
	for pattern in "$@"; do
		grep -q -x -e "$pattern" facts || fail "no '$pattern' in: $(cut -c 1-200 facts | head -n 40)"
	done
}
