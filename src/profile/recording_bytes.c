/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/recording_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_regular(int fd, uint64_t *ret)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -ESPIPE;
	*ret = (uint64_t)st.st_size;
	return 0;
}

int recording_bytes_open(const char *path, const void **ret_data, uint64_t *ret_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r;
	void *data = NULL;
	uint64_t size = 0;

	if (fd < 0)
		return -errno;
	r = check_regular(fd, &size);
	if (!r && size) {
		data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (data == MAP_FAILED)
			r = -errno;
	}
	close(fd);
	if (r)
		return r;
	*ret_data = data;
	*ret_size = size;
	return 0;
}
