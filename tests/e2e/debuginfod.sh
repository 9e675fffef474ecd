#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Names and lines from elfutils' own server, which runs in a network of its own: there all ports are
# free, and nobody else can reach it.
. "$(dirname "$0")/lib.sh"

export no_proxy='*'

# recording NAME [FLAG…]: a stripped program in ./NAME, recorded, with its debug file in ./served
recording() {
	mkdir -p served
	gcc -g -O2 -Wl,--build-id -o "$@" "$sources/debug_files.c"
	objcopy --only-keep-debug "$1" "served/$1.debug"
	strip "$1"
	"$bobbin" record -q -o "$1.data" "./$1" 300
}

needs_network() {
	needs_root
	needs debuginfod debuginfod-find ip unshare
	unshare --net ip link set lo up || skip "no network namespaces"
	ldconfig -p | grep -q 'libdebuginfod\.so\.1' || skip "no libdebuginfod"
}

# in_network COMMAND…: in one where nothing but the loopback is
in_network() {
	# shellcheck disable=SC2016 # it is for the other shell
	unshare --net sh -c 'ip link set lo up && exec "$@"' sh "$@"
}

# The whole of a case within the network: $bobbin, the server, and what is in ./case
serve_and_run() {
	cat >serve <<-'END'
		debuginfod -p 8002 -F -d ':memory:' served >server.log 2>&1 &
		server=$!
		trap 'kill $server || :; wait $server || :' EXIT
		id=$(readelf -n hidden | sed -n 's/.*Build ID: //p')
		export DEBUGINFOD_URLS=http://127.0.0.1:8002
		tries=0
		# it must have looked through the folder, and says of what it lacks that it lacks it
		until DEBUGINFOD_CACHE_PATH=$(mktemp -d -p .) debuginfod-find debuginfo "$id" >/dev/null 2>&1; do
			kill -0 $server || exit 1
			tries=$((tries + 1))
			[ $tries -lt 1200 ] || exit 1
			sleep 0.05
		done
		export DEBUGINFOD_CACHE_PATH=$PWD/cache
		. ./case
	END
	in_network sh -eu serve || fail "in the network: $(tail -n 5 server.log)"
}

it_gets_names_and_lines_from_a_server() {
	needs_network
	recording hidden
	expect 0 "$bobbin" script -i hidden.data -F ip,sym,srcline
	! grep -q 'hidden_leaf\|debug_files\.c' out
	cat >case <<-END
		"$bobbin" script -i hidden.data -F ip,sym,srcline >lines
		"$bobbin" report -i hidden.data --no-children -g none >report
		"$bobbin" annotate -i hidden.data hidden_leaf >annotated
		kill \$server
		wait \$server || :
		trap - EXIT
		# what is in the cache needs no server
		"$bobbin" report -i hidden.data --no-children -g none >again
	END
	serve_and_run 2>err
	grep -q ' hidden_leaf' lines
	grep -q 'debug_files\.c:1[0-9]' lines
	grep -q '\[\.\] hidden_leaf$' report
	grep -q 'debug_files\.c:1[0-9] .*sink += i' annotated
	cmp report again
	[ -s "cache/$(readelf -n hidden | sed -n 's/.*Build ID: //p')/debuginfo" ]
}

it_uses_no_file_with_another_build_id() {
	needs_network
	recording hidden
	recording other -falign-functions=64
	cat >case <<-END
		id=\$(readelf -n hidden | sed -n 's/.*Build ID: //p')
		mkdir -p cache/\$id
		cp served/other.debug cache/\$id/debuginfo
		"$bobbin" report -i hidden.data --no-children -g none >report
	END
	serve_and_run
	! grep -q hidden_leaf report
}

it_waits_once_for_servers_that_do_not_answer() {
	needs_network
	recording hidden
	recording other -falign-functions=64
	recording third -falign-functions=128
	"$bobbin" record -q -o all.data sh -c 'for p in hidden other third; do ./$p 200; done'
	cat >silent.py <<-'END'
		import socket, sys
		server = socket.create_server(("127.0.0.1", 8002))
		open("listening", "w").close()
		taken = []
		while True:
		    taken.append(server.accept())
		    print(len(taken), flush=True)
	END
	cat >hang <<-END
		python3 silent.py >connections &
		server=\$!
		trap 'kill \$server; wait \$server || :' EXIT
		until [ -e listening ]; do sleep 0.05; done
		export DEBUGINFOD_URLS=http://127.0.0.1:8002 DEBUGINFOD_TIMEOUT=2 DEBUGINFOD_CACHE_PATH=$PWD/cache
		"$bobbin" report -i all.data --no-children -g none >report 2>said
		cat connections >connected
	END
	in_network sh -eu hang || fail "no report: $(cat said)"
	[ "$(wc -l <said)" -eq 1 ] || fail "not one line: $(cat said)"
	grep -q '^bobbin: the servers of $DEBUGINFOD_URLS do not answer' said
	# for the first file, which the library may ask for three times
	[ "$(wc -l <connected)" -le 3 ] || fail "connected $(wc -l <connected) times"
	grep -Eq '\[\.\] hidden\+0x' report
}

run_cases
