/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * linereader.h - the lines of a file that may be of any size and still grow.
 */
#ifndef BOBBIN_SYMBOL_LINEREADER_H
#define BOBBIN_SYMBOL_LINEREADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_READER_SIZE (32 << 10)

struct line_reader {
	int fd;          /* borrowed */
	uint64_t offset; /* of the first byte in @buffer */
	size_t start, end;
	char buffer[LINE_READER_SIZE];
};

void line_reader_init(struct line_reader *r, int fd, uint64_t offset);

/*
 * The next line that ends with a newline, NUL-terminated without it, in memory
 * of the reader until the next call.  A line that does not fit is passed over;
 * a last line without a newline is left for later.
 * Returns NULL at the end and on a read error.
 */
char *line_reader_next(struct line_reader *r);

/* The offset behind the lines that were returned: where to go on later. */
uint64_t line_reader_offset(const struct line_reader *r);

#endif
