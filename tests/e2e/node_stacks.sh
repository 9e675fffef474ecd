# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=sh
#
# node_stacks.sh - what may be expected of node's stacks, after lib.sh.

# complete_of_node: as complete(), where V8's built-in functions have symbols.  Debian's have none: it is
# not proved where they begin, so that the way through one of them is a guess in nearly all stacks.
complete_of_node() {
	if readelf -sW "$(realpath "$(command -v node)")" | grep -q ' Builtins_'; then
		complete
	else
		reasons | mostly 90 '^\(OUTERMOST\|LIKELY\)$'
	fi
}
