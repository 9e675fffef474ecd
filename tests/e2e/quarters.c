/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* quarters MS - a quarter of the time in outer() itself, the rest in inner(), which it calls. */
#include "spin.h"

static NOINLINE void inner(void)
{
	for (volatile int i = 0; i < 300000; i++)
		;
}

static NOINLINE void outer(void)
{
	for (volatile int i = 0; i < 100000; i++)
		;
	inner();
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	long end = thread_ms() + ms_argument(argc, argv);

	while (thread_ms() < end)
		outer();
	return 0;
}
