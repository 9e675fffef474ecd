# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# User frames of `script -F ip,sym,dso,source`, one a line: "FUNCTION (DSO) [SOURCE]"
/^\t/ && !/\(\[kernel/ {
	sub(/^\t *[0-9a-f]+ /, "")
	sub(/\+0x[0-9a-f]+ /, " ")
	print
}
