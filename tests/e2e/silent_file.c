/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * silent_file [SECONDS] - has a file mapped as code whose file system, a child of this process (FUSE),
 * tells of the file and lets it be opened, and never gives a byte of it.  Runs until it is
 * ended, or for so many seconds.  Exit status 77: the kernel does not let us.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "fuse_server.h"

#define SIZE 65536

/* Who reads waits for ever. */
static void serve(int fuse, const struct fuse_in_header *in)
{
	if (in->opcode != FUSE_READ)
		serve_names(fuse, in, SIZE, 0);
}

static void serve_all(int fuse)
{
	static char request[1 << 16];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(fuse, request, sizeof(request)) > 0)
		serve(fuse, (struct fuse_in_header *)request);
	_exit(0);
}

static void mount_files(void)
{
	int fuse = open_fuse();

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		give_way("unshare");
	mount_fuse(fuse, "");
	if (!fork())
		serve_all(fuse);
	close(fuse);
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atol(argv[1]) : 0);
	FILE *ready;
	void *code;
	int fd;

	mount_files();
	fd = open("files/code", O_RDONLY);
	code = mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (fd < 0 || code == MAP_FAILED)
		give_way("files/code");
	ready = fopen("ready", "w");
	if (!ready || fclose(ready))
		return 1;
	for (volatile long i = 0; argc < 2 || time(NULL) < end; i++)
		;
	return 0;
}
