/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_output.h - a file that appears under its name when it is complete.
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
#ifndef BOBBIN_PROFILE_PERF_OUTPUT_H
#define BOBBIN_PROFILE_PERF_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_output;

/*
 * Begin a file; its directory must be writable.  Waits for the reader of a pipe.  0; -EISDIR
 * if @path or its .old is a directory; -ESPIPE for a socket or a device that cannot seek;
 * -EINVAL for another special file; or a negative errno of the system.
 */
int perf_output_open(const char *path, struct perf_output **ret);

/* Append bytes; replace bytes that were appended; hand them to the system.  0 or the errno. */
int perf_output_write(struct perf_output *output, const void *data, size_t size);
int perf_output_rewrite(struct perf_output *output, uint64_t offset, const void *data, size_t size);
int perf_output_flush(struct perf_output *output);

/* Whether perf_output_rewrite() and _cut() cannot work. */
bool perf_output_is_stream(const struct perf_output *output);

/*
 * What the system took of a file before it failed: the output's descriptor, to read it, and its
 * size.  0; or a negative errno: that of the failure where there is no file.
 */
int perf_output_recover(struct perf_output *output, int *ret_fd, uint64_t *ret_size);

/* Go on after the first @size bytes, as if nothing had failed.  0 or a negative errno. */
int perf_output_cut(struct perf_output *output, uint64_t size);

/* Bytes appended so far. */
uint64_t perf_output_pos(const struct perf_output *output);

/*
 * Finish the file and give it its name; the output is gone, whatever happens.  0; or the errno
 * of the first failure: then there is no new file, and an existing one is in its place.
 */
int perf_output_commit(struct perf_output *output);

/* Leave no trace.  The output, or NULL, is gone afterwards. */
void perf_output_discard(struct perf_output *output);

#endif
