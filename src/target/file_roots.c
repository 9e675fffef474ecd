/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/file_roots.h"

#include <stdbool.h>
#include <string.h>

static bool has(const struct file_roots *roots, const char *root)
{
	for (unsigned int i = 0; i < FILE_ROOTS_MAX && roots->list[i]; i++)
		if (!strcmp(roots->list[i], root))
			return true;
	return false;
}

void file_roots_add(struct file_roots *roots, const char *root)
{
	unsigned int count = file_roots_count(roots);

	if (has(roots, root))
		return;
	if (!*root) {
		memmove(roots->list + 1, roots->list, sizeof(roots->list) - sizeof(*roots->list));
		roots->list[0] = root;
	} else if (count < FILE_ROOTS_MAX) {
		roots->list[count] = root;
	}
}

unsigned int file_roots_count(const struct file_roots *roots)
{
	unsigned int count = 0;

	while (count < FILE_ROOTS_MAX && roots->list[count])
		count++;
	return count;
}
