#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Help where it was asked for, a hint and exit status 2 where something is wrong.
. "$(dirname "$0")/lib.sh"

commands="record top report annotate script flamegraph stack core maps doctor"

# wrong ARGUMENT…: exit status 2, something on stderr, nothing on stdout
wrong() {
	expect 2 "$bobbin" "$@"
	[ -s err ] || fail "nothing said"
	[ ! -s out ] || fail "said on stdout: $(cat out)"
}

it_prints_its_version() {
	quietly "$bobbin" --version
	grep -Eq '^bobbin [0-9]+(\.[0-9]+)*$' out
	[ "$(wc -l <out)" -eq 1 ]
	mv out version
	quietly "$bobbin" -V
	cmp out version
}

it_lists_its_commands() {
	quietly "$bobbin" help
	for command in $commands; do
		grep -q "^  $command " out
	done
	mv out list
	quietly "$bobbin" --help
	cmp out list
	wrong
	cmp err list
}

it_explains_each_command() {
	for command in $commands; do
		quietly "$bobbin" help $command
		grep -q "^usage: bobbin $command" out
		mv out help
		quietly "$bobbin" $command --help
		cmp out help
		quietly "$bobbin" $command -h
		cmp out help
		[ "$(awk '{ if (length > 95) n++ } END { print n + 0 }' out)" -eq 0 ] ||
			fail "long lines: $(cat out)"
	done
}

it_explains_each_command_of_a_group() {
	quietly "$bobbin" help sframe
	mv out group
	quietly "$bobbin" sframe --help
	cmp out group
	wrong sframe
	grep -q '^bobbin sframe: one of its commands is needed$' err
	for word in $(sed -n 's/^  \([a-z]*\)  .*/\1/p' group); do
		quietly "$bobbin" help sframe "$word"
		grep -q "^usage: bobbin sframe $word" out
		mv out help
		quietly "$bobbin" sframe "$word" -h
		cmp out help
		wrong sframe "$word"
		grep -q "^Try 'bobbin help sframe $word'.\$" err
		wrong sframe "$word" --nonsense
		grep -q "^bobbin sframe $word: unrecognized option '--nonsense'\$" err
	done
	[ -n "$word" ]
}

it_explains_every_option() {
	for command in $commands; do
		"$bobbin" help $command >help
		for option in $(grep -o -e ' --[a-z-]*' help | sort -u); do
			[ "$option" = --help ] && continue
			# an option that needs no argument refuses one, one that needs it asks for it
			status=0
			case $(grep -e " $option" help | head -n 1) in
			*"$option "[A-Z]*) "$bobbin" $command "$option" >out 2>err || status=$? ;;
			*) "$bobbin" $command "$option=x" >out 2>err || status=$? ;;
			esac
			[ $status -eq 2 ] || fail "exit status $status of $command $option"
			none 'unrecognized' <err
		done
	done
}

it_refuses_unknown_commands() {
	wrong nonsense
	complains nonsense 'bobbin help'
	mv err before
	wrong help nonsense
	cmp err before
	wrong sframe nonsense
	grep -q "no command 'sframe nonsense'" err
	mv err before
	wrong help sframe nonsense
	cmp err before
	wrong help ''
	complains "no command ''"
}

it_helps_with_one_command_at_a_time() {
	wrong help record stack
	complains "unexpected argument 'stack'"
	wrong help sframe lint more
	complains "unexpected argument 'more'"
	"$bobbin" help >list
	for words in 'help help' 'help --help' '--help help' 'help -h'; do
		quietly "$bobbin" $words
		cmp out list
	done
	for words in record 'sframe lint' sframe; do
		"$bobbin" help $words >help
		quietly "$bobbin" help $words --help
		cmp out help
	done
}

it_refuses_unknown_options() {
	for command in $commands; do
		wrong $command --nonsense
		grep -q "^Try 'bobbin help $command'.\$" err
		wrong $command -Z
		grep -q "^Try 'bobbin help $command'.\$" err
	done
}

it_refuses_stray_arguments() {
	for command in report script flamegraph; do
		wrong $command stray
		grep -q "'stray'" err
		grep -q "^Try 'bobbin help $command'.\$" err
	done
	wrong stack
	wrong stack 1 2
}

it_wants_a_command_or_a_process_to_record() {
	wrong record
	grep -q "^Try 'bobbin help record'.\$" err
	wrong record -a -p 1
	grep -q 'exclude each other' err
}

it_prints_no_bytes_of_the_command_line_as_they_are() {
	escape=$(printf '\033[31m')
	for word in "--no$escape" "-Z" "-$escape" "--freq" "--quiet=$escape" "--in" "-F$escape"; do
		wrong record "$word"
		none -F "$escape" <err
	done
	wrong record --s
	grep -q "^bobbin record: option '--s' is ambiguous$" err
	wrong record --freq
	grep -q "^bobbin record: option '--freq' requires an argument$" err
	wrong record --quiet=1
	grep -q "^bobbin record: option '--quiet' doesn't allow an argument$" err
	wrong record -Z
	grep -q "^bobbin record: invalid option -- 'Z'$" err
	wrong record -F
	grep -q "^bobbin record: option requires an argument -- 'F'$" err
}

it_refuses_what_are_no_numbers() {
	for value in '' x 0 -1 1x ' ' 99999999999999999999; do
		wrong record -F "$value" true
		wrong record -p "$value"
		wrong stack -- "$value"
	done
	wrong record -F 100001 true
	wrong record --stack-size 7 true
	wrong record --stack-size 65529 true
	for value in x -1 101 '' nan; do
		wrong report --percent-limit "$value"
		wrong report -g "$value"
	done
	wrong flamegraph --min-width x
	wrong flamegraph --min-width -1
}

it_names_the_command_and_the_option() {
	wrong script -F comm,nonsense,ip
	complains "^bobbin script: -F: unknown field 'nonsense'\$"
	wrong report --sort comm,nonsense
	complains "^bobbin report: --sort: 'comm,nonsense' "
	wrong record -F x true
	complains "^bobbin record: -F: 'x' is not a number from 1 to 100000\$"
	wrong record --freq x true
	complains "^bobbin record: --freq: 'x' is not a number from 1 to 100000\$"
	wrong record --max-stack 1 true
	complains '^bobbin record: --max-stack: '
	wrong flamegraph --min-width x
	complains '^bobbin flamegraph: --min-width: '
	wrong stack x
	complains "^bobbin stack: PID: 'x' "
	for command in $commands 'sframe dump' 'sframe convert'; do
		wrong $command --nonsense
		grep -q "^bobbin $command: unrecognized option '--nonsense'\$" err
	done
}

it_refuses_unknown_columns() {
	wrong report --sort nonsense
	complains nonsense
	wrong report --sort ''
	wrong script -F comm,nonsense
	complains nonsense
	wrong script -F ''
}

run_cases
