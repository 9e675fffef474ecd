/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * silent_file [SECONDS] - has a file mapped as code whose file system, a child of this process (FUSE),
 * tells of the file and lets it be opened, and never gives a byte of it.  Runs until it is
 * ended, or for so many seconds.  Exit status 77: the kernel does not let us.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define SIZE 65536

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
		.size = node == FUSE_ROOT_ID ? 0 : SIZE,
		.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0755,
		.nlink = 1,
	};
}

static void serve(int fuse, const struct fuse_in_header *in)
{
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION,
		.max_write = 4096,
	};
	struct fuse_entry_out entry = {.nodeid = 2, .attr = attributes(2)};
	struct fuse_attr_out attr = {.attr = attributes(in->nodeid)};
	struct fuse_open_out opened = {0};

	switch (in->opcode) {
	case FUSE_INIT:
		answer(fuse, in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		answer(fuse, in->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		answer(fuse, in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(fuse, in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
	case FUSE_FORGET:
	case FUSE_INTERRUPT:
		break; /* the first of these waits forever */
	default:
		answer(fuse, in->unique, -ENOSYS, NULL, 0);
	}
}

static void serve_all(int fuse)
{
	static char request[1 << 16];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(fuse, request, sizeof(request)) > 0)
		serve(fuse, (struct fuse_in_header *)request);
	_exit(0);
}

static void give_way(const char *what)
{
	perror(what);
	exit(77);
}

static void mount_files(void)
{
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[128];

	if (fuse < 0)
		give_way("/dev/fuse");
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		give_way("unshare");
	mkdir("files", 0755);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	if (mount("silent", "files", "fuse", 0, options))
		give_way("mount");
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
