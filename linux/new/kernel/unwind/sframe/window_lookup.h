/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* window_lookup.h - the usual lookup, within one window of user access. */
#ifndef _KERNEL_UNWIND_SFRAME_WINDOW_LOOKUP_H
#define _KERNEL_UNWIND_SFRAME_WINDOW_LOOKUP_H

#include "map.h"

/* What the rules of a section differ from but for CFA and frame pointer; 0: they are not usual. */
u64 sframe_plain_word(const struct bobbin_sframe_view *view);

/* The packed rule for a PC of a section's text; 0: ask bobbin_sframe_lookup(). */
u64 sframe_window_lookup(const struct sframe_section *section, u64 pc);

#endif
