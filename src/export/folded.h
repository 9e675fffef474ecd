/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * folded.h - a call tree as one line per distinct stack.
 *
 *	main;emit 5
 *	main;parse 2
 *	main;parse;lex 3
 *
 * Most flame graph programs read this form.  Only names count: stacks that
 * differ just in files or kinds of frames are one line.  Lines are in the
 * order of the tree: callers first, siblings by the bytes of their names.
 *
 * A semicolon, a control character or a byte that is not UTF-8 is written
 * as \xHH, and so is a backslash before an x: what \xHH stands for is never in
 * doubt, and every line is text.
 */
#ifndef BOBBIN_EXPORT_FOLDED_H
#define BOBBIN_EXPORT_FOLDED_H

#include <stdio.h>

struct call_tree;

/*
 * Print the stacks of a tree; those without frames as "[unknown]".  0 or -ENOMEM.  Write errors
 * stay in @out.
 */
int folded_write(const struct call_tree *tree, FILE *out);

#endif
