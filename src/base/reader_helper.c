/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * It runs after fork() in what may have been one of several threads: no malloc(), no stdio
 * streams.
 */
#include "base/reader_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor_message.h"
#include "base/file_range.h"
#include "base/living_file.h"
#include "base/text_file.h"
#include "core/deps.h"

#define FILE_COPY_MAX ((uint64_t)256 << 20)
#define TEXT_COPY_MAX ((uint64_t)64 << 20)
#define MOUNTS_SIZE 65536

/* What is left to be read. */
struct remote_range {
	uint64_t addr;
	uint8_t *dst;
	size_t size;
};

static int read_through(void *ctx, pid_t tid)
{
	struct remote_range *range = ctx;

	while (range->size) {
		struct iovec local = {range->dst, range->size};
		struct iovec remote = {(void *)(uintptr_t)range->addr, range->size};
		ssize_t n = process_vm_readv(tid, &local, 1, &remote, 1, 0);

		if (n <= 0)
			return n ? -errno : -EFAULT;
		range->dst += n;
		range->addr += (size_t)n;
		range->size -= (size_t)n;
	}
	return 0;
}

int read_remotely(pid_t pid, uint64_t addr, void *dst, size_t size)
{
	struct remote_range range = {addr, dst, size};

	return living_thread_try(pid, read_through, &range);
}

static void read_ranges(struct helper_memory *memory, pid_t pid, uint32_t count)
{
	uint8_t *to = memory->data;

	for (uint32_t i = 0; i < count; i++) {
		struct helper_range *range = &memory->ranges[i];

		range->error = read_remotely(pid, range->addr, to, range->size);
		to += range->size;
		/* what is read from now on is not older than this */
		BOBBIN_READ_FENCE();
	}
}

/* Whether we see the mount that a file was opened through: then the machine's owner made it. */
static bool is_own_mount(int fd)
{
	char name[48], text[512], *mounts, *line;
	bool found = false;
	long id;

	snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", fd);
	if (!text_file_read(name, text, sizeof(text)) ||
	    (id = text_number_after(text, "mnt_id:")) < 0)
		return false;
	mounts = mmap(NULL, MOUNTS_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (mounts == MAP_FAILED)
		return false;
	if (text_file_read("/proc/self/mountinfo", mounts, MOUNTS_SIZE))
		for (line = mounts; line && *line && !found;) {
			found = strtol(line, NULL, 10) == id;
			line = strchr(line, '\n');
			line = line ? line + 1 : NULL;
		}
	munmap(mounts, MOUNTS_SIZE);
	return found;
}

/*
 * Of the file systems that users may mount, these are the ones on which a read waits for
 * what may be a user's process.
 */
static bool may_wait(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return true;
	if (fs.f_type == OVERLAYFS_SUPER_MAGIC)
		return !is_own_mount(fd);
	return fs.f_type == FUSE_SUPER_MAGIC;
}

/* A copy of what @fd still gives, which is closed; or an errno. */
static int copy_file(struct helper_memory *memory, int fd, uint64_t limit, bool whole)
{
	const struct copy_limit all = {memory->data, HELPER_BYTES, limit, whole};

	return copy_in_memory(fd, &all);
}

static int open_file(struct helper_memory *memory, int flags, struct stat *st)
{
	int fd = living_file_open(memory->path, flags, st);

	if (fd < 0 || flags & O_DIRECTORY || !may_wait(fd))
		return fd;
	return copy_file(memory, fd, FILE_COPY_MAX, true);
}

static int open_text(struct helper_memory *memory)
{
	int fd = living_text_open(memory->path);

	return fd < 0 ? fd : copy_file(memory, fd, TEXT_COPY_MAX, false);
}

static void send_reply(int socket, const struct helper_reply *reply, int fd)
{
	if (message_send(socket, reply, sizeof(*reply), fd))
		_exit(0);
	if (fd >= 0)
		close(fd);
}

uint64_t reader_clock_us(void)
{
	return clock_now() / 1000;
}

/* How often we have waited: who only lost the processor is not counted. */
static long count_waits(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) ? 0 : usage.ru_nvcsw;
}

static void serve(int socket, struct helper_memory *memory, const struct helper_request *request)
{
	struct helper_reply reply = {0};
	uint64_t start = reader_clock_us();
	long waits = count_waits();
	int fd = -1;

	switch (request->job) {
	case HELPER_READ:
		read_ranges(memory, request->pid, request->count);
		break;
	case HELPER_OPEN:
		fd = open_file(memory, request->flags, &reply.st);
		break;
	case HELPER_STAT:
		reply.error = living_file_stat(memory->path, &reply.st);
		break;
	case HELPER_TEXT:
		fd = open_text(memory);
		break;
	}
	if ((request->job == HELPER_OPEN || request->job == HELPER_TEXT) && fd < 0)
		reply.error = fd;
	if (count_waits() != waits)
		reply.waited_us = reader_clock_us() - start;
	send_reply(socket, &reply, fd);
}

/* Whoever waits for the other end of a pipe of ours must not wait for the helper. */
static void close_others(int socket)
{
	if (socket)
		close_range(0, (unsigned int)socket - 1, 0);
	close_range((unsigned int)socket + 1, ~0u, 0);
}

void reader_helper_run(int socket, struct helper_memory *memory)
{
	struct helper_request request;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "bobbin-reader");
	close_others(socket);
	while (recv(socket, &request, sizeof(request), 0) == sizeof(request))
		serve(socket, memory, &request);
	_exit(0);
}
