/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * foreign_files FILE - a file system (FUSE) at ./files with one file, "code", which is FILE.
 * From SIGUSR1 on it does not answer any more.  ./ready says that it is there.  Exit status 77:
 * the kernel does not let us.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "fuse_server.h"

#define MOST (1u << 17)

static volatile sig_atomic_t silent;
static struct stat file;
static int content;

static void on_signal(int signal)
{
	silent = signal;
}

static void give_bytes(int fuse, const struct fuse_in_header *in)
{
	const struct fuse_read_in *wanted = (const void *)(in + 1);
	static char bytes[MOST];
	ssize_t n = pread(content, bytes, wanted->size < MOST ? wanted->size : MOST,
			  (off_t)wanted->offset);

	answer(fuse, in->unique, n < 0 ? -EIO : 0, bytes, n < 0 ? 0 : (size_t)n);
}

static void serve(int fuse, const struct fuse_in_header *in)
{
	switch (in->opcode) {
	case FUSE_LOOKUP:
		if (!strcmp((const char *)(in + 1), "code"))
			break;
		answer(fuse, in->unique, -ENOENT, NULL, 0);
		return;
	case FUSE_READ:
		give_bytes(fuse, in);
		return;
	case FUSE_RELEASE:
	case FUSE_FLUSH:
		answer(fuse, in->unique, 0, NULL, 0);
		return;
	}
	serve_names(fuse, in, (uint64_t)file.st_size, FOPEN_KEEP_CACHE);
}

int main(int argc, char **argv)
{
	static char request[1 << 18];
	struct sigaction action = {.sa_handler = on_signal};
	int fuse, ready;

	content = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	if (content < 0 || fstat(content, &file))
		return 1;
	sigaction(SIGUSR1, &action, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fuse = open_fuse();
	mount_fuse(fuse, ",allow_other");
	ready = open("ready", O_WRONLY | O_CREAT, 0644);
	if (ready < 0 || close(ready))
		return 1;
	for (;;) {
		ssize_t n = silent ? pause() : read(fuse, request, sizeof(request));

		if (n < 0 && errno != EINTR)
			return 0;
		if (n > 0 && !silent)
			serve(fuse, (struct fuse_in_header *)request);
	}
}
