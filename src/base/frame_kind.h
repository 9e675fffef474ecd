/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame_kind.h - what kind of code a named frame is in.
 */
#ifndef BOBBIN_BASE_FRAME_KIND_H
#define BOBBIN_BASE_FRAME_KIND_H

enum frame_kind {
	FRAME_USER,
	FRAME_KERNEL,
	FRAME_INLINED, /* an inlined function of the frame above it */
	FRAME_JIT,
	FRAME_UNKNOWN,
	FRAME_COMMAND, /* not code: the name of the process or thread below which stacks hang */
	FRAME_ON_CPU,  /* nor these: what a thread did with the time */
	FRAME_OFF_CPU,
	FRAME_KIND_COUNT
};

#endif
