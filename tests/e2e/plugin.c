/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* plugin.so - work on behalf of a program that loads it late. */
#include "spin.h"

void plugin_work(long ms);
void nothing(void);

NOINLINE void plugin_work(long ms)
{
	spin(ms);
	NO_TAIL_CALL();
}

NOINLINE void nothing(void)
{
	NO_TAIL_CALL();
}
