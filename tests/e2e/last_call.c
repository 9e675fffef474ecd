/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * last_call - _start, which waits in its last instruction, and a function after it, which has
 * no table.
 */
__asm__(".text\n"
	".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	mov $34, %eax\n" /* pause() */
	"	syscall\n"
	"	.cfi_endproc\n"
	"	.size _start, . - _start\n"
	".type after_last_call, @function\n"
	"after_last_call:\n"
	"	jmp _start\n"
	"	.size after_last_call, . - after_last_call\n");
