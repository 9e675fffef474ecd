/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * handler MS [alternate] - be interrupted by a timer, and work in the handler,
 * which may have a stack of its own.
 */
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "spin.h"

static long ms;
static volatile sig_atomic_t done;

static NOINLINE void on_alarm(int signal)
{
	spin(ms);
	done = signal;
}

static NOINLINE void interrupted(void)
{
	while (!done)
		;
}

int main(int argc, char **argv)
{
	static char stack[65536];
	struct itimerval soon = {.it_value = {.tv_usec = 20000}};
	struct sigaction action = {.sa_handler = on_alarm};
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};

	ms = ms_argument(argc, argv);
	if (argc > 2) {
		action.sa_flags = SA_ONSTACK;
		if (sigaltstack(&alternate, NULL))
			return 1;
	}
	if (sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &soon, NULL))
		return 1;
	interrupted();
	return 0;
}
