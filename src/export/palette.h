/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * palette.h - the colours of frames.
 *
 * The kind of a frame chooses a family of hues, its name one of eight shades,
 * always the same: user code is amber, the kernel red, inlined functions blue,
 * JIT code green, the unknown grey; time on the CPU is lime, off it violet.  In a picture of changes the change chooses the family, and its
 * size the shade: red for what has grown, blue for what has shrunk.  Each family has the same lightness
 * throughout (OKLCH), so that dark text on the light fills and light text on
 * the dark ones keep a contrast of at least 5.5 : 1.
 */
#ifndef BOBBIN_EXPORT_PALETTE_H
#define BOBBIN_EXPORT_PALETTE_H

#include <stdbool.h>
#include <stdint.h>

#include "export/call_tree.h"

#define PALETTE_SHADES 8

/* Families after those of enum frame_kind. */
enum palette_family {
	PALETTE_GROWN = FRAME_KIND_COUNT,
	PALETTE_SHRUNK,
	PALETTE_FAMILIES
};

#define PALETTE_SIZE (PALETTE_FAMILIES * PALETTE_SHADES)

/* A number below PALETTE_SIZE, kind * PALETTE_SHADES + shade, by the name's bytes and the kind. */
unsigned int palette_colour(const struct call_frame *frame);

/* Likewise, of a frame that has changed by @points, of which @most have the strongest shade. */
unsigned int palette_change(int64_t points, int64_t most);

/* A colour as #rrggbb. */
const char *palette_fill(unsigned int colour, bool dark);

/* The letter of a kind or another family, for style sheets. */
char palette_class(unsigned int family);

/* It in a word, for legends. */
const char *palette_label(unsigned int family);

#endif
