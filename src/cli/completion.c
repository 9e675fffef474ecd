/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/completion.h"

#include <string.h>

#include "export/profile_format.h"

#define SHELLS "bash zsh"

/* clang-format off */
/* A kind is "file", "words:ONE TWO" and so on; "text" is an argument that nobody can guess. */
static const char bash_functions[] =
	"\n"
	"# COMMAND OPTION: the kind of argument that has to follow, as of -o, or of -qo\n"
	"_bobbin_wanted()\n"
	"{\n"
	"	local kind n\n"
	"	[[ $2 != --* ]] || { _bobbin_kind \"$1 $2\"; return; }\n"
	"	for ((n = 1; n < ${#2}; n++)); do\n"
	"		kind=$(_bobbin_kind \"$1 -${2:n:1}\")\n"
	"		[[ $kind ]] || continue\n"
	"		((n + 1 < ${#2})) || echo \"$kind\"\n"
	"		return\n"
	"	done\n"
	"}\n"
	"\n"
	"# KIND WORD: what a word of that kind may become\n"
	"_bobbin_offers()\n"
	"{\n"
	"	case $1 in\n"
	"	file) compgen -f -- \"$2\" ;;\n"
	"	folder) compgen -d -- \"$2\" ;;\n"
	"	program) compgen -c -- \"$2\" ;;\n"
	"	user) compgen -u -- \"$2\" ;;\n"
	"	process) compgen -W \"$(cd /proc && echo [1-9]*)\" -- \"$2\" ;;\n"
	"	words:*) compgen -W \"${1#words:}\" -- \"$2\" ;;\n"
	"	esac\n"
	"}\n"
	"\n"
	"# INDEX: the words from there on are another program's\n"
	"_bobbin_program()\n"
	"{\n"
	"	if declare -F _command_offset >/dev/null; then\n"
	"		_command_offset \"$1\"\n"
	"	else\n"
	"		local kind=file\n"
	"		((COMP_CWORD > $1)) || kind=program\n"
	"		mapfile -t COMPREPLY < <(_bobbin_offers $kind \"${COMP_WORDS[COMP_CWORD]}\")\n"
	"	fi\n"
	"}\n"
	"\n"
	"_bobbin()\n"
	"{\n"
	"	local IFS=$' \\t\\n' current=${COMP_WORDS[COMP_CWORD]}\n"
	"	local command='' kind='' prefix='' ended='' word i\n"
	"	COMPREPLY=()\n"
	"	for ((i = 1; i < COMP_CWORD; i++)); do\n"
	"		word=${COMP_WORDS[i]}\n"
	"		[[ $command || $word != help ]] || continue\n"
	"		[[ $(_bobbin_below \"$command\") ]] || break\n"
	"		command=${command:+$command }$word\n"
	"	done\n"
	"	kind=$(_bobbin_below \"$command\")\n"
	"	if [[ $kind ]]; then\n"
	"		((COMP_CWORD > 1)) || kind+=\" help --help --version\"\n"
	"		mapfile -t COMPREPLY < <(_bobbin_offers \"words:$kind\" \"$current\")\n"
	"		return\n"
	"	fi\n"
	"	[[ ${COMP_WORDS[1]} != help ]] || return 0\n"
	"	for (( ; i < COMP_CWORD; i++)); do\n"
	"		word=${COMP_WORDS[i]}\n"
	"		if [[ $kind ]]; then\n"
	"			# bash takes --option=argument for three words\n"
	"			[[ $word == = && ${COMP_WORDS[i - 1]} == --* ]] || kind=\n"
	"		elif [[ ! $ended && $word == -- ]]; then\n"
	"			ended=yes\n"
	"		elif [[ ! $ended && $word == -?* ]]; then\n"
	"			kind=$(_bobbin_wanted \"$command\" \"$word\")\n"
	"		elif [[ $(_bobbin_kind \"$command\") == program ]]; then\n"
	"			_bobbin_program $i\n"
	"			return\n"
	"		fi\n"
	"	done\n"
	"	if [[ $kind ]]; then\n"
	"		[[ $current != = ]] || current=\n"
	"	elif [[ ! $ended && $current == --*=* ]]; then\n"
	"		kind=$(_bobbin_kind \"$command ${current%%=*}\")\n"
	"		prefix=${current%%=*}=\n"
	"		current=${current#*=}\n"
	"	elif [[ ! $ended && $current == -* ]]; then\n"
	"		kind=words:$(_bobbin_options \"$command\")\n"
	"	else\n"
	"		kind=$(_bobbin_kind \"$command\")\n"
	"		[[ $kind != program ]] || { _bobbin_program $i; return; }\n"
	"		[[ $kind || $ended ]] || kind=words:$(_bobbin_options \"$command\")\n"
	"	fi\n"
	"	[[ $kind != file && $kind != folder ]] || compopt -o filenames 2>/dev/null\n"
	"	mapfile -t COMPREPLY < <(_bobbin_offers \"$kind\" \"$current\")\n"
	"	COMPREPLY=(\"${COMPREPLY[@]/#/$prefix}\")\n"
	"}\n"
	"complete -F _bobbin bobbin\n";

