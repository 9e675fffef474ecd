/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "crash/raw_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "unwind/assembly.h"

int raw_file_open(const char *path, int flags)
{
	return (int)raw_syscall(SYS_openat, AT_FDCWD, (long)path,
				O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags, 0);
}

void raw_file_close(int fd)
{
	raw_syscall(SYS_close, fd, 0, 0, 0);
}

size_t raw_file_read_at(int fd, uint64_t offset, void *dst, size_t size)
{
	size_t done = 0;

	while (done < size && offset + done <= INT64_MAX) {
		long n = raw_syscall(SYS_pread64, fd, (long)((char *)dst + done),
				     (long)(size - done), (long)(offset + done));

		if (n > 0)
			done += (size_t)n;
		else if (n != -EINTR)
			break;
	}
	return done;
}

size_t raw_file_read(int fd, void *dst, size_t size)
{
	long n;

	do
		n = raw_syscall(SYS_read, fd, (long)dst, (long)size, 0);
	while (n == -EINTR);
	return n > 0 ? (size_t)n : 0;
}

bool raw_file_text(const char *path, char *ret, size_t size)
{
	size_t n, done = 0;
	int fd = raw_file_open(path, 0);

	if (fd < 0)
		return false;
	while (done < size - 1 && (n = raw_file_read(fd, ret + done, size - 1 - done)))
		done += n;
	ret[done] = 0;
	raw_file_close(fd);
	return true;
}

const char *raw_file_path(char ret[RAW_FILE_PATH], const char *prefix, unsigned int number,
			  const char *suffix)
{
	char digits[10];
	size_t at = 0, count = 0;

	do
		digits[count++] = (char)('0' + number % 10);
	while (number /= 10);
	while (*prefix && at < RAW_FILE_PATH - 1)
		ret[at++] = *prefix++;
	while (count && at < RAW_FILE_PATH - 1)
		ret[at++] = digits[--count];
	while (*suffix && at < RAW_FILE_PATH - 1)
		ret[at++] = *suffix++;
	ret[at] = 0;
	return ret;
}
