/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * after_entry - _start > middle > bare, which has no table and follows _start at once, as
 * compilers' start files have such functions there.
 */
__asm__(".text\n"
	".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	xor %ebp, %ebp\n"
	"	call middle\n"
	"	xor %edi, %edi\n"
	"	mov $231, %eax\n" /* exit_group(0) */
	"	syscall\n"
	"	.cfi_endproc\n"
	"	.size _start, . - _start\n"
	".type bare, @function\n"
	"bare:\n"
	"	mov $1000000000, %eax\n"
	"1:	dec %eax\n"
	"	jnz 1b\n"
	"	ret\n"
	"	.size bare, . - bare\n"
	".type middle, @function\n"
	"middle:\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_def_cfa_offset 16\n"
	"	call bare\n"
	"	pop %rbx\n"
	"	.cfi_def_cfa_offset 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size middle, . - middle\n");
