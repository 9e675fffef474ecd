/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/file_limit.h"

static void set_streams(enum workload_streams streams)
{
	int nothing;

	if (streams == WORKLOAD_SPARE_STDOUT)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	if (streams != WORKLOAD_NO_STREAMS)
		return;
	nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (nothing >= 0)
			dup2(nothing, fd);
}

/* In the child: wait for the word, then become the program. */
static void run(char **argv, int go, int failed)
{
	char word;
	int error;

	while (read(go, &word, 1) < 0 && errno == EINTR)
		;
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	file_limit_restore();
	execvp(argv[0], argv);
	error = errno;
	if (write(failed, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

int workload_prepare(char **argv, enum workload_streams streams, struct workload *ret)
{
	int go[2], failed[2], error;

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(failed, O_CLOEXEC)) {
		error = -errno;
		goto out_go;
	}
	ret->pid = fork();
	if (ret->pid < 0) {
		error = -errno;
		goto out;
	}
	if (!ret->pid) {
		close(go[1]);
		close(failed[0]);
		set_streams(streams);
		run(argv, go[0], failed[1]);
	}
	close(go[0]);
	close(failed[1]);
	ret->go = go[1];
	ret->failed = failed[0];
	return 0;
out:
	close(failed[0]);
	close(failed[1]);
out_go:
	close(go[0]);
	close(go[1]);
	return error;
}

int workload_start(struct workload *workload)
{
	int error = 0;
	ssize_t n;

	close(workload->go);
	/* a successful exec closes the other end */
	while ((n = read(workload->failed, &error, sizeof(error))) < 0 && errno == EINTR)
		;
	close(workload->failed);
	if (n != sizeof(error))
		return 0;
	waitpid(workload->pid, NULL, 0);
	return -error;
}

void workload_cancel(struct workload *workload)
{
	kill(workload->pid, SIGKILL);
	waitpid(workload->pid, NULL, 0);
	close(workload->go);
	close(workload->failed);
}

bool workload_ended(struct workload *workload, int *status)
{
	return wait4(workload->pid, status, WNOHANG, &workload->used) == workload->pid;
}
