/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* held - main waits in vfork() for as long as the file ./hold is there; two threads sleep. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void *doze(void *arg)
{
	for (;;)
		pause();
	return arg;
}

int main(void)
{
	pthread_t threads[2];
	pid_t child;

	if (pthread_create(&threads[0], NULL, doze, NULL) ||
	    pthread_create(&threads[1], NULL, doze, NULL))
		return 1;
	child = vfork();
	if (!child) {
		while (!access("hold", F_OK))
			usleep(1000);
		_exit(0);
	}
	return waitpid(child, NULL, 0) != child;
}
