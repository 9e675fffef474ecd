/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spool.h - a recording that comes through a pipe, kept while it is read.
 *
 * Samples are shown in the order of time, and files are mapped: all of it must be
 * there first.
 */
#ifndef BOBBIN_CLI_SPOOL_H
#define BOBBIN_CLI_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

/* More than that is not kept. */
#define SPOOL_MAX ((uint64_t)16 << 30)

struct spool {
	int fd;        /* of the file, or -1 */
	char path[32]; /* under which it can be opened */
};

/*
 * Make what @path names a file that can be mapped: "-", standard input, and pipes are read
 * to their end into a file without a name in $TMPDIR, or /var/tmp.  Unless @any_owner, what
 * belongs to another user, but root, is refused.  *@ret_path: what to open.  0, or 1 after a
 * complaint.  spool_close() follows in any case.
 */
int spool_open(const char *path, bool any_owner, struct spool *spool, const char **ret_path);
void spool_close(struct spool *spool);

#endif
