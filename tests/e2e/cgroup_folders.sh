# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=sh
#
# cgroup_folders.sh - cgroups for the tests, after lib.sh.

# For sh(1): FOLDER COMMAND…: the command, in this cgroup
# shellcheck disable=SC2016 # the shell that is started expands it
enter='echo $$ >"$1/cgroup.procs" && shift && exec "$@"'

# cgroup_mount NAME: where the cgroups are that events know, in $mount; a new one of them, until the case
# ends, in $group.  Skips where there are none to make.
cgroup_mount() {
	mount=$(awk '$3 == "cgroup" && $4 ~ /perf_event/ { print $2 }' /proc/self/mounts | head -n 1)
	[ "$mount" ] || mount=$(awk '$3 == "cgroup2" { print $2 }' /proc/self/mounts | head -n 1)
	[ "$mount" ] || skip "no cgroups are mounted"
	group=bobbin-test-$$-$1
	mkdir "$mount/$group" 2>/dev/null || skip "no permission to make cgroups"
	trap 'end_spawned; end_cgroups' EXIT
}

end_cgroups() {
	for _ in $(seq 100); do
		find "$mount/$group" -depth -type d -exec rmdir {} + 2>/dev/null
		[ -d "$mount/$group" ] || break
		sleep 0.1
	done
}

# spawn_in CGROUP COMMAND…
spawn_in() {
	spawn sh -c "$enter" sh "$mount/$1" "$2" "$3"
}
