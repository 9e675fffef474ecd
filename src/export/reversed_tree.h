/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reversed_tree.h - a call tree from its leaves on.
 *
 *	main 10 ── parse 6 ── lex 4	      lex   5 ─┬─ parse 4 ── main
 *	        └─ emit  4 ── lex 1   ──►	       └─ emit  1 ── main
 *					      parse 2 ── main
 *					      emit  3 ── main
 *
 * Of each function the callers are below it: who causes what it takes of its own.
 */
#ifndef BOBBIN_EXPORT_REVERSED_TREE_H
#define BOBBIN_EXPORT_REVERSED_TREE_H

struct call_tree;

/* 0, or an error of call_tree_add(). */
int reversed_tree_open(const struct call_tree *tree, struct call_tree **ret);

#endif
