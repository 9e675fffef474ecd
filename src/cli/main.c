/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpfwalk/bpf_walk.h"
#include "cli/command.h"
#include "cli/command_table.h"
#include "cli/file_limit.h"
#include "infer/x86_insn.h"

static void list_commands(FILE *out)
{
	fputs("usage: bobbin COMMAND [ARGUMENTS]\n\n"
	      "Profile programs that were built without frame pointers; make unwind tables.\n\n",
	      out);
	commands_list(out);
	fputs("\n'bobbin help COMMAND' explains a command, 'man bobbin-COMMAND' in full.\n", out);
}

static bool asks_for_help(const char *word)
{
	return !strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h");
}

static int help(int argc, char **argv)
{
	if (argc > 1 && !asks_for_help(argv[1]))
		return commands_help(argc - 1, argv + 1);
	list_commands(stdout);
	return finish_output() ? 0 : 1;
}

/*
 * A file that is opened must not get the number of a standard stream that was
 * closed: /dev/stdout would mean that file.  Whoever uses the stream fails, as if it still were.
 */
static void open_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	open_standard_streams();
	if (argc < 2) {
		list_commands(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("bobbin " BOBBIN_VERSION "%s%s\n",
		       bpf_walk_is_built() ? "" : " (without BPF)",
		       x86_decoder_exists() ? "" : " (without Zydis)");
		return finish_output() ? 0 : 1;
	}
	if (asks_for_help(argv[1]))
		return help(argc - 1, argv + 1);

	/* both are errors of write(2), too */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	file_limit_raise();
	return commands_run(argc - 1, argv + 1);
}
