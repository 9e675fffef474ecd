/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nameless_file.h - a file that gets its name when it is worth one.
 *
 * Nothing is left of it if the process is killed before.  Not all file systems have such files
 * (O_TMPFILE), and the name is given through /proc.
 */
#ifndef BOBBIN_BASE_NAMELESS_FILE_H
#define BOBBIN_BASE_NAMELESS_FILE_H

/* In a folder, mode 0600, to be read and written.  -ENOTSUP: it cannot be done there. */
int nameless_file_open(const char *folder);

/* Give it a name that nothing has: 0, -EEXIST or another negative errno. */
int nameless_file_name(int fd, const char *name);

/* Give it @start and six digits as its name, which is put into @ret; free() it.  0 or an errno. */
int nameless_file_name_like(int fd, const char *start, char **ret);

#endif
