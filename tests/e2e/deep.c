/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* deep MS LEVELS - work at the end of a recursion. */
#include "spin.h"

static NOINLINE void descend(int levels, long ms)
{
	if (levels)
		descend(levels - 1, ms);
	else
		spin(ms);
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	descend(atoi(argv[2]), atol(argv[1]));
	return 0;
}
