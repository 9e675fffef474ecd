/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * output_path.h - where a file that is written will be.
 */
#ifndef BOBBIN_BASE_OUTPUT_PATH_H
#define BOBBIN_BASE_OUTPUT_PATH_H

#include <stdbool.h>

/*
 * A file that gets its name when it is worth one.
 *
 * Nothing is left of it if the process is killed before.  Not all file systems have such files
 * (O_TMPFILE), and the name is given through /proc.
 */

/* In a folder, mode 0600, to be read and written.  -ENOTSUP: it cannot be done there. */
int nameless_file_open(const char *folder);

/* Give it a name that nothing has: 0, -EEXIST or another negative errno. */
int nameless_file_name(int fd, const char *name);

/* Give it @start and six digits as its name, which is put into @ret; free() it.  0 or an errno. */
int nameless_file_name_like(int fd, const char *start, char **ret);

/*
 * The absolute path of a file that exists or is to be made, as its folder may be left
 * meanwhile; free() it.  A link is followed if it is this user's or root's: where others may
 * write, theirs could lead to anything, see protected_symlinks in proc(5).  -EACCES for such a
 * link, -ENOENT for one that leads nowhere and for a folder that is not there, -EISDIR for a
 * path that ends in '/', or another negative errno.
 */
int output_path(const char *path, bool exists, char **ret);

#endif
