/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * profile_frames.h - a stack of a profile as call trees and reports take it.
 */
#ifndef BOBBIN_EXPORT_PROFILE_FRAMES_H
#define BOBBIN_EXPORT_PROFILE_FRAMES_H

#include "base/name_pool.h"
#include "export/call_tree.h"
#include "export/profile.h"

/* Outermost frame first; starts as all zero but for @lines: frames have places. */
struct profile_frames {
	struct call_frame *frames;
	size_t count, room;
	bool lines;
	struct name_pool places;
};

/*
 * The frames of @stack, inlined ones apart, and without a name where it is not known.  Valid until the
 * next call, names as long as the profile, places as long as @ret.  0 or -ENOMEM.
 */
int profile_frames_of(const struct profile *profile, uint32_t stack, struct profile_frames *ret);
void profile_frames_fini(struct profile_frames *frames);

#endif
