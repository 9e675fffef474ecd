/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * own_code.h - what walks of the own stack know of the process, besides where its code is.
 */
#ifndef BOBBIN_UNWIND_OWN_CODE_H
#define BOBBIN_UNWIND_OWN_CODE_H

#include <stdint.h>

struct registry;
struct walk_slots;

struct own_code {
	struct registry *registry;          /* NULL: nothing */
	uint64_t fiber_negated, fiber_size; /* as in struct frame_walk */
	struct walk_slots *slots;           /* for what walks remember, or NULL */
};

#endif
