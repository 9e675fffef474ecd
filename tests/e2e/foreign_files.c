/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * foreign_files FILE - a file system (FUSE) at ./files with one file, "code", which is FILE.
 * From SIGUSR1 on it does not answer any more.  ./ready says that it is there.  Exit status 77:
 * the kernel does not let us.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define MOST (1u << 17)

static volatile sig_atomic_t silent;
static struct stat file;
static int content;

static void on_signal(int signal)
{
	silent = signal;
}

static void answer(int fuse, uint64_t unique, int error, const void *body, size_t size)
{
	struct fuse_out_header head = {
		.len = (uint32_t)(sizeof(head) + size),
		.error = error,
		.unique = unique,
	};
	struct iovec parts[2] = {{&head, sizeof(head)}, {(void *)body, size}};

	if (writev(fuse, parts, 2) < 0 && errno != ENOENT)
		_exit(1);
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node,
		.size = node == FUSE_ROOT_ID ? 0 : (uint64_t)file.st_size,
		.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0755,
		.nlink = 1,
	};
}

static void give_bytes(int fuse, const struct fuse_in_header *in)
{
	const struct fuse_read_in *wanted = (const void *)(in + 1);
	static char bytes[MOST];
	ssize_t n = pread(content, bytes, wanted->size < MOST ? wanted->size : MOST,
			  (off_t)wanted->offset);

	answer(fuse, in->unique, n < 0 ? -EIO : 0, bytes, n < 0 ? 0 : (size_t)n);
}

/* Nothing is valid for any time: each access asks again. */
static void serve(int fuse, const struct fuse_in_header *in)
{
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION,
		.max_write = 4096,
	};
	struct fuse_entry_out entry = {.nodeid = 2, .attr = attributes(2)};
	struct fuse_attr_out attr = {.attr = attributes(in->nodeid)};
	struct fuse_open_out opened = {.open_flags = FOPEN_KEEP_CACHE};

	switch (in->opcode) {
	case FUSE_INIT:
		answer(fuse, in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		if (strcmp((const char *)(in + 1), "code"))
			answer(fuse, in->unique, -ENOENT, NULL, 0);
		else
			answer(fuse, in->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		answer(fuse, in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(fuse, in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		give_bytes(fuse, in);
		break;
	case FUSE_RELEASE:
	case FUSE_FLUSH:
		answer(fuse, in->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(fuse, in->unique, -ENOSYS, NULL, 0);
	}
}

static void give_way(const char *what)
{
	perror(what);
	exit(77);
}

static int mount_files(void)
{
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[128];

	if (fuse < 0)
		give_way("/dev/fuse");
	mkdir("files", 0755);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 fuse);
	if (mount("foreign", "files", "fuse", 0, options))
		give_way("mount");
	return fuse;
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
	fuse = mount_files();
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
