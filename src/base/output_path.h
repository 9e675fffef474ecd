/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * output_path.h - where a file that is written will be.
 */
#ifndef BOBBIN_BASE_OUTPUT_PATH_H
#define BOBBIN_BASE_OUTPUT_PATH_H

#include <stdbool.h>

/*
 * The absolute path of a file that exists or is to be made, as its folder may be left
 * meanwhile; free() it.  A link is followed if it is this user's or root's: where others may
 * write, theirs could lead to anything, see protected_symlinks in proc(5).  -EACCES for such a
 * link, -ENOENT for one that leads nowhere and for a folder that is not there, -EISDIR for a
 * path that ends in '/', or another negative errno.
 */
int output_path(const char *path, bool exists, char **ret);

#endif
