/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trusted_file.h - files by which a process tells of its code.
 *
 * They lie where others may write, under names that can be guessed.  So only
 * regular files are opened, without waiting, and only those of root or of the
 * process's user count.
 */
#ifndef BOBBIN_SYMBOL_TRUSTED_FILE_H
#define BOBBIN_SYMBOL_TRUSTED_FILE_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/process_reader.h"

/* Who may tell.  Of a process that is gone it is the user of this one. */
struct file_teller {
	pid_t inner_pid; /* of the process in its own PID namespace */
	uid_t user, effective;
	bool alive;
};

/* By /proc/PID/status. */
struct file_teller file_teller_of(pid_t pid);

bool file_teller_owns(const struct file_teller *teller, const struct stat *st);

/*
 * A descriptor of the regular file @path, no symbolic link, and its status, if it can be
 * trusted; or a negative number.  @process: whose it may be, as for process_file_open().
 */
int trusted_file_open(const struct remote_process *process, const char *path,
		      const struct file_teller *teller, struct stat *st);

#endif
