/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * covered MS - main > with > without > spin
 *
 * Made of two objects, which may have different tables: the second is compiled with REST.
 */
#include "spin.h"

int with(long ms);
int without(long ms);

#ifdef REST
NOINLINE int without(long ms)
{
	spin(ms);
	NO_TAIL_CALL();
	return 1;
}
#else
NOINLINE int with(long ms)
{
	int result = without(ms);

	NO_TAIL_CALL();
	return result;
}

int main(int argc, char **argv)
{
	return !with(argc > 1 ? atol(argv[1]) : 500);
}
#endif
