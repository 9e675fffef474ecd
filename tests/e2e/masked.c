/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * masked MS - threads that block all signals, one that waits for all, a profiling timer of the program's
 * own, and handlers for all signals that it can have: each does what it would do alone.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

#include "spin.h"

static volatile sig_atomic_t profiled, sent[65];
static long ms;

static void on_profile(int number)
{
	profiled++;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	sent[number] = info->si_code == SI_TKILL || info->si_code == SI_QUEUE ||
		       info->si_code == SI_USER;
}

static NOINLINE void *blocking(void *arg)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	spin(ms);
	NO_TAIL_CALL();
	return NULL;
}

static NOINLINE void *waiting(void *arg)
{
	sigset_t all;
	int number = 0;

	sigfillset(&all);
	/* the timer is for the others */
	sigdelset(&all, SIGPROF);
	sigprocmask(SIG_BLOCK, &all, NULL);
	spin(ms);
	while (sigwait(&all, &number) || number != SIGUSR1)
		;
	return NULL;
}

/* Those of the C library are not to be had. */
static int raise_all(void)
{
	int missing = 0;

	for (int i = SIGRTMIN; i <= SIGRTMAX; i++) {
		struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO},
				 now = {0};

		sigaction(i, &action, NULL);
		sigaction(i, NULL, &now);
		raise(i);
		missing += !sent[i] || now.sa_sigaction != on_signal;
	}
	return missing;
}

int main(int argc, char **argv)
{
	const struct itimerval often = {{0, 10000}, {0, 10000}};
	pthread_t threads[2];
	int missing;

	ms = ms_argument(argc, argv);
	signal(SIGPROF, on_profile);
	setitimer(ITIMER_PROF, &often, NULL);
	pthread_create(&threads[0], NULL, blocking, NULL);
	pthread_create(&threads[1], NULL, waiting, NULL);
	missing = raise_all();
	spin(ms);
	pthread_kill(threads[1], SIGUSR1);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (!missing && profiled)
		return 0;
	fprintf(stderr, "masked: %d signals are missing, %d of the timer\n", missing,
		(int)profiled);
	return 1;
}
