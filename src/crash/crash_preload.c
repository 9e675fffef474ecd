/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What libbobbin-crash.so does for a program that it is preloaded into: with BOBBIN_CRASH in the
 * environment, the handler is installed before main().
 */
#include <bobbin/crash.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Programs close or reuse low descriptors. */
#define LOWEST_FD 100

/* A descriptor for reports, or a negative errno. */
static int open_output(const char *path)
{
	int fd, high;

	if (!strcmp(path, "-"))
		return STDERR_FILENO;
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	if (fd < 0)
		return -errno;
	high = fcntl(fd, F_DUPFD_CLOEXEC, LOWEST_FD);
	if (high < 0)
		return fd;
	close(fd);
	return high;
}

__attribute__((constructor)) static void install_by_environment(void)
{
	const char *path = secure_getenv("BOBBIN_CRASH");
	int fd, r;

	if (!path || !*path)
		return;
	fd = open_output(path);
	r = fd < 0 ? fd : bobbin_install_crash_handler(fd, 0);
	if (r)
		fprintf(stderr, "bobbin: BOBBIN_CRASH=%s: %s\n", path, strerror(-r));
}
