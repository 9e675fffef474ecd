/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * source_text.h - lines of source files.
 *
 * Debug information says where they are; it may be anything, so only regular files are read, of a
 * size that sources have.
 */
#ifndef BOBBIN_CLI_SOURCE_TEXT_H
#define BOBBIN_CLI_SOURCE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Files that are held at a time; further ones take the place of the oldest. */
#define SOURCE_TEXT_FILES 16
#define SOURCE_TEXT_MOST ((uint64_t)16 << 20)

/**
 * struct source_file - a file that was looked for
 * @path: owned
 * @text: its bytes, in which ends of lines are NULs; NULL: it cannot be read
 * @lines: where each begins
 */
struct source_file {
	char *path, *text;
	size_t size;
	const char **lines;
	size_t count, room;
};

/* @root: a folder below which paths are looked for, or NULL.  Zero, but for that, to begin. */
struct source_text {
	const char *root;
	struct source_file files[SOURCE_TEXT_FILES];
	size_t next;
};

void source_text_fini(struct source_text *sources);

/*
 * A line of a file, the first of which has the number 1; valid until the next call.  NULL: it is
 * not there.
 */
const char *source_text_line(struct source_text *sources, const char *path, uint32_t line);

#endif
