/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* clock MS - ask for the time, again and again. */
#include "spin.h"

static NOINLINE void ask(long ms)
{
	struct timespec ts;
	long end = thread_ms() + ms;

	do {
		for (int i = 0; i < 10000; i++)
			clock_gettime(CLOCK_MONOTONIC, &ts);
	} while (thread_ms() < end);
}

int main(int argc, char **argv)
{
	ask(ms_argument(argc, argv));
	return 0;
}
