/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * file_attributes.h - owner, mode and extended attributes, for a file that replaces another.
 */
#ifndef BOBBIN_CLI_FILE_ATTRIBUTES_H
#define BOBBIN_CLI_FILE_ATTRIBUTES_H

#include <sys/stat.h>

/*
 * Give all but what gives privileges: from the file at @from, whose @status is known, to that
 * at @to.  *@mode: the whole mode that it is to have.  0 or a negative errno.
 */
int file_attributes_keep(const struct stat *status, int from, int to, mode_t *mode);

/*
 * Give the privileges.  They must wait until the old file is gone, so that no second file
 * ever has them.
 */
int file_attributes_keep_privileges(mode_t mode, int from, int to);

#endif
