/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_usage.h - the space that a folder of kept tables takes.
 */
#ifndef BOBBIN_TABLE_TABLE_USAGE_H
#define BOBBIN_TABLE_TABLE_USAGE_H

#include <bobbin/types.h>

/* How the names of tables end, and those of files that are still being written. */
#define TABLE_SUFFIX ".table"
#define TABLE_NEW_SUFFIX ".new"

/*
 * If the tables in the folder @fd have more than @limit bytes, remove those that were not used
 * for longest, until three quarters of it are left; and what somebody who died had begun to
 * write.  0; -ENOMEM; the errno of reading the folder.
 */
int table_usage_limit(int fd, uint64_t limit);

#endif
