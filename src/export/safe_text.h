/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * safe_text.h - names that nobody vouches for, made fit to print.
 *
 * Names come from symbol tables of any origin.  What reaches a terminal or a
 * browser is always valid UTF-8: bytes that are not become U+FFFD, and
 * characters that command rather than show (C0 and C1 controls, line and
 * paragraph separators, changes of text direction) are dropped.
 */
#ifndef BOBBIN_EXPORT_SAFE_TEXT_H
#define BOBBIN_EXPORT_SAFE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The next character of a string, as it stands, past which *@at moves: a Unicode scalar value, 0
 * at the end, or -1 for a byte that is not part of valid UTF-8.
 */
int32_t safe_text_decode(const char **at);

/* Whether a character is left out of what is printed. */
bool safe_text_is_control(int32_t c);

/*
 * Columns of a fixed-width font that a string takes.  Scripts of East Asia and symbols beyond
 * them count two per character.
 */
size_t safe_text_columns(const char *text);

/* What is printed of foreign names and paths goes through this or one of those below. */
void safe_text_plain(FILE *out, const char *text);

/* What is printed of @text, or the beginning of that: @text itself, or a copy in @room. */
const char *safe_text_printed(const char *text, char *room, size_t size);

/* All of what is printed of @text, from malloc(); NULL: there is no memory. */
char *safe_text_copy(const char *text);

/* At most so many columns of it: longer text ends in an ellipsis.  The columns that were printed. */
size_t safe_text_cut(FILE *out, const char *text, size_t columns);

/* Begin a message about a file: "PATH: ". */
void safe_text_place(FILE *out, const char *path);

/*
 * As XML character data or attribute value; as a JavaScript literal with its quotes, which holds
 * neither markup nor the end of a CDATA section.  Longer text is cut and ends in an ellipsis.
 */
void safe_text_xml(FILE *out, const char *text, size_t columns);
void safe_text_script(FILE *out, const char *text, size_t columns);

#endif
