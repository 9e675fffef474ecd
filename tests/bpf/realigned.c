/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * realigned MS - work in a function whose frame is aligned to 64 bytes: its CFA is in
 * memory, because neither the stack pointer nor the frame pointer is a known distance away.
 */
#include <alloca.h>

#include "../e2e/spin.h"

static NOINLINE void work_aligned(long ms)
{
	_Alignas(64) volatile char block[256];
	volatile char *more = alloca((size_t)ms + 1);

	block[0] = more[0] = 1;
	spin(ms);
	block[1] = more[0];
}

int main(int argc, char **argv)
{
	work_aligned(ms_argument(argc, argv));
	NO_TAIL_CALL();
	return 0;
}
