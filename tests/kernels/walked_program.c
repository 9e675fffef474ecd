/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* walked_program MS - compute deep in a recursion, and as deep in a signal handler. */
#include <alloca.h>
#include <signal.h>

#include "../e2e/spin.h"

#define DEPTH 30

static volatile sig_atomic_t handled;

static void handle(int signal)
{
	spin(1);
	handled = signal;
}

/* How large its frame is turns out when it runs, so it has a frame pointer. */
static NOINLINE void descend(int depth)
{
	if (depth % 2)
		*(volatile char *)alloca((size_t)depth * 8) = 1;
	if (depth) {
		descend(depth - 1);
	} else {
		spin(1);
		raise(SIGUSR1);
	}
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	long end = thread_ms() + ms_argument(argc, argv);

	signal(SIGUSR1, handle);
	while (thread_ms() < end)
		descend(DEPTH);
	return 0;
}
