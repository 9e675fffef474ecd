/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * path_owner.h - who can change what a path leads to.
 */
#ifndef BOBBIN_BASE_PATH_OWNER_H
#define BOBBIN_BASE_PATH_OWNER_H

#include <stdbool.h>

/*
 * Whether only this user and root can: each folder and link on the way is theirs, and others may
 * not write there, unless it is a folder like /tmp in which they cannot touch what is not theirs.
 * For root the group of a folder is others, too.  False for a path that is not there.
 */
bool path_is_ours(const char *path);

#endif
