/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/linereader.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void line_reader_init(struct line_reader *r, int fd, uint64_t offset)
{
	r->fd = fd;
	r->offset = offset;
	r->start = r->end = 0;
}

/* Append to the buffer, after moving what is left to its front. */
static bool fill(struct line_reader *r)
{
	ssize_t n;

	memmove(r->buffer, r->buffer + r->start, r->end - r->start);
	r->offset += r->start;
	r->end -= r->start;
	r->start = 0;
	do
		n = pread(r->fd, r->buffer + r->end, sizeof(r->buffer) - r->end,
			  (off_t)(r->offset + r->end));
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	r->end += (size_t)n;
	return true;
}

static bool is_full(const struct line_reader *r)
{
	return r->end - r->start == sizeof(r->buffer);
}

char *line_reader_next(struct line_reader *r)
{
	bool too_long = false;

	for (;;) {
		char *line = r->buffer + r->start;
		char *newline = memchr(line, '\n', r->end - r->start);

		if (newline) {
			r->start = (size_t)(newline - r->buffer) + 1;
			if (too_long) {
				too_long = false;
				continue;
			}
			*newline = '\0';
			return line;
		}
		if (is_full(r)) {
			too_long = true;
			r->start = r->end;
		}
		if (!fill(r))
			return NULL;
	}
}

uint64_t line_reader_offset(const struct line_reader *r)
{
	return r->offset + r->start;
}
