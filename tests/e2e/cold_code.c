/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cold_code MS - a function whose caller's code is not in memory any more, as it has not run for long. */
#include <stdint.h>
#include <sys/mman.h>

#include "spin.h"

/* A fault makes the pages around it known, too, 64 KiB as a rule. */
#define APART 131072
#define PAGE 4096

static void cold(long ms);

/* The page stays in the file, but whoever wants it has to ask for it. */
static NOINLINE __attribute__((aligned(APART))) void hot(long ms)
{
	madvise((void *)((uintptr_t)cold & ~(uintptr_t)(PAGE - 1)), PAGE, MADV_DONTNEED);
	spin(ms);
	NO_TAIL_CALL();
}

static NOINLINE __attribute__((aligned(APART))) void cold(long ms)
{
	hot(ms);
	NO_TAIL_CALL();
}

static NOINLINE __attribute__((aligned(APART))) int after_cold(void)
{
	return 0;
}

int main(int argc, char **argv)
{
	cold(ms_argument(argc, argv));
	return after_cold();
}
