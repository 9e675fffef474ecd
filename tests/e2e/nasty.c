/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* nasty MS - busy in a function whose name a test replaces by another of the same length. */
#include "spin.h"

NOINLINE void NASTY_______FUNCTION(long ms)
{
	spin(ms);
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	NASTY_______FUNCTION(ms_argument(argc, argv));
	return 0;
}
