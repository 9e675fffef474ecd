# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=sh
#
# callgrind.sh - what callgrind_annotate makes of an export, after lib.sh and weights.sh.

# callgrind_weights total|self FILE: functions of the same name are one
callgrind_weights() {
	inclusive=no
	[ "$1" = self ] || inclusive=yes
	needs callgrind_annotate
	callgrind_annotate --inclusive=$inclusive --threshold=100 --auto=no "$2" >annotated 2>err ||
		fail "callgrind_annotate: $(cat err)"
	[ ! -s err ] || fail "callgrind_annotate says: $(cat err)"
	awk '
		/PROGRAM TOTALS/ { total = $1; gsub(/,/, "", total) }
		/^ *[0-9,]+ \([ 0-9.]+%\) +[^ :]*:/ {
			weight = $1
			gsub(/,/, "", weight)
			sub(/^ *[0-9,]+ \([ 0-9.]+%\) +[^ :]*:/, "")
			sub(/ \[.*\]$/, "")
			weights[$0] += weight
		}
		END {
			for (name in weights)
				printf "%s\t%.2f\n", name, 100 * weights[name] / total
		}' annotated
}
