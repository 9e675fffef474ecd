/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Built twice, with frames of other sizes.
 */
void storm_plug(void (*callback)(void));

__attribute__((noinline)) void storm_plug(void (*callback)(void))
{
	volatile char room[PLUGIN_FRAME];

	room[0] = 1;
	room[PLUGIN_FRAME - 1] = 2;
	callback();
	if (room[0])
		room[1] = 3;
}
