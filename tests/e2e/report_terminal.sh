#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A recording in a terminal, with the keys of the live table.
. "$(dirname "$0")/lib.sh"

# One recording serves all cases: two events, two commands.
recording() {
	needs python3
	[ -e "$work/recording" ] || {
		program chain >/dev/null
		"$bobbin" record -q -e cpu-clock,page-faults -o "$work/recording" "$(program family)" 300 "$work/bin/chain"
	}
	cp "$work/recording" perf.data
}

# in_terminal COMMAND…: used as standard input says
in_terminal() {
	timeout 280 "$sources/terminal-user" "$@" || fail "exit status $? of terminal-user"
}

it_is_walked_through_in_a_terminal() {
	recording
	in_terminal "$bobbin" report --tui <<-'END'
		wait ^bobbin report: perf.data; [0-9]+ samples of cpu-clock, .* user stacks complete, 0 lost$
		wait ^event count [0-9]+; event 1 of 2, Tab shows the next$
		wait ^sorted by total$
		wait ^   Total     Self  Shared Object +Symbol
		wait ^ *[0-9.]+% +0.00% +family +\[\.\] in_child$
		type s
		wait sorted by self
		type /spi
		wait ^symbol: spi_
		type n\r
		wait symbol: spin$
		gone \] in_child$
		wait \] spin$
		type \r
		wait ---spin
		wait ^ +main$
		type G
		gone ---spin
		wait ^ +spin$
		type Ge
		gone ---spin
		type xccha\r
		wait Command
		wait chain +chain +\[\.\] spin$
		gone family +family
		type xs
		wait sorted by pid
		wait PID  Command
		wait ^ *[0-9.]+% +[0-9.]+% +[0-9]+  family
		type h
		wait Tab         show the next event
		gone count from zero
		type j
		gone show the next event of
		type z\x20+-
		type \t
		wait samples of page-faults
		wait event 2 of 2
		type \t
		wait samples of cpu-clock
		type K
		wait without the kernel
		type \x1b[B\x1bOB\x1b[5~\x1b[6~\x1b[H\x1b[F\x1b[3~\x1b[1;5Cj
		size 40 10
		wait ^bobbin report: .*…$
		size 5 1
		size 1 1
		size 300 3
		size 80 24
		wait sorted by pid; without the kernel$
		type q
		exit 0
	END
}

it_begins_with_what_is_asked_for() {
	recording
	in_terminal "$bobbin" report --tui --no-children --event page-faults --comm family <<-'END'
		wait samples of page-faults
		wait sorted by self
		wait ^event count [0-9]+$
		type q
		exit 0
	END
}

it_leaves_the_terminal_as_it_was() {
	recording
	for ended in TERM:143 HUP:129 INT:0; do
		in_terminal "$bobbin" report --tui <<-END
			wait \\] in_child\$
			signal ${ended%:*}
			exit ${ended#*:}
		END
	done
	in_terminal "$bobbin" report --tui <<-'END'
		wait \] in_child$
		type \x1a
		stopped
		signal CONT
		wait \] in_child$
		type s
		wait sorted by self
		type \x03
		exit 0
	END
}

it_is_refused_where_there_is_no_terminal() {
	recording
	expect 1 "$bobbin" report --tui
	complains '^bobbin: --tui: standard input and output are no terminal'
	for options in '--json' '--sort comm'; do
		# shellcheck disable=SC2086 # words
		expect 2 "$bobbin" report --tui $options
		grep -q '^bobbin report: --tui shows neither' err
	done
	in_terminal env TERM=dumb "$bobbin" report --tui <<-'END'
		wait bobbin: --tui: standard input and output are no terminal
		exit 1
	END
}

it_shows_that_there_is_nothing() {
	needs python3
	record -F 1 true
	in_terminal "$bobbin" report --tui <<-'END'
		wait ; 0 samples of
		type jks/x\r\re
		wait symbol: x$
		type q
		exit 0
	END
}

it_shows_hostile_names() {
	needs python3
	nasty=$(printf 'n\033[7m\342\200\256\nF0RGED\377\302\2332J')
	mkdir -p "$nasty"
	LC_ALL=C sed 's/NASTY_______FUNCTION/n\x1b[7m\xe2\x80\xae\nF0RGED\xff\xc2\x9b2J/' \
		"$(program nasty)" >"$nasty/$nasty"
	chmod 755 "$nasty/$nasty"
	record -o "$nasty.data" "$nasty/$nasty" 300
	in_terminal "$bobbin" report --tui -i "$nasty.data" <<-'END'
		wait ^bobbin report: n\[7mF0RGED
		wait n\[7mF0RGED.*\[\.\] n.?\[7m.?F0RGED
		type s>>e
		wait ^ +(\||---)
		type q
		exit 0
	END
}

run_cases
