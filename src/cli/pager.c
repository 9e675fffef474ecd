/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"

/* of sh(1), for a command that it has not found, or may not run */
#define NOT_FOUND 127
#define NOT_EXECUTED 126

static pid_t pager;

static bool can_show_pages(void)
{
	const char *terminal = getenv("TERM");

	return isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb");
}

static bool is_installed(const char *program)
{
	const char *folders = getenv("PATH");
	char path[PATH_MAX];

	while (folders && *folders) {
		size_t length = strcspn(folders, ":");

		if (snprintf(path, sizeof(path), "%.*s/%s", (int)length, folders, program) <
			    (int)sizeof(path) &&
		    !access(path, X_OK))
			return true;
		folders += length + (folders[length] == ':');
	}
	return false;
}

/* What the user chose is theirs to have; NULL: there is none. */
static const char *choose(void)
{
	const char *chosen = getenv("BOBBIN_PAGER");

	chosen = chosen ? chosen : getenv("PAGER");
	if (!chosen)
		return is_installed("less") ? "less" : NULL;
	return *chosen && strcmp(chosen, "cat") ? chosen : NULL;
}

static void run(const char *command, int from)
{
	dup2(from, STDIN_FILENO);
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	/* end at once if it fits on a screen, and leave it there */
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(NOT_FOUND);
}

void pager_start(void)
{
	const char *command = pager || !can_show_pages() ? NULL : choose();
	int ends[2];

	if (!command || pipe2(ends, O_CLOEXEC))
		return;
	fflush(stdout);
	pager = fork();
	if (!pager)
		run(command, ends[0]);
	if (pager > 0) {
		dup2(ends[1], STDOUT_FILENO);
		/* Ctrl-C is for the pager, which outlives nobody who feeds it */
		signal(SIGINT, SIG_IGN);
	} else {
		pager = 0;
	}
	close(ends[0]);
	close(ends[1]);
}

bool pager_end(void)
{
	int status = 0, result;

	if (!pager)
		return true;
	fflush(stdout);
	close(STDOUT_FILENO);
	while (waitpid(pager, &status, 0) < 0 && errno == EINTR)
		;
	pager = 0;
	result = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	if (result != NOT_FOUND && result != NOT_EXECUTED)
		return true;
	complain("the pager '%s' cannot be run; see $BOBBIN_PAGER and $PAGER", choose());
	return false;
}
