#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The live table in a terminal: keys, sizes, signals, and how the terminal is left.
. "$(dirname "$0")/lib.sh"

# in_terminal COMMAND…: used as standard input says
in_terminal() {
	needs python3
	timeout 280 "$sources/terminal-user" "$@" || fail "exit status $? of terminal-user"
}

it_is_used_in_a_terminal() {
	in_terminal "$bobbin" top --sort total -d 0.3 "$(program quarters)" 1000000 <<-'END'
		wait ^bobbin top: .*/quarters; [1-9]
		wait ^ *[0-9.]+% +[0-9.]+% +quarters +\[\.\] outer$
		wait sorted by total
		type s
		wait sorted by self
		type /inn
		wait ^symbol: inn_
		type \r
		wait symbol: inn$
		gone \] outer$
		wait \] inner$
		type \r
		wait ---inner
		wait ^ +outer$
		wait ^ +main$
		type \x1b
		gone ---inner
		type x
		wait \] outer$
		type dlibc\r
		gone \] outer$
		wait libc.so.6 +\[
		type xcquart\r
		wait Command
		wait quarters +quarters +\[\.\] inner$
		type xp999999999\r
		wait pid: 999999999$
		gone \] inner$
		type x<
		wait sorted by total
		type K
		wait without the kernel
		type \x20
		wait paused
		type z\x20+
		gone paused
		wait every 0.5 s
		wait \] outer$
		type h
		wait this help
		type j
		gone this help
		type \x1b[B\x1bOB\x1b[5~\x1b[6~\x1b[H\x1b[F\x1b[3~\x1b[1;5Cj
		size 40 10
		wait ^bobbin top: .*…$
		wait ^   Total     Self  Shared Object
		size 200 50
		wait user stacks complete, [0-9]+ lost$
		size 5 1
		size 1 1
		size 300 3
		size 80 24
		wait \] outer$
		type q
		exit 0
	END
}

it_leaves_the_terminal_as_it_was() {
	for ended in TERM:143 HUP:129 QUIT:131 INT:0; do
		in_terminal "$bobbin" top --sort total -d 0.3 "$(program quarters)" 1000000 <<-END
			wait \\] outer\$
			signal ${ended%:*}
			exit ${ended#*:}
		END
	done
	in_terminal "$bobbin" top --sort total -d 0.3 "$(program quarters)" 1000000 <<-'END'
		wait \] outer$
		type \x03
		exit 0
	END
}

it_leaves_the_terminal_where_it_crashes() {
	export ASAN_OPTIONS="handle_segv=0:handle_abort=0:$ASAN_OPTIONS"
	for crashed in SEGV:-11 ABRT:-6; do
		in_terminal "$bobbin" top -d 0.3 "$(program quarters)" 20000 <<-END
			wait \\] outer\$
			signal ${crashed%:*}
			exit ${crashed#*:}
		END
	done
}

it_stops_and_goes_on() {
	in_terminal "$bobbin" top --sort total -d 0.3 "$(program quarters)" 1000000 <<-'END'
		wait \] outer$
		type \x1a
		stopped
		signal CONT
		wait \] outer$
		type s
		wait sorted by self
		signal STOP
		signal CONT
		type s
		wait sorted by pid
		type q
		exit 0
	END
}

it_waits_in_the_background() {
	in_terminal "$bobbin" top --sort total -d 0.3 "$(program quarters)" 1000000 <<-'END'
		wait \] outer$
		type \x1a
		stopped
		background
		signal CONT
		stopped
		foreground
		type s
		wait sorted by self
		signal STOP
		halted
		background
		signal CONT
		halted
		foreground
		type s
		wait sorted by pid
		type q
		exit 0
	END
	in_terminal "$bobbin" top --sort total -d 0.3 "$(program quarters)" 1000000 <<-'END'
		wait \] outer$
		type \x1a
		stopped
		background
		signal TERM
		signal CONT
		exit 143
	END
}

it_does_not_stop_where_nobody_lets_it_go_on() {
	in_terminal --orphaned "$bobbin" top --sort total -d 0.3 "$(program quarters)" 1000000 <<-'END'
		wait \] outer$
		type \x1a
		size 40 10
		wait ^bobbin top: .*…$
		signal TERM
		exit 143
	END
}

it_keeps_the_last_table() {
	in_terminal "$bobbin" top -d 0.3 "$(program quarters)" 1000 <<-'END'
		wait it has ended
		wait \] outer$
		type s
		wait sorted by pid
		type q
		exit 0
	END
	in_terminal "$bobbin" top -z -d 3600 "$(program quarters)" 1500 <<-'END'
		wait it has ended
		wait \] outer$
		type s
		wait sorted by pid
		wait \] outer$
		type q
		exit 0
	END
	in_terminal "$bobbin" top -b -d 0.3 "$(program quarters)" 1000 <<-'END'
		exit 0
	END
}

it_shows_hostile_names() {
	nasty=$(printf 'n\033[7m\342\200\256\nF0RGED\377\302\2332J')
	mkdir -p "$nasty"
	LC_ALL=C sed 's/NASTY_______FUNCTION/n\x1b[7m\xe2\x80\xae\nF0RGED\xff\xc2\x9b2J/' \
		"$(program nasty)" >"$nasty/$nasty"
	chmod 755 "$nasty/$nasty"
	in_terminal "$bobbin" top -d 0.3 "$nasty/$nasty" 1000000 <<-'END'
		wait n\[7mF0RGED.*\[\.\] n.?\[7m.?F0RGED
		type s>
		wait sorted by comm
		wait n\[7mF0RGED.*n\[7mF0RGED.*\[\.\] n.?\[7m.?F0RGED
		type s>e
		wait ^ +(\||---)
		type q
		exit 0
	END
}

run_cases
