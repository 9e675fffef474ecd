/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flamegraph_layout.h - which frames a flame graph shows, and where.
 *
 * Positions are weights, not pixels: the script scales them to any window.
 */
#ifndef BOBBIN_EXPORT_FLAMEGRAPH_LAYOUT_H
#define BOBBIN_EXPORT_FLAMEGRAPH_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "export/call_tree.h"
#include "export/palette.h"

/**
 * struct flame - a frame of the picture
 * @start: weight to the left of it
 * @total: weight of its width
 * @symbol: number of its name in the layout
 * @depth: 0 for the frame of all stacks
 * @colour: of the palette
 * @levels: of a recursion for which it stands; 1: none
 */
struct flame {
	uint64_t start, total;
	uint32_t symbol, depth, colour, levels;
};

/**
 * struct flame_symbol - a name of the picture
 * @frame: strings borrowed from the tree
 * @file: number of @frame.dso in the layout
 */
struct flame_symbol {
	struct call_frame frame;
	uint32_t file;
};

struct flamegraph_layout {
	struct flame *flames;         /* callers first; the first one is all stacks */
	struct flame_symbol *symbols; /* the first one is "all" */
	const char **files;           /* the first one is "" */
	uint32_t n_flames, n_symbols, n_files;
	uint32_t left_out;                 /* frames that are too narrow */
	uint32_t depth;                    /* greatest of all flames */
	bool shows_colour[PALETTE_SIZE];   /* of flames */
	bool shows_kind[FRAME_KIND_COUNT]; /* of flames but the first */
};

/*
 * Choose the frames of a tree, which must outlive the layout and not change; those of less
 * weight than @least are left out.  0 or -ENOMEM.
 */
int flamegraph_layout_init(const struct call_tree *tree, double least,
			   struct flamegraph_layout *ret);
void flamegraph_layout_fini(struct flamegraph_layout *layout);

#endif
