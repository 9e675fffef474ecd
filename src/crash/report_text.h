/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report_text.h - text for a descriptor, in a process whose C library may be broken.
 *
 * No stdio, no memory but its own, and no endless wait: a descriptor that takes nothing for some
 * seconds gets nothing more.
 */
#ifndef BOBBIN_CRASH_REPORT_TEXT_H
#define BOBBIN_CRASH_REPORT_TEXT_H

#include <bobbin/types.h>

/* What a pipe takes at once if it says that it takes anything: PIPE_BUF. */
#define REPORT_TEXT_SIZE 4096

struct report_text {
	int fd;
	bool lost; /* nobody takes it */
	size_t used;
	char bytes[REPORT_TEXT_SIZE];
};

void report_text_begin(struct report_text *text, int fd);
void report_text_put(struct report_text *text, const char *words);

/* Of files and names of others: what is no printable ASCII character is \xNN. */
void report_text_foreign(struct report_text *text, const char *words);

/* With at least that many digits. */
void report_text_hex(struct report_text *text, uint64_t value, unsigned int digits);

/* With spaces after it, up to a width. */
void report_text_number(struct report_text *text, uint64_t value, unsigned int width);

/* Write what has come together. */
void report_text_flush(struct report_text *text);

#endif
