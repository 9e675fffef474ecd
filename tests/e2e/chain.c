/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* chain MS [STATUS] - main > a > b > c > spin, then exit. */
#include "spin.h"

static NOINLINE void c(long ms)
{
	spin(ms);
	NO_TAIL_CALL();
}

static NOINLINE void b(long ms)
{
	volatile char room[200];

	room[0] = 1;
	c(ms);
	NO_TAIL_CALL();
}

static NOINLINE void a(long ms)
{
	b(ms);
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	a(ms_argument(argc, argv));
	return argc > 2 ? atoi(argv[2]) : 0;
}
