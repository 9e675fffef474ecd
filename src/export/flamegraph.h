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
 * @subtitle: a second line such as the command and the date; NULL: none
 * @count_name: what a weight of 2 is two of; NULL: "samples"
 * @width: in pixels, 320 to 32,767; 0: as wide as the window, 1,200 where no
 *	script runs
 * @min_width: frames narrower than so many pixels are left out, and the
 *	picture says how many; 0 keeps all
 * @inverted: outermost frames at the top (an icicle graph)
 */
struct flamegraph_options {
	const char *title;
	const char *subtitle;
	const char *count_name;
	unsigned int width;
	double min_width;
	bool inverted;
};

#define FLAMEGRAPH_OPTIONS_DEFAULT ((struct flamegraph_options){.min_width = 0.1})

/**
 * flamegraph_write() - print a tree as SVG
 * @options: NULL: FLAMEGRAPH_OPTIONS_DEFAULT
 *
 * Return: 0, -EINVAL for options out of range, -ENOMEM, or the negative errno
 * of a failed write.
 */
int flamegraph_write(const struct call_tree *tree, const struct flamegraph_options *options,
		     FILE *out);

#endif
