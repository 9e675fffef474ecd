/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * file_roots.h - the roots of the processes that have a file, in the order of a search.
 *
 * Containers share files, but one of them may have the debug file, and another may have ended.
 * Our own root comes first: what is in others may be forged.  These come as they were met.
 */
#ifndef BOBBIN_TARGET_FILE_ROOTS_H
#define BOBBIN_TARGET_FILE_ROOTS_H

/* Further ones are not searched. */
#define FILE_ROOTS_MAX 8

/* What paths in our own root begin with. */
#define OWN_ROOT ""

/* Paths, borrowed; NULL behind the last one. */
struct file_roots {
	const char *list[FILE_ROOTS_MAX];
};

/* Add one, if it is not there and there is room; there always is for our own. */
void file_roots_add(struct file_roots *roots, const char *root);

unsigned int file_roots_count(const struct file_roots *roots);

#endif
