#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What bash and zsh offer is what the help of each command lists, and no more.
. "$(dirname "$0")/lib.sh"

# completed WORD…: what bash offers for the last word, a line each
completed() {
	needs bash
	"$bobbin" completion bash >script
	# shellcheck disable=SC2016 # bash's own variables
	bash --norc --noprofile -c '. ./script; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _bobbin
		((${#COMPREPLY[@]} == 0)) || printf "%s\n" "${COMPREPLY[@]}"' - bobbin "$@" 2>err
	[ ! -s err ] || fail "bash says: $(cat err)"
}

# offers "LINE…" WORD…: just these words
offers() {
	wanted=$1
	shift
	completed "$@" >got
	[ "$(paste -sd ' ' got)" = "$wanted" ] || fail "$*: offers $(cat got), not $wanted"
}

# command_words [GROUP]: of the help
command_words() {
	"$bobbin" help "$@" | sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p'
}

all_commands() {
	for word in $(command_words); do
		if [ "$word" = sframe ]; then
			command_words sframe | sed 's/^/sframe /'
		else
			echo "$word"
		fi
	done
}

# options_of COMMAND: those of its help, sorted
options_of() {
	# shellcheck disable=SC2086 # one word or two
	"$bobbin" help $1 | sed -n 's/^ \{2,6\}\(-.*\)/\1/p' | sed 's/   *.*//' | tr -s ', ' '\n' |
		grep '^-' | sort -u
}

it_offers_each_command() {
	completed "" | sort >got
	{
		command_words
		printf '%s\n' help --help --version
	} | sort | diff - got
	completed sframe "" | sort >got
	command_words sframe | sort | diff - got
	completed help "" | sort >got
	command_words | sort | diff - got
	offers "record report" re
	offers "dump" help sframe d
	offers "" nothing x
	offers "" help report x
}

it_offers_each_option_of_each_command() {
	count=0
	all_commands >commands
	while read -r name; do
		options_of "$name" >wanted
		[ -s wanted ]
		# shellcheck disable=SC2086 # one word or two
		completed $name - | sort >got
		diff wanted got || fail "bobbin $name"
		count=$((count + 1))
	done <commands
	[ $count -ge 19 ]
}

it_offers_files_where_options_or_commands_take_them() {
	touch one.data other.data "with blank.data"
	mkdir one.folder
	offers "one.data one.folder" report -i on
	offers "one.data one.folder" record -q -o on
	offers "one.data one.folder" export -qo on
	offers "one.data one.folder" diff other.data on
	offers "with blank.data" sframe dump --json wi
	offers "one.folder" report --symfs on
	offers "--input=one.data --input=one.folder" report --input=on
	offers "one.data one.folder" report --input = on
	offers "" report --comm on
	offers "" report on
}

it_offers_formats_processes_and_shells() {
	completed export --format "" >got
	[ "$(wc -l <got)" -ge 2 ]
	grep -qx pprof got
	while read -r format; do
		expect 1 "$bobbin" export --format "$format" -i missing -o out.data
		grep -q missing err
	done <got
	offers speedscope export --format = s
	completed stack "" >got
	grep -qx $$ got
	completed record -p "" | grep -qx $$
	offers "bash zsh" completion ""
}

it_leaves_a_program_its_own_words() {
	touch -- --frequency-of-mine one.data
	offers "--frequency-of-mine" record -F 99 ls --fr
	offers "--frequency-of-mine" record -- ls --fr
	offers "--freq" record --fr
	offers "one.data" top -- cat on
	completed record tru | grep -qx true
	completed record -q -- tru | grep -qx true
}

it_refuses_other_shells() {
	expect 2 "$bobbin" completion csh
	grep -q "there is no script for 'csh'" err
	expect 2 "$bobbin" completion
	[ ! -s out ]
}

# Types each line of the input in a terminal of zsh, which never leaves its editor, and lists what
# may follow.
zsh_listing() {
	cat >typed.zsh <<'END'
zmodload zsh/zpty
zpty shell "TERM=dumb zsh -f -i"
zpty -w shell "PS1=; fpath=($PWD \$fpath); autoload -Uz compinit; compinit -u -D; LISTMAX=9999"
zpty -w shell "zstyle ':completion:*' verbose no; stty columns 200 rows 200"
zpty -w shell "list_all() { zle list-choices; zle -R; BUFFER=; print -n END\$((0)) }; zle -N list_all; bindkey '^B' list_all"
zpty -w shell "zle-line-init() { print -n BEGIN\$((0)) }; zle -N zle-line-init"
zpty -r shell begin '*BEGIN0*'
while IFS= read -r line; do
	zpty -n -w shell "bobbin $line"$'\2'
	zpty -r shell listing '*END0*'
	print -r -- "LISTING OF $line"
	print -r -- "$listing"
done
zpty -d shell
END
	timeout 60 zsh -f typed.zsh | tr -d '\r' | sed "s/$(printf '\033')\[[0-9;?]*[a-zA-Z]//g"
}

# listed LINE: the words of the list that followed a line, sorted; what was typed is not one
listed() {
	awk -v "head=LISTING OF $1" '/^LISTING OF / { on = $0 == head; next }
		on && !/bobbin |END/' listing | tr -s ' ' '\n' | sed '/^$/d' | sort -u
}

it_offers_the_same_in_zsh() {
	needs zsh
	"$bobbin" completion zsh >_bobbin
	zsh -n _bobbin
	all_commands >commands
	{
		printf '%s\n' "" "sframe " "export --format " "report -i on"
		sed 's/$/ -/' commands
	} >lines
	touch one.data other.data
	zsh_listing <lines >listing
	{
		command_words
		echo help
	} | sort >wanted
	listed "" | diff wanted -
	command_words sframe | sort >wanted
	listed "sframe " | diff wanted -
	completed export --format "" | sort >wanted
	listed "export --format " | diff wanted -
	echo one.data >wanted
	listed "report -i on" | diff wanted -
	while read -r name; do
		options_of "$name" >wanted
		listed "$name -" >got
		diff wanted got || fail "bobbin $name"
	done <commands
}

run_cases