static const char zsh_functions[] =
	"_bobbin()\n"
	"{\n"
	"	local command\n"
	"	((CURRENT > 2)) || { _bobbin_below ''; return }\n"
	"	[[ $words[2] != help ]] || { _bobbin_help; return }\n"
	"	shift words\n"
	"	((CURRENT--))\n"
	"	command=$words[1]\n"
	"	if _bobbin_is_group $command; then\n"
	"		((CURRENT > 2)) || { _bobbin_below $command; return }\n"
	"		shift words\n"
	"		((CURRENT--))\n"
	"		command+=\" $words[1]\"\n"
	"	fi\n"
	"	_bobbin_arguments $command\n"
	"}\n"
	"\n"
	"_bobbin_help()\n"
	"{\n"
	"	((CURRENT > 3)) || { _bobbin_below ''; return }\n"
	"	((CURRENT > 4)) || ! _bobbin_is_group $words[3] || _bobbin_below $words[3]\n"
	"}\n"
	"\n"
	"if [[ $funcstack[1] == _bobbin ]]; then\n"
	"	_bobbin \"$@\"\n"
	"else\n"
	"	compdef _bobbin bobbin\n"
	"fi\n";

/* What the shells complete an argument or operand to; others cannot be guessed. */
static const struct argument_kind {
	const char *argument, *bash, *zsh;
} kinds[] = {
	{"FILE", "file", "_files"},
	{"OUT", "file", "_files"},
	{"DIR", "folder", "_files -/"},
	{"DIRS", "folder", "_files -/"},
	{"PID", "process", "_pids"},
	{"TID", "process", "_pids"},
	{"USER", "user", "_users"},
	{"COMMAND", "program", NULL},
	{"SHELL", "words:" SHELLS, "(" SHELLS ")"},
};
/* clang-format on */

#define KINDS (sizeof(kinds) / sizeof(*kinds))

static const struct argument_kind *find_kind(const char *argument)
{
	for (size_t i = 0; i < KINDS; i++)
		if (!strcmp(kinds[i].argument, argument))
			return &kinds[i];
	return NULL;
}

/* The names of the formats of export, without the commas. */
static void print_formats(FILE *out)
{
	for (const char *c = profile_format_names(); *c; c++)
		if (*c != ',')
			fputc(*c, out);
}

static void print_bash_kind(const char *argument, FILE *out)
{
	const struct argument_kind *kind = find_kind(argument);

	if (!strcmp(argument, "FORMAT")) {
		fputs("words:", out);
		print_formats(out);
		return;
	}
	fputs(kind ? kind->bash : "text", out);
}

/* The word of a command below @group, which is NULL at the top; or NULL. */
static const char *word_below(const struct completed_command *command, const char *group)
{
	const char *space = strchr(command->name, ' ');
	size_t length = group ? strlen(group) : 0;

	if (!group)
		return space ? NULL : command->name;
	return space == command->name + length && !memcmp(command->name, group, length) ? space + 1
											: NULL;
}

static void print_bash_below(const struct completed_command *commands, size_t count,
			     const char *group, FILE *out)
{
	const char *gap = "";

	fprintf(out, "\t\"%s\") echo \"", group ? group : "");
	for (size_t i = 0; i < count; i++) {
		const char *word = word_below(&commands[i], group);

		if (!word)
			continue;
		fprintf(out, "%s%s", gap, word);
		gap = " ";
	}
	fputs("\" ;;\n", out);
}

static void print_bash_options(const struct completed_command *command, FILE *out)
{
	const char *gap = "";
	struct option_words option;

	fprintf(out, "\t\"%s\") echo \"", command->name);
	for (size_t at = 0; options_next(command->options, &at, &option);) {
		if (option.letter)
			fprintf(out, "%s-%c", gap, option.letter);
		if (option.name)
			fprintf(out, "%s--%s", option.letter ? " " : gap, option.name);
		gap = " ";
	}
	fputs("\" ;;\n", out);
}

static void print_bash_kinds(const struct completed_command *command, FILE *out)
{
	struct option_words option;

	for (size_t at = 0; options_next(command->options, &at, &option);) {
		if (!option.argument)
			continue;
		fputc('\t', out);
		if (option.letter)
			fprintf(out, "\"%s -%c\"%s", command->name, option.letter,
				option.name ? " | " : "");
		if (option.name)
			fprintf(out, "\"%s --%s\"", command->name, option.name);
		fputs(") echo \"", out);
		print_bash_kind(option.argument, out);
		fputs("\" ;;\n", out);
	}
	if (!command->operand)
		return;
	fprintf(out, "\t\"%s\") echo \"", command->name);
	print_bash_kind(command->operand, out);
	fputs("\" ;;\n", out);
}

