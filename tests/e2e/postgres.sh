# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=sh
#
# postgres.sh - a server of PostgreSQL, with its clients, as a user without any permission, after lib.sh.

as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs"

# copy_for_all: the command, and what it preloads, where everybody may read them, as $copied
copy_for_all() {
	needs_root
	needs setpriv
	mkdir -p "$work/bin/cli"
	cp "$(dirname "$bobbin")"/../libbobbin-sampler.so "$(dirname "$bobbin")"/../libbobbin-heap.so "$work/bin/"
	copied=$work/bin/cli/bobbin
	cp "$bobbin" "$copied"
	chmod 777 .
}

# postgres_by COMMAND…: the command runs a server and a load, and succeeds
postgres_by() {
	bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
	needs "$bin/postgres" "$bin/pgbench"
	$as_nobody "$bin/initdb" -D db -U bench -A trust -N >init.log 2>&1 || fail "$(cat init.log)"
	cat >serve <<-END
		"$bin/postgres" -D db -k "\$PWD/db" -c listen_addresses= -c fsync=off >server.log 2>&1 & server=\$!
		until "$bin/psql" -h "\$PWD/db" -U bench -c 'select 1' postgres >psql.log 2>&1; do sleep 0.1; done
		"$bin/pgbench" -h "\$PWD/db" -U bench -i -s 1 -q postgres >load.log 2>&1 &&
			"$bin/pgbench" -h "\$PWD/db" -U bench -n -c 2 -t 10000 postgres >bench.log 2>&1
		status=\$?
		kill -INT \$server
		wait \$server
		exit \$status
	END
	# shellcheck disable=SC2086 # a list of words
	expect 0 env HOME="$PWD" $as_nobody "$@" sh serve
}
