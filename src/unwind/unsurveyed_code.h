/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unsurveyed_code.h - for worlds that have no memory to follow all ways of code.
 *
 * After core/unwind_frame.h or unwind/walk_loop.h.
 */
#ifndef BOBBIN_UNWIND_UNSURVEYED_CODE_H
#define BOBBIN_UNWIND_UNSURVEYED_CODE_H

#include "core/frame_walk.h"

static bool world_ways(struct frame_walk *frames, struct bobbin_rule *ret, bool *doubtful)
{
	(void)frames;
	(void)ret;
	(void)doubtful;
	return false;
}

static bool world_proves(struct frame_walk *frames, uint64_t slot, uint64_t word)
{
	(void)frames;
	(void)slot;
	(void)word;
	return false;
}

static bool world_start_rule(struct frame_walk *frames, struct bobbin_rule *ret)
{
	(void)frames;
	(void)ret;
	return false;
}

#endif
