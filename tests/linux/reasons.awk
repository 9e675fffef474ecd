# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# reasons.awk - of a recording's samples, how many have complete stacks, and why others end.
#
# Input: `bobbin script -F ip,sym,reason`.  -v name=NAME of what was recorded.  Samples that have no
# user part, because the program had not begun or was gone, are counted apart.

function take(   last)
{
	if (reason == "")
		return
	frames += depth
	if (reason == "NO_USER" || reason == "NEW_SPACE")
		without++
	else {
		all++
		if (reason == "OUTERMOST")
			complete++
		else
			others[reason " at " outer " of " depth]++
	}
	reason = ""
	depth = 0
}

/^\t/ {
	depth++
	outer = $2
	sub(/\+0x.*/, "", outer)
}
!/^\t/ && NF { reason = $1 }
!NF { take() }

END {
	take()
	printf "stacks: %s: %d of %d are complete, %d without a user part, %d frames\n", name, complete, all,
		without, frames
	for (other in others)
		print "other: " name ": " others[other] " " other
}
