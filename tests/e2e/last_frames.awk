# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Of `script -F ip,sym,dso,reason`: the last frame of each complete trace, as "FUNCTION FILE";
# of one that ended for no reason, too
function put() {
	if (complete && frame) {
		sub(/\+0x[0-9a-f]+ \(/, " ", frame)
		sub(/\)$/, "", frame)
		print ended frame
	}
	complete = 0
	ended = ""
	frame = ""
}
/^\t/ { frame = $2 " " $3; next }
{ put() }
/^OUTERMOST/ { complete = 1 }
/^NONE/ { complete = 1; ended = "for no reason: " }
END { put() }
