/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* window_lookup.h - the usual lookup, within one window of user access. */
#ifndef _KERNEL_UNWIND_SFRAME_WINDOW_LOOKUP_H
#define _KERNEL_UNWIND_SFRAME_WINDOW_LOOKUP_H

#include "map.h"

/*
 * What the rules of a section differ from but for CFA and frame pointer, by the register that the
 * CFA is counted from; 0: they are not usual.
 */
struct sframe_plain sframe_plain_words(const struct bobbin_sframe_view *view);

/*
 * The packed rule for a PC by the map's sections, which is kept; 0: ask bobbin_sframe_lookup().
 * Waits for nothing.
 */
u64 sframe_window_lookup(struct sframe_map *map, u64 pc);

#endif
