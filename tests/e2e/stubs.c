/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stubs MS - call a function of plugin.so that does nothing, again and again. */
#include "spin.h"

void nothing(void);

static NOINLINE void call_stubs(long ms)
{
	long end = thread_ms() + ms;

	do {
		for (int i = 0; i < 100000; i++)
			nothing();
	} while (thread_ms() < end);
}

int main(int argc, char **argv)
{
	call_stubs(ms_argument(argc, argv));
	return 0;
}
