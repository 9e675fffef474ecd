/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* storming COUNT MS - fork that many children, eight at a time, who work a little and end. */
#include <sys/wait.h>
#include <unistd.h>

#include "spin.h"

#define AT_ONCE 8

static NOINLINE void child(long ms)
{
	spin(ms);
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	for (long i = 0; i < atol(argv[1]); i++) {
		pid_t pid = fork();

		if (!pid) {
			child(atol(argv[2]));
			_exit(0);
		}
		if (pid < 0 || i >= AT_ONCE)
			wait(NULL);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
