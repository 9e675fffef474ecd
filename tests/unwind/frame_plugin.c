/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A library to be loaded and unloaded.  FRAME is the size of its frames: libraries
 * with different ones are alike in all else, so that one fits where the other was.
 */
#include "own_chain.h"

LINK void plugin_inner(void (*f)(void));
LINK void plugin_outer(void (*f)(void));

LINK void plugin_inner(void (*f)(void))
{
	volatile char room[FRAME];

	room[0] = 1;
	f();
	room[1] = room[0];
}

LINK void plugin_outer(void (*f)(void))
{
	volatile char room[FRAME + 64];

	room[0] = 1;
	plugin_inner(f);
	room[1] = room[0];
}
