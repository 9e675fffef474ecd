# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# machine_table.awk - what three machines said, as a table; fails if it is not right.
#
# awk -f machine_table.awk AARCH64 AARCH64-OF-16K S390X

BEGIN {
	count = split("bash gzip perl python3 sort sqlite3 xz", order, " ")
	split("aarch64 aarch64 s390x", arch, " ")
	split("4 16 4", pages, " ")
}

FNR == 1 { file++ }
/^machine: / && $2 == arch[file] && $6 == pages[file] { booted[file] = 1 }
/^machine: done$/ { done[file] = 1 }
/^fault: / { fault($0) }
/^stacks: / {
	complete[file, $2] = $3
	all[file, $2] = $5
	recorded[file, $2] = $5 + $8 " samples, " $13 " frames"
}
/^perf: / {
	name = $2
	sub(/^perf: [^ ]* /, "")
	if ($0 != recorded[file, name])
		fault("perf reads " $0 " of " name " instead of " recorded[file, name])
	read[file, name] = 1
}

function fault(text)
{
	print "fault: " text
	faults++
}

# On s390x copies end in some runs at a page that is not in memory, in the outer frames of bash's deep
# stacks.
function least(machine, program)
{
	return arch[machine] == "s390x" && program == "bash" ? 0 : 0.99
}

END {
	print "| complete stacks | AArch64, pages of 4 KiB | of 16 KiB | s390x |"
	print "| --- | --: | --: | --: |"
	for (i = 1; i <= count; i++) {
		name = order[i] ":"
		row = "| " order[i] " |"
		for (machine = 1; machine <= 3; machine++) {
			row = row " " complete[machine, name] + 0 " of " all[machine, name] + 0 " |"
			if (all[machine, name] < 100 || !read[machine, name] ||
			    complete[machine, name] < least(machine, order[i]) * all[machine, name])
				fault(order[i] " on " arch[machine] " with pages of " pages[machine] " KiB")
		}
		print row
	}
	for (machine = 1; machine <= 3; machine++)
		if (!booted[machine] || !done[machine])
			fault(arch[machine] " with pages of " pages[machine] " KiB did not come to the end")
	exit faults > 0
}
