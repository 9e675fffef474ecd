# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# cross_table.awk - what a kernel of another architecture said, as a table; fails if it is not right.
#
# -v machine=NAME

/^machine: / { sub(/^machine: /, "") ; if ($0 == "done") done = 1; else print "\n" $0 }
/^selftest: # Totals: / {
	print "kselftest: " substr($0, 21)
	selftest = /pass:[1-9][0-9]* fail:0 xfail:0 xpass:0 skip:0 error:0/
}
/^bobbin: chains are the kernel's own, by SFrame sections/ { own++ }
/^bobbin [^ ]* [0-9]+ of / {
	sub(/:$/, "", $2)
	printf "| %s | %d of %d |\n", $2, $3, $5
	parts++
	wrong += $3 != $5 || $5 < 50
}
/BUG: |WARNING: |Oops|Kernel panic|^kernel: / { print; wrong++ }
END {
	if (!done || !selftest || parts != 8 || own != parts || wrong) {
		printf "%s: %d parts, %d by sections, %d wrong\n", machine, parts, own, wrong
		exit 1
	}
}