static void print_bash(const struct completed_command *commands, size_t count, FILE *out)
{
	fputs("# bash completion of bobbin: what 'bobbin completion bash' prints\n\n"
	      "# GROUP: its commands\n_bobbin_below()\n{\n\tcase $1 in\n",
	      out);
	print_bash_below(commands, count, NULL, out);
	for (size_t i = 0; i < count; i++)
		if (commands[i].is_group)
			print_bash_below(commands, count, commands[i].name, out);
	fputs("\tesac\n}\n\n# COMMAND: its options\n_bobbin_options()\n{\n\tcase $1 in\n", out);
	for (size_t i = 0; i < count; i++)
		print_bash_options(&commands[i], out);
	fputs("\tesac\n}\n\n# 'COMMAND OPTION': the kind of its argument; COMMAND: of an operand\n"
	      "_bobbin_kind()\n{\n\tcase $1 in\n",
	      out);
	for (size_t i = 0; i < count; i++)
		print_bash_kinds(&commands[i], out);
	fputs("\tesac\n}\n", out);
	fputs(bash_functions, out);
}

/* Text in single quotes, where ':' and brackets have a meaning. */
static void print_zsh_text(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\'", out);
		else if (strchr(":[]\\", *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

/* ":FILE:_files" */
static void print_zsh_kind(const char *argument, FILE *out)
{
	const struct argument_kind *kind = find_kind(argument);

	fprintf(out, ":%s:", argument);
	if (!strcmp(argument, "FORMAT")) {
		fputc('(', out);
		print_formats(out);
		fputc(')', out);
		return;
	}
	fputs(kind && kind->zsh ? kind->zsh : " ", out);
}

/* An option with an argument may be given again; a flag need not be. */
static void print_zsh_option(const struct option_words *option, FILE *out)
{
	const char *next = option->argument ? "+" : "", *equals = option->argument ? "=" : "";

	fputs(" \\\n\t\t\t", out);
	if (option->argument)
		fputs("'*'", out);
	else if (option->letter && option->name)
		fprintf(out, "'(-%c --%s)'", option->letter, option->name);
	if (option->letter && option->name)
		fprintf(out, "{-%c%s,--%s%s}", option->letter, next, option->name, equals);
	else if (option->letter)
		fprintf(out, "-%c%s", option->letter, next);
	else
		fprintf(out, "--%s%s", option->name, equals);
	fputs("'[", out);
	print_zsh_text(option->help, out);
	fputc(']', out);
	if (option->argument)
		print_zsh_kind(option->argument, out);
	fputc('\'', out);
}

static void print_zsh_arguments(const struct completed_command *command, FILE *out)
{
	bool runs_program = command->operand && !strcmp(command->operand, "COMMAND");
	struct option_words option;

	fprintf(out, "\t'%s')\n\t\t_arguments -s -S%s", command->name,
		runs_program ? " -A '-*'" : "");
	for (size_t at = 0; options_next(command->options, &at, &option);)
		print_zsh_option(&option, out);
	if (runs_program) {
		fputs(" \\\n\t\t\t'(-):COMMAND: _command_names -e' '*::ARGUMENTS: _normal'", out);
	} else if (command->operand) {
		fputs(" \\\n\t\t\t'*", out);
		print_zsh_kind(command->operand, out);
		fputc('\'', out);
	}
	fputs("\n\t\t;;\n", out);
}

static void print_zsh_below(const struct completed_command *commands, size_t count,
			    const char *group, FILE *out)
{
	fprintf(out, "\t'%s')\n\t\tbelow=(\n", group ? group : "");
	for (size_t i = 0; i < count; i++) {
		const char *word = word_below(&commands[i], group);

		if (!word)
			continue;
		fprintf(out, "\t\t\t'%s:", word);
		print_zsh_text(commands[i].summary, out);
		fputs("'\n", out);
	}
	if (!group)
		fputs("\t\t\t'help:explain a command'\n", out);
	fputs("\t\t)\n\t\t;;\n", out);
}

static void print_zsh(const struct completed_command *commands, size_t count, FILE *out)
{
	fputs("#compdef bobbin\n# zsh completion of bobbin: what 'bobbin completion zsh' prints\n\n"
	      "# GROUP: completes to its commands\n"
	      "_bobbin_below()\n{\n\tlocal -a below\n\tcase $1 in\n",
	      out);
	print_zsh_below(commands, count, NULL, out);
	for (size_t i = 0; i < count; i++)
		if (commands[i].is_group)
			print_zsh_below(commands, count, commands[i].name, out);
	fputs("\tesac\n\t_describe -t commands command below\n}\n\n_bobbin_is_group()\n{\n", out);
	for (size_t i = 0; i < count; i++)
		if (commands[i].is_group)
			fprintf(out, "\t[[ $1 != '%s' ]] || return 0\n", commands[i].name);
	fputs("\treturn 1\n}\n\n# COMMAND: completes its options and operands\n"
	      "_bobbin_arguments()\n{\n\tcase $1 in\n",
	      out);
	for (size_t i = 0; i < count; i++)
		if (!commands[i].is_group)
			print_zsh_arguments(&commands[i], out);
	fputs("\tesac\n}\n\n", out);
	fputs(zsh_functions, out);
}

bool completion_print(const char *shell, const struct completed_command *commands, size_t count,
		      FILE *out)
{
	if (!strcmp(shell, "bash"))
		print_bash(commands, count, out);
	else if (!strcmp(shell, "zsh"))
		print_zsh(commands, count, out);
	else
		return false;
	return true;
}
