/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool text_file_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t n = -1;

	while (fd >= 0 && used < size - 1 && (n = read(fd, text + used, size - 1 - used)) > 0)
		used += (size_t)n;
	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : used] = 0;
	return n >= 0;
}

long text_number_after(const char *text, const char *word)
{
	const char *at = strstr(text, word);

	return at ? strtol(at + strlen(word), NULL, 10) : -1;
}
