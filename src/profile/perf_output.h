/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_output.h - a file that appears under its name when it is complete.
 *
 *	open      .NAME.XXXXXX beside the target, mode 0600
 *	commit    NAME → NAME.old (unless empty), .NAME.XXXXXX → NAME
 *	discard   .NAME.XXXXXX is removed; NAME was never touched
 *
 * A symbolic link is followed: what it points to is replaced, not the link.
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

/**
 * perf_output_open() - begin a file
 * @path: its name; the directory must be writable; or "-"
 * @ret: the output
 *
 * Waits for the reader of a pipe.
 *
 * Return: 0; -EISDIR if @path or its .old is a directory; -ESPIPE if it is a
 * socket or a device that cannot seek; -EINVAL for another special file; or a
 * negative errno of the system.
 */
int perf_output_open(const char *path, struct perf_output **ret);

/**
 * perf_output_write() - append bytes
 * @output: the output
 * @data: the bytes
 * @size: how many
 *
 * Return: 0 or the negative errno of the first failure, of an earlier call too.
 */
int perf_output_write(struct perf_output *output, const void *data, size_t size);

/**
 * perf_output_rewrite() - replace bytes that were appended
 * @output: the output
 * @offset: of the first one in the file
 * @data: the bytes
 * @size: how many
 *
 * Return: as perf_output_write().
 */
int perf_output_rewrite(struct perf_output *output, uint64_t offset, const void *data, size_t size);

/**
 * perf_output_flush() - hand what was appended to the system
 * @output: the output
 *
 * Return: as perf_output_write().
 */
int perf_output_flush(struct perf_output *output);

/**
 * perf_output_is_stream() - whether perf_output_rewrite() and _cut() cannot work
 * @output: the output
 */
bool perf_output_is_stream(const struct perf_output *output);

/**
 * perf_output_recover() - what the system took of a file before it failed
 * @output: the output
 * @ret_fd: to read it; the output's
 * @ret_size: its size
 *
 * Return: 0; or a negative errno: that of the failure where there is no file.
 */
int perf_output_recover(struct perf_output *output, int *ret_fd, uint64_t *ret_size);

/**
 * perf_output_cut() - go on from an earlier place, as if nothing had failed
 * @output: the output
 * @size: what stays of the file
 *
 * Return: 0 or a negative errno.
 */
int perf_output_cut(struct perf_output *output, uint64_t size);

/**
 * perf_output_pos() - bytes appended so far
 * @output: the output
 */
uint64_t perf_output_pos(const struct perf_output *output);

/**
 * perf_output_commit() - finish the file and give it its name
 * @output: the output; it is gone afterwards, whatever happens
 *
 * Return: 0; or the negative errno of the first failure: then there is no new
 * file, and an existing one is in its place.
 */
int perf_output_commit(struct perf_output *output);

/**
 * perf_output_discard() - leave no trace
 * @output: the output, or NULL; it is gone afterwards
 */
void perf_output_discard(struct perf_output *output);

#endif
