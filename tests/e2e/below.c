/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * below MS - a function whose table finds its frame by a word below the stack pointer,
 * as cryptography in assembly has them.
 */
#include "spin.h"

/* The loop does not ask for the time: a call would overwrite the word. */
__asm__(".text\n"
	".type below, @function\n"
	"below:\n"
	"	.cfi_startproc\n"
	"	mov %rsp, %rax\n"
	"	sub $64, %rsp\n"
	"	and $-64, %rsp\n"
	"	mov %rax, -8(%rsp)\n"
	/* DW_CFA_def_cfa_expression: *(rsp - 8) + 8 */
	"	.cfi_escape 0x0f, 5, 0x77, 0x78, 0x06, 0x23, 8\n"
	"1:	dec %rdi\n"
	"	jnz 1b\n"
	"	mov -8(%rsp), %rsp\n"
	"	.cfi_def_cfa %rsp, 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size below, . - below\n");

void below(unsigned long rounds);

int main(int argc, char **argv)
{
	long ms = ms_argument(argc, argv), end = thread_ms() + ms;

	do {
		below(10000000);
	} while (thread_ms() < end);
	return 0;
}
