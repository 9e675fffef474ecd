# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `perf script` and `bobbin script`, made equal: perf prints PCs as addresses of
# the file, which have the last three digits in common with those of the
# process, and symbols with their versions.
/^\t/ {
	gsub(/@@?[A-Z]+_[^ +]*/, "")
	$1 = substr($1, length($1) - 2)
	print
	next
}
{
	$1 = $1
	print
}
