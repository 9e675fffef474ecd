/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * file_limit.h - how many files may be open at a time.
 *
 * A module's file stays open for as long as its tables are used, and each thread that is sampled
 * takes a descriptor or more.  The usual limit is low for the sake of programs that call
 * select(2), which we do not; they may, so a command that is run keeps the limit that we had.
 */
#ifndef BOBBIN_CLI_FILE_LIMIT_H
#define BOBBIN_CLI_FILE_LIMIT_H

/* As many as the kernel allows this user. */
void file_limit_raise(void);

/* As it was. */
void file_limit_restore(void);

#endif
