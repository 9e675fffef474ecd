/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fuse_server.h - what a process needs to serve a file system (FUSE) with one file at ./files.
 */
#ifndef FUSE_SERVER_H
#define FUSE_SERVER_H

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* The number of the file. */
#define FILE_NODE 2

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

/* Of the folder, or of the file, which has so many bytes. */
static struct fuse_attr attributes(uint64_t node, uint64_t size)
{
	return (struct fuse_attr){
		.ino = node,
		.size = node == FUSE_ROOT_ID ? 0 : size,
		.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0755,
		.nlink = 1,
	};
}

/* The kernel does not let us. */
static void give_way(const char *what)
{
	perror(what);
	exit(77);
}

static int open_fuse(void)
{
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fuse < 0)
		give_way("/dev/fuse");
	return fuse;
}

static void mount_fuse(int fuse, const char *more)
{
	char options[128];

	mkdir("files", 0755);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0%s", fuse,
		 more);
	if (mount("served", "files", "fuse", 0, options))
		give_way("mount");
}

/* What is asked before the file is opened, and how it is opened. */
static void serve_names(int fuse, const struct fuse_in_header *in, uint64_t size,
			uint32_t open_flags)
{
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION,
		.max_write = 4096,
	};
	/* nothing is valid for any time: each access asks again */
	struct fuse_entry_out entry = {.nodeid = FILE_NODE, .attr = attributes(FILE_NODE, size)};
	struct fuse_attr_out attr = {.attr = attributes(in->nodeid, size)};
	struct fuse_open_out opened = {.open_flags = open_flags};

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
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(fuse, in->unique, -ENOSYS, NULL, 0);
	}
}

#endif
