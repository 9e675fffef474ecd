/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * draft.h - a file that appears under its name when it is complete.
 *
 *	open      a file beside the target, mode 0600
 *	write     it is called .NAME.XXXXXX once there is something in it
 *	commit    NAME → NAME.old (unless empty), .NAME.XXXXXX → NAME
 *	discard   .NAME.XXXXXX is removed; NAME was never touched
 *
 * A symbolic link of this user or root is followed: what it points to is replaced, not the link.
 * A character device such as /dev/null is written directly.  A pipe, and standard
 * output ("-"), whatever that is, is a stream: bytes go out and never change.
 *
 * Writing is buffered.  The first error of the system (a full disk, a limit, a pipe
 * that nobody reads) sticks: every later call returns it, and commit discards.
 */
#ifndef BOBBIN_BASE_DRAFT_H
#define BOBBIN_BASE_DRAFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct draft;

/*
 * Begin a file; its directory must be writable.  Waits for the reader of a pipe.  0; -EISDIR
 * if @path or its .old is a directory; -ESPIPE for a socket or a device that cannot seek;
 * -EINVAL for another special file; or a negative errno of the system.
 */
int draft_open(const char *path, struct draft **ret);

/* Append bytes; replace bytes that were appended; hand them to the system.  0 or the errno. */
int draft_write(struct draft *draft, const void *data, size_t size);
int draft_rewrite(struct draft *draft, uint64_t offset, const void *data, size_t size);
int draft_flush(struct draft *draft);

/* Whether draft_rewrite() and _cut() cannot work. */
bool draft_is_stream(const struct draft *draft);

/*
 * What the system took of a file before it failed: the draft's descriptor, to read it, and its
 * size.  0; or a negative errno: that of the failure where there is no file.
 */
int draft_recover(struct draft *draft, int *ret_fd, uint64_t *ret_size);

/* Go on after the first @size bytes, as if nothing had failed.  0 or a negative errno. */
int draft_cut(struct draft *draft, uint64_t size);

/* Bytes appended so far. */
uint64_t draft_pos(const struct draft *draft);

/*
 * Finish the file and give it its name; the draft is gone, whatever happens.  0; or the errno
 * of the first failure: then there is no new file, and an existing one is in its place.
 */
int draft_commit(struct draft *draft);

/* Leave no trace.  The draft, or NULL, is gone afterwards. */
void draft_discard(struct draft *draft);

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
