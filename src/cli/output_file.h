/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * output_file.h - a file that appears whole or not at all.
 *
 * Bytes go to a file without a name in the target's folder; only when all of them
 * have arrived does it take the target's name.  Where the file system has no such files
 * it has a name of its own, TARGET.XXXXXX, meanwhile.  A device or a pipe keeps its
 * place: it gets all bytes at the end.
 */
#ifndef BOBBIN_CLI_OUTPUT_FILE_H
#define BOBBIN_CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct output - what is to appear
 * @path: where; a symbolic link is followed; "-" is standard output
 * @is_copy: of the file that is open at @original, and gets its mode
 * @in_place: @path is that file: its owner and its attributes are kept, too
 * @write: write all of it to a descriptor
 * @check: read it back, or NULL
 * @ctx: for both
 */
struct output {
	const char *path;
	bool is_copy, in_place;
	int original;
	int (*write)(void *ctx, int fd);
	int (*check)(void *ctx, int fd);
	void *ctx;
};

/* Make it appear; false after a complaint, and then nothing has changed. */
bool output_put(const struct output *output);

/* The same for bytes; they take the place of the file that is open at @replaced, if not -1. */
bool output_put_bytes(const char *path, int replaced, const void *bytes, size_t size);

#endif
