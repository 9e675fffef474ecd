/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core/stg_run.h"

bool stg_run_code(const uint8_t code[STG_RUN_SIZE])
{
	static const uint8_t known[STG_RUN_SIZE] = {
		0x48, 0x83, 0xec, 0x30,                   /* sub $48, %rsp */
		0x48, 0x89, 0xe0,                         /* mov %rsp, %rax */
		0x48, 0x81, 0xec, 0x00, 0x40, 0x00, 0x00, /* sub $16384, %rsp */
		0x48, 0x89, 0x18,                         /* mov %rbx, (%rax) */
		0x48, 0x89, 0x68, 0x08,                   /* mov %rbp, 8(%rax) */
		0x4c, 0x89, 0x60, 0x10,                   /* mov %r12, 16(%rax) */
		0x4c, 0x89, 0x68, 0x18,                   /* mov %r13, 24(%rax) */
		0x4c, 0x89, 0x70, 0x20,                   /* mov %r14, 32(%rax) */
		0x4c, 0x89, 0x78, 0x28,                   /* mov %r15, 40(%rax) */
		0x49, 0x89, 0xf5,                         /* mov %rsi, %r13 */
		0x48, 0x89, 0xf8,                         /* mov %rdi, %rax */
		0xff, 0xe0,                               /* jmp *%rax */
	};
	uint8_t differs = 0;

	/* without a branch, of which BPF's verifier follows both ways */
	for (unsigned int i = 0; i < STG_RUN_SIZE; i++)
		differs |= code[i] ^ known[i];
	return !differs;
}
