/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flamegraph.h - a call tree as one picture that can be searched and zoomed.
 *
 * The result is an SVG file that needs nothing else: no network, no other
 * file.  Every viewer shows the still picture in it; a browser runs the script
 * in it (flamegraph.js), which zooms on a click, searches by regular
 * expression, says what is below the pointer, and fits the picture to the
 * window.  Colours follow the reader's choice of light or dark.
 *
 * Beside a baseline, frames are coloured by how many points their share of all has grown or shrunk,
 * and the picture says how much of the baseline is in none of its frames.
 *
 * Width is weight; siblings are in order of their names.  Size: some 50 bytes
 * per frame, the script 10 KB.
 */
#ifndef BOBBIN_EXPORT_FLAMEGRAPH_H
#define BOBBIN_EXPORT_FLAMEGRAPH_H

#include <stdbool.h>
#include <stdio.h>

struct call_tree;

/**
 * struct flamegraph_options - how to draw
 * @title: NULL: "Flame graph"
 * @min_width: frames narrower than so many pixels are left out, and the
 *	picture says how many; 0 keeps all
 * @inverted: outermost frames at the top (an icicle graph), which is also where they are in a
 *	picture higher than a screen, of which the top is what is seen first
 * @upright: outermost frames at the bottom, however high it is
 * @is_time: weights are nanoseconds, not numbers of samples
 * @baseline: draw what has changed since this one; NULL: draw the tree alone
 */
struct flamegraph_options {
	const char *title;
	double min_width;
	bool inverted, upright, is_time;
	const struct call_tree *baseline;
};

/* Print as SVG.  0; -EINVAL for a width of thousands of pixels; -ENOMEM.  Write errors stay in @out. */
int flamegraph_write(const struct call_tree *tree, const struct flamegraph_options *options,
		     FILE *out);

#endif
