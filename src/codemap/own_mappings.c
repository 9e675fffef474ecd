/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "codemap/own_mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/shortage.h"

/* As emulators show it, too.  It is empty when the first thread has ended. */
#define FIRST_THREAD_MAPS "/proc/self/maps"
/* What is asked of a descriptor outlives the thread. */
#define MAPS "/proc/thread-self/maps"

/* struct procmap_query and what it is for are in <linux/fs.h> since Linux 6.11. */
struct mapping_query {
	uint64_t size, flags, addr;
	uint64_t start, end, vma_flags, page_size, offset, inode;
	uint32_t dev_major, dev_minor, name_size, build_id_size;
	uint64_t name, build_id;
};

#define MAPPING_QUERY _IOWR('f', 17, struct mapping_query)
#define QUERY_EXECUTABLE 0x04

void own_mappings_init(struct own_mappings *ret)
{
	*ret = (struct own_mappings){.fd = -1};
}

static bool is_ours(const struct own_mappings *m)
{
	struct stat st;

	return m->fd >= 0 && !fstat(m->fd, &st) && st.st_dev == m->dev && st.st_ino == m->ino;
}

void own_mappings_fini(struct own_mappings *m)
{
	if (is_ours(m))
		close(m->fd);
	m->fd = -1;
}

/* The descriptor, or -1. */
static int maps_fd(struct own_mappings *m)
{
	struct stat st;

	if (is_ours(m))
		return m->fd;
	m->fd = open(MAPS, O_RDONLY | O_CLOEXEC);
	if (m->fd < 0)
		return -1;
	if (fstat(m->fd, &st)) {
		close(m->fd);
		m->fd = -1;
		return -1;
	}
	m->dev = st.st_dev;
	m->ino = st.st_ino;
	return m->fd;
}

/* 0, -EFAULT, or -ENOTTY: the kernel cannot be asked. */
static int query(int fd, uint64_t start, uint64_t end)
{
	while (start < end) {
		struct mapping_query q = {
			.size = sizeof(q), .flags = QUERY_EXECUTABLE, .addr = start};

		if (ioctl(fd, MAPPING_QUERY, &q)) {
			if (errno == EINTR || errno == EAGAIN)
				continue;
			return errno == ENOENT ? -EFAULT : -ENOTTY;
		}
		if (q.end <= start)
			return -EFAULT;
		start = q.end;
	}
	return 0;
}

/* Lines are "start-end rwxp …" in ascending order. */
static int scan(FILE *maps, uint64_t at, uint64_t end)
{
	char *line = NULL;
	size_t room = 0;

	while (at < end && getline(&line, &room, maps) > 0) {
		uint64_t from, to;
		char rights[5];

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &from, &to, rights) != 3)
			break;
		if (to <= at)
			continue;
		if (from > at || rights[2] != 'x')
			break;
		at = to;
	}
	free(line);
	return at < end ? -EFAULT : 0;
}

/* NULL, with errno: there is nothing to read. */
static FILE *open_maps(void)
{
	FILE *maps = fopen(FIRST_THREAD_MAPS, "re");
	int c = maps ? getc(maps) : EOF;

	if (c != EOF) {
		ungetc(c, maps);
		return maps;
	}
	if (maps)
		fclose(maps);
	return fopen(MAPS, "re");
}

/* 0, -EFAULT, -ENOENT: there is nothing to read; or there are no descriptors for it. */
static int reread(uint64_t start, uint64_t end)
{
	FILE *maps = open_maps();
	int r;

	if (!maps)
		return is_shortage(-errno) ? -errno : -ENOENT;
	r = scan(maps, start, end);
	fclose(maps);
	return r;
}

/* Without /proc, test at least whether the memory is mapped. */
static int is_mapped(uint64_t start, uint64_t end)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char pages[1024];

	start &= ~(uint64_t)(page - 1);
	while (start < end) {
		size_t n = end - start;

		if (n > sizeof(pages) * page)
			n = sizeof(pages) * page;
		if (mincore((void *)(uintptr_t)start, n, pages) && errno != EAGAIN)
			return -EFAULT;
		start += n;
	}
	return 0;
}

/*
 * Check after a refusal only whether the descriptor is still ours.  Only /proc/PID/maps of
 * another process, opened in place of ours, with executable memory at the same addresses,
 * would make a wrong answer positive.
 */
static int check(struct own_mappings *m, uint64_t start, uint64_t end)
{
	int fd, r;

	if (m->fd >= 0 && !m->no_query && !query(m->fd, start, end))
		return 0;
	fd = m->no_query ? -1 : maps_fd(m);
	if (fd >= 0) {
		r = query(fd, start, end);
		if (r != -ENOTTY)
			return r;
		own_mappings_fini(m);
		m->no_query = true;
	}
	r = reread(start, end);
	return r == -ENOENT ? is_mapped(start, end) : r;
}

/* No program has the upper half, in which /proc shows one page for all. */
static bool is_upper(uint64_t start, uint64_t end)
{
	return start >= end || end > INT64_MAX;
}

int own_mappings_executable(struct own_mappings *m, uint64_t start, uint64_t end)
{
	int saved = errno, r;

	r = is_upper(start, end) ? -EFAULT : check(m, start, end);
	errno = saved;
	return r;
}
