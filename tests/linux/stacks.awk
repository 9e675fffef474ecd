# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# stacks.awk - of a program's samples, how many have the stack that the program makes.
#
# Input: `perf script -F tid,ip,sym`.  -v part=PART of guest-init.
#
# Those of a thread count from the first that has a function of the program on to the last:
# before it the loader runs, after it exit().  A stack is right if it ends with the callers of
# one of the program's functions, none missing and none invented, and if above them is nothing,
# what the program calls there, or functions of libraries and of the vDSO.  Of interpreters, whose
# functions are many, a stack is right if it is complete; those are counted that lead 12 times into
# it, and those that begin in the vDSO.

# the program's functions, from the innermost that has all others as callers on; the names of
# those that may stand above one of them; who these are
function expect(functions, callers, inner,   i, word, rest, above)
{
	count = split(functions, chain, " ")
	for (i = count; i; i--) {
		word = chain[i]
		sub(/^main$/, "main " beginning, word)
		# the libraries' own functions of these frames have no names, or several
		sub(/^thread$/, library "( " library ")?", word)
		sub(/^signal$/, library "( " library ")*", word)
		rest = word (rest == "" ? "" : " " rest)
		above = "(" library " )*"
		if (chain[i] ~ callers)
			above = "(" above "|(" inner ") )"
		right[i] = chain[i] ~ /^(thread|signal)$/ ? "^nothing$" : "^" above rest "$"
	}
}

BEGIN {
	RS = ""
	FS = "\n"
	program = "^(f_|main$|plt_|Perl_|perl_|_?Py)"
	library = "([^fm][^ ]*|f[^_ ][^ ]*|m[^a ][^ ]*|ma[^i ][^ ]*)"
	beginning = library "( " library ")? _start"
	deep = "f_leaf f_deep[{]21[}]|f_deep([{][0-9]+[}])?"
	# a name is that of the return address; nothing follows this call but the next function
	before["f_between.cold"] = "f_thrower"
	before["f_catcher.cold"] = "f_between"
	interpreter = part ~ /^python/ ? "_PyEval_EvalFrameDefault" : \
		part ~ /^perl/ ? "Perl_runops_standard" : ""
	if (part == "fork" || part == "vfork")
		expect("f_recursion f_" part " main", "f_recursion", deep)
	else if (part == "threads")
		expect("f_recursion f_thread thread", "f_recursion", deep)
	else if (part == "signals")
		expect("f_recursion f_handler signal f_raise f_signals main", "f_recursion", deep)
	else if (part == "exceptions")
		expect("f_thrower f_between f_catcher main", "^f_", "f_leaf")
	else if (part == "vdso")
		expect("f_clock main", "^$", "")
	else if (part == "plt")
		expect("f_calls main", "f_calls", "plt_[a-z]+(@plt)?")
	else if (part == "dlopen")
		expect("f_opened f_open main", "f_opened",
		       "f_leaf f_within[{]5[}]|f_within([{][0-9]+[}])?")
	else if (part == "jit")
		expect("f_jitted f_jit main", "f_jitted", "f_leaf")
	else if (part == "bare")
		expect("f_bare main", "f_bare", "f_leaf|f_framed")
	else if (part == "bare-static") {
		# the C library's beginning has no frame pointers
		beginning = library "( " library ")*"
		expect("f_bare main", "f_bare", "f_leaf|f_framed")
	} else if (!interpreter)
		expect("f_recursion main", "f_recursion", deep)
}

# functions with how often they follow themselves, the innermost first
function stack_of(   i, stack, last, times, words)
{
	for (i = 2; i <= NF; i++) {
		split($i, words, " ")
		if (words[1] ~ /^ffff[89a-f]/ && length(words[1]) == 16) # the kernel's
			continue
		if (last == "_Unwind_Resume" && words[2] in before)
			words[2] = before[words[2]]
		sub(/[.]cold$/, "", words[2])
		if (words[2] == last) {
			times++
			continue
		}
		if (times > 1)
			stack = stack "{" times "}"
		stack = stack (stack == "" ? "" : " ") words[2]
		last = words[2]
		times = 1
		of_program += last ~ program
		levels += last == interpreter
	}
	return times > 1 ? stack "{" times "}" : stack
}

# An interpreter computes 12 levels deep, but for a while before and after.
function is_right(stack,   i)
{
	if (interpreter)
		return stack ~ / _start$/
	# who starts the thread, and waits for it
	if (part == "threads" && stack ~ "^(" library " )*f_threads main " beginning "$")
		return 1
	# its frame is a handler's by now, and it has no caller
	if (part == "exceptions" && stack ~ /^_Unwind_[A-Z][A-Za-z]*$/)
		return 1
	for (i = 1; i <= count; i++)
		if (stack ~ right[i])
			return 1
	return 0
}

# there are few stacks, and many samples
function verdict(stack)
{
	if (!(stack in verdicts))
		verdicts[stack] = is_right(stack)
	return verdicts[stack]
}

{
	tid = $1 + 0
	of_program = levels = 0
	stack = stack_of()
	deepest += levels > 12
	in_vdso += stack ~ /^__vdso_/
	n = ++seen[tid]
	stacks[tid, n] = stack
	if (of_program) {
		if (!(tid in first))
			first[tid] = n
		last_of[tid] = n
	}
}

END {
	for (tid in first)
		for (i = first[tid]; i <= last_of[tid]; i++) {
			all++
			stack = stacks[tid, i]
			if (verdict(stack))
				good++
			else if (!others[stack]++ && kinds++ < 3)
				print "# " part ": " stack
		}
	print part ": " good + 0 " of " all + 0 " stacks are as expected" \
		(interpreter ? ", " deepest + 0 " of them deep" : "") \
		(part == "vdso" ? ", " in_vdso + 0 " of them begin there" : "")
}
