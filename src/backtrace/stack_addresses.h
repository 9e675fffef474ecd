/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stack_addresses.h - a call chain as an array of addresses.
 */
#ifndef BOBBIN_BACKTRACE_STACK_ADDRESSES_H
#define BOBBIN_BACKTRACE_STACK_ADDRESSES_H

#include "unwind/object_walk.h"

/* Frames of one walk, between which nothing is kept but the registers. */
#define WALK_FRAMES 128

/**
 * struct stack_addresses - what to store of a call chain
 * @addresses: room for @max
 * @skip: frames to leave out first
 * @tables: stop before the first frame whose caller no table names
 * @count: stored
 * @more: frames that found no room, up to @more_max
 */
struct stack_addresses {
	void **addresses;
	size_t max, skip;
	bool tables;
	size_t count, more, more_max;
};

/*
 * Walk from @place, or from its caller, and fill in @ret->count and @ret->more.  Async-signal-safe,
 * as bobbin_object_walk().
 */
void bobbin_stack_addresses(struct walk_place *place, const struct bobbin_regs *caller,
			    struct stack_addresses *ret);

#endif
