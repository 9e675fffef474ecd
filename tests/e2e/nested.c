/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* nested MS - spend time in outer(), in inner(), which lies in the middle of it, and after that. */
#include "spin.h"

void outer(void);
__asm__(".text\n"
	".globl outer, inner\n"
	".type outer, @function\n"
	".type inner, @function\n"
	"outer:\n"
	".cfi_startproc\n"
	"mov $100000, %ecx\n"
	"1: dec %ecx\n"
	"jnz 1b\n"
	"mov $100000, %ecx\n"
	"inner:\n"
	"1: dec %ecx\n"
	"jnz 1b\n"
	".size inner, . - inner\n"
	"mov $100000, %ecx\n"
	"1: dec %ecx\n"
	"jnz 1b\n"
	"ret\n"
	".cfi_endproc\n"
	".size outer, . - outer\n");

int main(int argc, char **argv)
{
	long end = thread_ms() + ms_argument(argc, argv);

	while (thread_ms() < end)
		outer();
	return 0;
}
