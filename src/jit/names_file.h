/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * names_file.h - open a file of a known name in a folder that others may write to.
 *
 * Somebody else may have put a link there, or a file that only looks like ours.
 * What is opened is a regular file of this user with this one name, or it is made.
 */
#ifndef BOBBIN_JIT_NAMES_FILE_H
#define BOBBIN_JIT_NAMES_FILE_H

/* Longest name of code that is written. */
#define NAMES_MAX_NAME 4000

enum names_file_use {
	NAMES_FILE_SHARED, /* what this process wrote before stays */
	NAMES_FILE_OWN,    /* -EEXIST if this process has written it before */
};

/*
 * A descriptor for reading and appending, or a negative errno.  What an earlier
 * process left is gone.
 */
int names_file_open(const char *directory, const char *name, enum names_file_use use);

/* Remove what was opened with NAMES_FILE_OWN: nothing came of it. */
void names_file_remove(const char *directory, const char *name);

#endif
