# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Of `script -F ip,sym,dso,reason`: the last frame of each complete trace, as "FUNCTION FILE";
# of one that ended for no reason, too.  With -v within=FOLDER/, of those through a file there only.
function put() {
	if (complete && frame && own) {
		sub(/\+0x[0-9a-f]+ \(/, " ", frame)
		sub(/\)$/, "", frame)
		print ended frame
	}
	complete = 0
	ended = ""
	frame = ""
	own = within == ""
}
BEGIN { own = within == "" }
/^\t/ {
	frame = $2 " " $3
	own = own || index($0, "(" within)
	next
}
{ put() }
/^OUTERMOST/ { complete = 1 }
/^NONE/ { complete = 1; ended = "for no reason: " }
END { put() }
