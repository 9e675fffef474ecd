# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# guest_table.awk - what two kernels said, as tables; fails if the second is not right.
#
# awk -f guest_table.awk WITHOUT WITH

BEGIN {
	split("recursion threads signals fork vfork static static-pie vdso exceptions plt dlopen jit bare bare-static python perl", order, " ")
	what["recursion"] = "a recursion of 21 levels"
	what["threads"] = "the same in a thread"
	what["signals"] = "the same in a signal handler on a stack of its own"
	what["fork"] = "the same in a child of `fork()`"
	what["vfork"] = "the same in a child of `vfork()`"
	what["static"] = "the same, linked statically"
	what["static-pie"] = "the same, static and position-independent"
	what["vdso"] = "the clock of the vDSO, read again and again"
	what["exceptions"] = "C++: inlined code, exceptions, destructors"
	what["plt"] = "calls through the PLT, and little else"
	what["dlopen"] = "a library that the program opens and registers"
	what["jit"] = "code made at run time, registered by `codectl()`"
	what["bare"] = "code with frame pointers and no table, libraries with one"
	what["bare-static"] = "the same, linked statically, nothing with a table"
	what["python"] = "Debian's python3, 12 times through C"
	what["perl"] = "Debian's perl, 12 times through C"
	cases = "corrupt fault paged unmapped forks many"
}

FNR == 1 { file++ }
# recorded by bobbin, read by it or by perf
/^bobbin[^ ]* [^ ]* [0-9]+ of / {
	sub(/:$/, "", $2)
	ours[$1, $2] = $3 " of " $5
	if ($3 != $5 || $5 < 200)
		fault($1 " " $2)
	recorded[$2] = 1
	next
}
file == 2 && /^bobbin: chains are the kernel's own, by SFrame sections/ { own_chains++ }
file == 2 && /^door: the running kernel has the calls/ { door++ }
file == 2 && /^door: .*PASSED/ { door++ }
file == 2 && /^door: .*FAILED/ { fault($0) }
/ stacks are as expected/ {
	sub(/:$/, "", $1)
	good[file, $1] = $2
	all[file, $1] = $4
	if (/ (deep|begin there)$/)
		deep[file, $1] = $9
}
file == 2 && /^calls: right$/ { calls = 1 }
file == 2 && /^hostile: [a-z]+: done$/ { sub(/:/, "", $2); done[$2] = 1 }
/^cost: .* deep: / {
	name = $2
	overhead[name, $3] = ($8 - $5) / $11
	costs = 1
}
file == 2 && /BUG|WARNING|Oops|^kernel: |broken/ { fault($0) }

function fault(text)
{
	print "fault: " text
	faults++
}

function by_bobbin(   i, name, kinds)
{
	print "| recorded by bobbin | read by bobbin | read by perf |"
	print "| --- | --: | --: |"
	for (i = 1; i in order; i++) {
		name = order[i]
		if (!(name in recorded))
			continue
		kinds++
		printf "| %s | %s | %s |\n", what[name], ours["bobbin", name], ours["bobbin-perf", name]
	}
	if (!kinds || own_chains != kinds)
		fault("bobbin's recordings")
}

# Debian's own files, without sections: each stack must be right, as with them
function by_tables(name,   tables)
{
	tables = name "-tables"
	if (name !~ /^(python|perl)$/)
		return "-"
	if (all[2, tables] < 200 || good[2, tables] != all[2, tables] || deep[2, tables] < 100)
		fault(tables)
	return good[2, tables] + 0 " of " all[2, tables] + 0
}

function ns(name)
{
	return (overhead[name, 110] - overhead[name, 10]) / 100
}

END {
	print "| | Debian's kernel | with these patches, sections | compiled tables only |"
	print "| --- | --: | --: | --: |"
	for (i = 1; i in order; i++) {
		name = order[i]
		printf "| %s | %d of %d | %d of %d | %s |\n", what[name], good[1, name], all[1, name],
			good[2, name], all[2, name], by_tables(name)
		if (all[2, name] < 200 || good[2, name] != all[2, name] ||
		    deep[2, name] ~ /[0-9]/ && deep[2, name] < 100)
			fault(name)
	}
	if (!calls)
		fault("calls")
	if (door != 2)
		fault("the library does not find the calls")
	by_bobbin()
	split(cases, hostile, " ")
	for (i = 1; i in hostile; i++)
		if (!done[hostile[i]])
			fault("no end of hostile " hostile[i])
	if (costs)
		printf "a frame: %d ns by SFrame, %d ns by frame pointer, of a clock of 8 ns an instruction\n",
			ns("walk_cost"), ns("walk_cost_fp")
	exit faults > 0
}
