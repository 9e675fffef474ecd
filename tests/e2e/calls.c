/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * calls N [BY] - calls visit() N times, which opens a file, in the process itself; BY "fork" or
 * "thread": as often again in a child or in a thread.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int count;

__attribute__((noinline)) int visit(int i)
{
	int fd = open("/dev/null", O_RDONLY);

	close(fd);
	return fd + i;
}

__attribute__((noinline)) static int visit_all(void)
{
	int sum = 0;

	for (int i = 0; i < count; i++)
		sum += visit(i);
	return sum;
}

static void *run(void *arg)
{
	visit_all();
	return arg;
}

int main(int argc, char **argv)
{
	const char *by = argc > 2 ? argv[2] : "";
	pthread_t thread;
	pid_t child;

	count = argc > 1 ? atoi(argv[1]) : 0;
	if (visit_all() == -1)
		return 1;
	if (!strcmp(by, "fork")) {
		child = fork();
		if (child < 0)
			return 2;
		if (!child)
			_exit(visit_all() == -1);
		waitpid(child, NULL, 0);
	}
	if (!strcmp(by, "thread") &&
	    (pthread_create(&thread, NULL, run, NULL) || pthread_join(thread, NULL)))
		return 2;
	return 0;
}
