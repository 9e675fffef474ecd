/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "crash/report_text.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>

#include "unwind/assembly.h"

/* A reader that is alive takes something in this time. */
#define PATIENCE_S 5

void report_text_begin(struct report_text *text, int fd)
{
	text->fd = fd;
	text->lost = false;
	text->used = 0;
}

/* Whether a write will not wait.  Nor may it send SIGPIPE, which would end the process instead. */
static bool is_writable(int fd)
{
	struct timespec patience = {.tv_sec = PATIENCE_S};
	struct pollfd wait = {.fd = fd, .events = POLLOUT};
	long r;

	do
		r = raw_syscall(SYS_ppoll, (long)&wait, 1, (long)&patience, 0);
	while (r == -EINTR);
	return r > 0 && wait.revents == POLLOUT;
}

void report_text_flush(struct report_text *text)
{
	size_t done = 0;

	while (!text->lost && done < text->used) {
		long n = -EAGAIN;

		if (is_writable(text->fd))
			n = raw_syscall(SYS_write, text->fd, (long)(text->bytes + done),
					(long)(text->used - done), 0);
		if (n > 0)
			done += (size_t)n;
		else
			text->lost = n != -EINTR;
	}
	text->used = 0;
}

static void put_byte(struct report_text *text, char c)
{
	if (text->used == sizeof(text->bytes))
		report_text_flush(text);
	text->bytes[text->used++] = c;
}

void report_text_put(struct report_text *text, const char *words)
{
	while (*words)
		put_byte(text, *words++);
}

void report_text_foreign(struct report_text *text, const char *words)
{
	for (; *words; words++) {
		if (*words >= ' ' && *words <= '~') {
			put_byte(text, *words);
			continue;
		}
		report_text_put(text, "\\x");
		report_text_hex(text, (unsigned char)*words, 2);
	}
}

void report_text_hex(struct report_text *text, uint64_t value, unsigned int digits)
{
	for (int i = 15; i >= 0; i--)
		if ((unsigned int)i < digits || value >> 4 * i)
			put_byte(text, "0123456789abcdef"[value >> 4 * i & 15]);
}

void report_text_number(struct report_text *text, uint64_t value, unsigned int width)
{
	char digits[20];
	unsigned int count = 0;

	do
		digits[count++] = (char)('0' + value % 10);
	while (value /= 10);
	for (unsigned int i = count; i > 0; i--)
		put_byte(text, digits[i - 1]);
	for (; count < width; count++)
		put_byte(text, ' ');
}
