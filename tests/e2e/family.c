/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * family MS PROGRAM - a child that calls exec of itself, which calls exec of
 * PROGRAM; a child that does not; and the parent: each is busy.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spin.h"

static NOINLINE void in_parent(long ms)
{
	spin(ms);
	NO_TAIL_CALL();
}

static NOINLINE void in_child(long ms)
{
	spin(ms);
	NO_TAIL_CALL();
}

static NOINLINE void in_next(long ms)
{
	spin(ms);
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	int status, bad = 0;

	if (argc < 3)
		return 2;
	if (argc > 3) {
		in_next(atol(argv[1]));
		execl(argv[2], argv[2], argv[1], NULL);
		return 3;
	}
	if (!fork()) {
		in_child(atol(argv[1]));
		_exit(0);
	}
	if (!fork()) {
		execl(argv[0], argv[0], argv[1], argv[2], "next", NULL);
		_exit(3);
	}
	in_parent(atol(argv[1]));
	while (wait(&status) > 0)
		bad |= status;
	return bad != 0;
}
