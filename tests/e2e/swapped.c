/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* work() calls back from a frame of ROOM bytes: libraries of equal code and other frames. */
void work(void (*callback)(long), long ms);

void work(void (*callback)(long), long ms)
{
	volatile char room[ROOM];

	room[0] = 1;
	callback(ms);
	room[ROOM - 1] = 2;
}
