# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# kernel-branches.awk - of the library's C what the preprocessor leaves for the kernel.
#
# Conditions on which world it is compiled for are decided, and their lines go.  All others stay.
# The result of FILE is in to/FILE.

BEGIN {
	world["__KERNEL__"] = 1
	world["BOBBIN_NATIVE_ONLY"] = 1
	world["__bpf__"] = 0
	world["__cplusplus"] = 0
	world["__SANITIZE_THREAD__"] = 0
}

# 1, 0, or -1: not for us to say
function holds(condition,    terms, count, i, name, value, all)
{
	all = condition ~ /&&/
	count = split(condition, terms, / *(&&|\|\|) */)
	for (i = 1; i <= count; i++) {
		name = terms[i]
		gsub(/[ !()]|defined/, "", name)
		if (!(name in world))
			return -1
		value = terms[i] ~ /!/ ? !world[name] : world[name]
		if (value != all)
			return value
	}
	return all
}

function begin_branch(value)
{
	depth++
	ours[depth] = value >= 0
	shown[depth] = shown[depth - 1] && value != 0
	decided[depth] = value == 1
}

FNR == 1 {
	depth = 0
	shown[0] = 1
	out = to "/" FILENAME
}
{ sub(/[ \t]*\/\*.*\*\/$/, /^#(if|el)/ ? "" : "&") }
/^#if /     { begin_branch(holds(substr($0, 5))) }
/^#ifdef /  { begin_branch(holds(substr($0, 8))) }
/^#ifndef / {
	value = holds(substr($0, 9))
	begin_branch(value < 0 ? value : !value)
}
/^#(elif |else)/ && ours[depth] {
	value = /^#else/ ? 1 : holds(substr($0, 7))
	if (value < 0) {
		print FILENAME ": " FNR ": a condition that nothing decides" >"/dev/stderr"
		exit 1
	}
	shown[depth] = shown[depth - 1] && !decided[depth] && value
	decided[depth] = decided[depth] || value
	next
}
/^#endif/ {
	if (shown[depth - !!ours[depth]] && !ours[depth])
		print >out
	depth--
	next
}
/^#if/ && ours[depth] { next }
shown[depth] { print >out }
