/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/spool_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/draft.h"

const char *spool_folder(void)
{
	const char *named = getenv("TMPDIR");

	return named && *named ? named : "/var/tmp";
}

/* Not all file systems have files that never had a name. */
int spool_file_open(void)
{
	char *name;
	int fd = nameless_file_open(spool_folder());

	if (fd >= 0)
		return fd;
	if (asprintf(&name, "%s/bobbin.XXXXXX", spool_folder()) < 0)
		return -ENOMEM;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	else
		unlink(name);
	free(name);
	return fd;
}
