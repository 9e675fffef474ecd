/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* roomy MS BYTES [empty] - work below a frame of that size, which is never written. */
#include <alloca.h>
#include <string.h>

#include "spin.h"

static NOINLINE void inside(volatile char *room, long ms)
{
	room[0] = 1;
	spin(ms);
	NO_TAIL_CALL();
}

static NOINLINE void take_room(size_t bytes, long ms, int empty)
{
	char *room = alloca(bytes);

	/* of pages that were never used, nothing is copied */
	if (!empty)
		memset(room, 1, bytes);
	inside(room, ms);
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	take_room(strtoul(argv[2], NULL, 0), atol(argv[1]), argc > 3);
	return 0;
}
