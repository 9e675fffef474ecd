/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* signals MS - be interrupted by signals of its own all the time: much of it is rt_sigreturn. */
#include <signal.h>

#include "spin.h"

static volatile sig_atomic_t handled;

static void handle(int signal)
{
	handled = signal;
}

static NOINLINE void raise_signals(long ms)
{
	long end = thread_ms() + ms;

	while (thread_ms() < end)
		for (int i = 0; i < 1000; i++)
			raise(SIGUSR1);
}

int main(int argc, char **argv)
{
	signal(SIGUSR1, handle);
	raise_signals(ms_argument(argc, argv));
	return 0;
}
