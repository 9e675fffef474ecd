/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/nameless_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#define TRIES 100

int nameless_file_open(const char *folder)
{
	int fd = access("/proc/self/fd", X_OK) ? -1
					       : open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd < 0 ? -ENOTSUP : fd;
}

int nameless_file_name(int fd, const char *name)
{
	char own[32];

	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, own, AT_FDCWD, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

int nameless_file_name_like(int fd, const char *start, char **ret)
{
	int r = -EEXIST;

	for (int tries = 0; r == -EEXIST && tries < TRIES; tries++) {
		uint32_t number;
		char *name;

		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			return -EIO;
		if (asprintf(&name, "%s%06x", start, number & 0xffffff) < 0)
			return -ENOMEM;
		r = nameless_file_name(fd, name);
		if (r)
			free(name);
		else
			*ret = name;
	}
	return r;
}
