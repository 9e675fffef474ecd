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
	/* written over: old return addresses in it would make the caller of this one a guess */
	volatile char room[208] = {1};

	c(ms);
	room[0] = 2;
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
