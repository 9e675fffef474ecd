/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * text_file.h - small files of text, such as those of /proc.
 *
 * Without malloc() and streams: for forked children, too.
 */
#ifndef BOBBIN_BASE_TEXT_FILE_H
#define BOBBIN_BASE_TEXT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* The beginning of a file, with a terminator; false, with "", if it cannot be opened or read. */
bool text_file_read(const char *path, char *text, size_t size);

/* The number after the first place of a word in a text; -1: the word is not there. */
long text_number_after(const char *text, const char *word);

#endif
