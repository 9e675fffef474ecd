/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fading.h - a call tree that forgets.
 *
 *	what is left of each stack after an interval:	7/8, 49/64, ... nothing
 *
 * A tree only grows.  Whoever adds stacks for days copies it now and then: weights become
 * smaller, and what weighs next to nothing is not copied.
 */
#ifndef BOBBIN_EXPORT_FADING_H
#define BOBBIN_EXPORT_FADING_H

#include "export/call_tree.h"

/**
 * struct fading - what is left
 * @keep: @of: of each weight so much remains, @keep / @of; @of is not 0
 * @least: stacks of which less remains are not copied
 * @least_process: a command (FRAME_COMMAND) of which less remains loses the process that its
 *	@dso names, and becomes one with others of its name
 * @rest: the name of a command, and of a frame in it, that stands for all stacks that are not
 *	copied; NULL: nothing does
 */
struct fading {
	uint32_t keep, of;
	uint64_t least, least_process;
	const char *rest;
};

/* A faded copy of a tree.  0; a negative errno of call_tree_add(). */
int call_tree_faded(const struct call_tree *from, const struct fading *fading,
		    struct call_tree **ret);

#endif
