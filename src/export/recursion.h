/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recursion.h - the levels of a recursion as one.
 *
 *	main walk visit walk visit leaf ──► main walk visit leaf, walk and visit: 2 levels
 *
 * A hundred levels hide what is above and below them, and two stacks that differ in
 * nothing but their number have nothing in common in a tree.
 */
#ifndef BOBBIN_EXPORT_RECURSION_H
#define BOBBIN_EXPORT_RECURSION_H

#include "export/call_tree.h"

/*
 * Let each recursion of up to REPEAT_MAX_PERIOD functions appear once in a stack of @n frames,
 * of which those that stay know their levels; how many are left.  What has no name is not
 * folded: it need not be the same function.
 */
size_t recursion_fold(struct call_frame *frames, size_t n);

#endif
