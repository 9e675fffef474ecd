/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * palette.h - the colours of frames.
 *
 * The kind of a frame chooses a family of hues, its name one of eight shades,
 * always the same: user code is amber, the kernel red, inlined functions blue,
 * JIT code green, the unknown grey.  Each family has the same lightness
 * throughout (OKLCH), so that dark text on the light fills and light text on
 * the dark ones keep a contrast of at least 5.5 : 1.
 */
#ifndef BOBBIN_EXPORT_PALETTE_H
#define BOBBIN_EXPORT_PALETTE_H

#include <stdbool.h>

#include "export/call_tree.h"

#define PALETTE_SHADES 8
#define PALETTE_SIZE (FRAME_KIND_COUNT * PALETTE_SHADES)

/* A number below PALETTE_SIZE, kind * PALETTE_SHADES + shade, by the name's bytes and the kind. */
unsigned int palette_colour(const struct call_frame *frame);

/* A colour as #rrggbb. */
const char *palette_fill(unsigned int colour, bool dark);

/* The letter of a kind, for style sheets. */
char palette_class(enum frame_kind kind);

/* A kind in a word, for legends. */
const char *palette_label(enum frame_kind kind);

#endif
