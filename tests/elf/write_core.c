/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* write_core MACHINE [big] - a small core file of the machine of this number, to stdout. */
#include <stdio.h>
#include <stdlib.h>

#include "small_core.h"

int main(int argc, char **argv)
{
	static uint8_t bytes[SMALL_CORE_MAX];
	size_t size;

	if (argc < 2)
		return 2;
	size = small_core_make((uint16_t)atoi(argv[1]), argc > 2, bytes);
	return fwrite(bytes, 1, size, stdout) != size || fflush(stdout);
}
