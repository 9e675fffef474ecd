# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Of `script -F ip,sym,dso,reason`: the last frame of each complete trace, as "FUNCTION FILE"
function put() {
	if (complete && frame) {
		sub(/\+0x[0-9a-f]+ \(/, " ", frame)
		sub(/\)$/, "", frame)
		print frame
	}
	complete = 0
	frame = ""
}
/^\t/ { frame = $2 " " $3; next }
{ put() }
/^OUTERMOST/ { complete = 1 }
END { put() }
