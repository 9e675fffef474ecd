/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "storm.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORKER_PLACES 7 /* of a maker that does not exist */

__attribute__((noinline)) void forker_round(struct actor *actor)
{
	static struct actor maker = {.number = FORKER_PLACES, .seed = 4711};
	sigset_t profile;
	pid_t child;
	int status = 0;

	maker_round(&maker);
	/* an interrupted fork starts again, and would never end */
	sigemptyset(&profile);
	sigaddset(&profile, SIGPROF);
	pthread_sigmask(SIG_BLOCK, &profile, NULL);
	child = fork();
	if (child)
		pthread_sigmask(SIG_UNBLOCK, &profile, NULL);
	if (child < 0) {
		storm_failed("fork", errno);
		return;
	}
	if (!child)
		_exit(maker_in_child(&maker) ? 0 : 1);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (status) {
		atomic_fetch_add(&storm_counters.failed, 1);
		storm_failed("a child failed", ECHILD);
	}
	atomic_fetch_add(&storm_counters.children, 1);
	usleep(2000);
}
