/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shared_record.h - a call as SBCL makes it: the caller makes the frame record of a function
 * without a table.  x86-64.
 */
#ifndef BOBBIN_TESTS_SHARED_RECORD_H
#define BOBBIN_TESTS_SHARED_RECORD_H

/* call_shared(function): the record at the frame pointer is that of tableless() */
void call_shared(void (*function)(void));
__asm__(".text\n"
	".globl call_shared\n"
	".type call_shared, @function\n"
	"call_shared:\n"
	".cfi_startproc\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"mov %rsp, %rbp\n"
	".cfi_def_cfa_register %rbp\n"
	"push %rbp\n"
	"push %rbp\n"
	"mov %rsp, %rbp\n"
	/* CFA = *rbp + 16 */
	".cfi_escape 0x0f, 5, 0x76, 0, 0x06, 0x23, 16\n"
	"call tableless\n"
	"mov %rbp, %rsp\n"
	"pop %rbp\n"
	".cfi_def_cfa %rsp, 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size call_shared, . - call_shared\n"
	".type tableless, @function\n"
	"tableless:\n"
	"pop 8(%rbp)\n"
	"call *%rdi\n"
	"mov %rbp, %rsp\n"
	"pop %rbp\n"
	"ret\n"
	".size tableless, . - tableless\n");

#endif
