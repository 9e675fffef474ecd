/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/file_range.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#define BUFFER_SIZE ((size_t)1 << 18)

ssize_t file_range_start(int fd, uint64_t offset, void *ret, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, (char *)ret + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int file_range_read(int fd, uint64_t offset, void *ret, size_t size)
{
	ssize_t n = file_range_start(fd, offset, ret, size);

	return n < 0 ? (int)n : (size_t)n < size ? -EIO : 0;
}

/* @offset: where, or -1 for the file's position. */
static int write_all(int fd, off_t offset, const char *from, size_t size)
{
	while (size) {
		ssize_t n = offset < 0 ? write(fd, from, size) : pwrite(fd, from, size, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		from += n;
		offset += offset < 0 ? 0 : n;
		size -= (size_t)n;
	}
	return 0;
}

int file_range_write(int fd, uint64_t offset, const void *bytes, size_t size)
{
	return offset > INT64_MAX ? -EINVAL : write_all(fd, (off_t)offset, bytes, size);
}

int file_append(int fd, const void *bytes, size_t size)
{
	return write_all(fd, -1, bytes, size);
}

static int copy_by_hand(int from, int to, uint64_t start, uint64_t end)
{
	char *buffer = malloc(BUFFER_SIZE);
	int r = 0;

	if (!buffer)
		return -ENOMEM;
	while (start < end && !r) {
		size_t size = end - start < BUFFER_SIZE ? (size_t)(end - start) : BUFFER_SIZE;

		r = file_range_read(from, start, buffer, size);
		if (!r)
			r = file_range_write(to, start, buffer, size);
		start += size;
	}
	free(buffer);
	return r;
}

/* The kernel copies, by sharing blocks where it can. */
static int copy_data(int from, int to, uint64_t start, uint64_t end)
{
	while (start < end) {
		off_t in = (off_t)start, out = in;
		ssize_t n = copy_file_range(from, &in, to, &out, end - start, 0);

		if (n < 0 && errno == EINTR)
			continue;
		/* not between, or not on, these file systems; what else it may be, read() says */
		if (n <= 0)
			return copy_by_hand(from, to, start, end);
		start += (uint64_t)n;
	}
	return 0;
}

/* The next range of data in [start, end); none: start == end. */
static void next_data(int fd, uint64_t *start, uint64_t *ret_end, uint64_t end)
{
	off_t data = lseek(fd, (off_t)*start, SEEK_DATA), hole;

	*ret_end = end;
	if (data < 0) {
		/* ENXIO: nothing but a hole is left */
		if (errno == ENXIO)
			*start = end;
		return;
	}
	hole = lseek(fd, data, SEEK_HOLE);
	*start = (uint64_t)data < end ? (uint64_t)data : end;
	if (hole > data && (uint64_t)hole < end)
		*ret_end = (uint64_t)hole;
}

int file_range_copy(int from, int to, uint64_t size)
{
	off_t position = lseek(from, 0, SEEK_CUR), length = lseek(from, 0, SEEK_END);
	uint64_t start = 0, end;
	int r = 0;

	if (position < 0 || length < 0)
		return -errno;
	if ((uint64_t)length < size)
		return -EIO;
	for (; start < size && !r; start = end) {
		next_data(from, &start, &end, size);
		r = copy_data(from, to, start, end);
	}
	if (!r && ftruncate(to, (off_t)size))
		r = -errno;
	/* it may be shared with a caller who reads on */
	if (lseek(from, position, SEEK_SET) < 0 && !r)
		r = -errno;
	return r;
}
