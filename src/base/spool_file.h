/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spool_file.h - a file for what does not fit in memory, without a name.
 */
#ifndef BOBBIN_BASE_SPOOL_FILE_H
#define BOBBIN_BASE_SPOOL_FILE_H

/* Where such files are: $TMPDIR, or /var/tmp. */
const char *spool_folder(void);

/* An empty file, mode 0600, to be read and written, which is gone once it is closed; or an errno. */
int spool_file_open(void);

#endif
