# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The thunks of -mfunction-return=thunk-extern and -mindirect-branch=thunk-extern.
	.text
	.macro thunk register
	.p2align 4
	.globl __x86_indirect_thunk_\register
	.type __x86_indirect_thunk_\register,@function
__x86_indirect_thunk_\register:
	call 1f
2:	pause
	lfence
	jmp 2b
1:	mov %\register,(%rsp)
	ret
	.endm

	.irp register,rax,rbx,rcx,rdx,rsi,rdi,rbp,r8,r9,r10,r11,r12,r13,r14,r15
	thunk \register
	.endr

	.p2align 4
	.globl __x86_return_thunk
	.type __x86_return_thunk,@function
__x86_return_thunk:
	call 1f
	int3
1:	lea 8(%rsp),%rsp
	ret
	int3
	.section .note.GNU-stack,"",@progbits
