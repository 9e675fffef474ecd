# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Samples of `script -F comm,tid,ip,sym`, one a line: "COMM: leaf caller … main …"
/^\t/ {
	sub(/\+0x[0-9a-f]+$/, "")
	sub(/^\t *[0-9a-f]+ /, "")
	line = line " " $0
	next
}
NF {
	sub(/ +[0-9]+ *$/, "")
	line = $0 ":"
	next
}
{
	print line " "
}
