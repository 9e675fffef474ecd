/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* vanish MS - delete the own file, then work. */
#include <unistd.h>

#include "spin.h"

static NOINLINE void after(long ms)
{
	spin(ms);
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	if (unlink(argv[0]))
		return 1;
	after(ms_argument(argc, argv));
	return 0;
}
