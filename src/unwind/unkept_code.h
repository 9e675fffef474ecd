/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unkept_code.h - for worlds that read code each time, and keep nothing of what it says.
 *
 * After core/unwind_frame.h or unwind/walk_loop.h.
 */
#ifndef BOBBIN_UNWIND_UNKEPT_CODE_H
#define BOBBIN_UNWIND_UNKEPT_CODE_H

#include "core/frame_walk.h"

static enum code_answer world_returns(struct frame_walk *frames, uint64_t addr)
{
	const struct code_reader code = {world_code, frames};

	return known_code_return(frames->arch, &code, addr);
}

static void world_keep(struct frame_walk *frames, const struct bobbin_rule *rule)
{
	(void)frames;
	(void)rule;
}

static bool world_kept(struct frame_walk *frames, struct bobbin_rule *ret)
{
	(void)frames;
	(void)ret;
	return false;
}

#endif
