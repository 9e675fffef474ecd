/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions whose frames need more than SP and FP, mostly by expressions, each called by the
 * one before it:
 *
 *	frame_of_registers	the return address is in R12, RBP in R13
 *	frame_of_fp	the caller's RBP is RBX ^ 0x55, which nobody else keeps
 *	frame_of_rbx	RBX was saved ^ 0x2a, which only who follows RBX has to know
 *	frame_of_loop	the CFA is 16 bytes above the first word that is a mark
 *	frame_of_ra	the return address is in two halves
 *	frame_of_index	the CFA is *(RSP + 8 * RBX) + 8: a rule with an index that is lost
 *	frame_of_cfa	the CFA is **RBX + 16
 *	frame_of_stub	jumped to: RA = RIP + N, as in glibc's stubs of locks before 2.20
 *
 * They call expression_leaf() in the end.
 */
#define FUNCTION(name) .globl name; .type name, @function; .p2align 4; name: .cfi_startproc
#define END(name) .cfi_endproc; .size name, . - name

/* DW_CFA_def_cfa_expression, DW_CFA_expression, DW_CFA_val_expression */
#define CFA_BY 0x0f
#define AT 0x10
#define VALUE 0x16
#define RBX 3
#define RBP 6
#define RSP 7
#define RIP 16

	.text
FUNCTION(frame_of_registers)
	push	%r12
	push	%r13
	push	$0
	.cfi_def_cfa_offset 32
	.cfi_offset %r12, -16
	.cfi_offset %r13, -24
	mov	24(%rsp), %r12
	movq	$0, 24(%rsp)
	mov	%rbp, %r13
	xor	%ebp, %ebp
	.cfi_register 16, %r12
	.cfi_register %rbp, %r13
	call	frame_of_fp
	mov	%r13, %rbp
	mov	%r12, 24(%rsp)
	.cfi_restore 16
	.cfi_same_value %rbp
	pop	%r13
	pop	%r13
	.cfi_restore %r13
	pop	%r12
	.cfi_restore %r12
	.cfi_def_cfa_offset 8
	ret
END(frame_of_registers)

FUNCTION(frame_of_fp)
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	mov	%rbp, %rbx
	xor	$0x55, %rbx
	xor	%ebp, %ebp
	/* breg3 0, const1u 0x55, xor */
	.cfi_escape VALUE, RBP, 5, 0x73, 0, 0x08, 0x55, 0x27
	call	frame_of_rbx
	mov	%rbx, %rbp
	xor	$0x55, %rbp
	.cfi_same_value %rbp
	pop	%rbx
	.cfi_restore %rbx
	.cfi_def_cfa_offset 8
	ret
END(frame_of_fp)

FUNCTION(frame_of_rbx)
	mov	%rbx, %rax
	xor	$0x2a, %rax
	push	%rax
	.cfi_def_cfa_offset 16
	/* the CFA: lit16, minus, deref, const2u 0x2a, xor */
	.cfi_escape VALUE, RBX, 7, 0x40, 0x1c, 0x06, 0x0a, 0x2a, 0, 0x27
	xor	%ebx, %ebx
	call	frame_of_loop
	pop	%rbx
	.cfi_def_cfa_offset 8
	xor	$0x2a, %rbx
	.cfi_restore %rbx
	ret
END(frame_of_rbx)

FUNCTION(frame_of_loop)
	push	$0x4d41524b
	push	$1
	push	$2
	push	$3
	/* breg7 0; 1: dup, deref, const4u MARK, eq, bra 2f, plus_uconst 8, skip 1b; 2: lit16, plus */
	.cfi_escape CFA_BY, 21, 0x77, 0
	.cfi_escape 0x12, 0x06, 0x0c, 0x4b, 0x52, 0x41, 0x4d, 0x29, 0x28, 5, 0
	.cfi_escape 0x23, 8, 0x2f, 0xf0, 0xff, 0x40, 0x22, 0x96
	call	frame_of_ra
	add	$32, %rsp
	.cfi_def_cfa %rsp, 8
	ret
END(frame_of_loop)

FUNCTION(frame_of_ra)
	mov	(%rsp), %rax
	mov	%eax, %ecx
	shr	$32, %rax
	push	%rax
	push	%rcx
	push	%rcx
	movq	$0, 24(%rsp)
	.cfi_def_cfa_offset 32
	/* the CFA: dup, lit16, minus, deref, lit16, shl, lit16, shl, swap, lit24, minus, deref_size 4, or */
	.cfi_escape VALUE, RIP, 14, 0x12, 0x40, 0x1c, 0x06, 0x40, 0x24, 0x40, 0x24
	.cfi_escape 0x16, 0x48, 0x1c, 0x94, 4, 0x21
	call	frame_of_index
	pop	%rcx
	pop	%rcx
	pop	%rax
	shl	$32, %rax
	or	%rcx, %rax
	mov	%rax, (%rsp)
	.cfi_restore 16
	.cfi_def_cfa_offset 8
	ret
END(frame_of_ra)

FUNCTION(frame_of_index)
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	mov	%rsp, %rax
	push	%rax
	push	%rax
	addq	$8, (%rsp)
	push	$0
	mov	$1, %ebx
	/* breg7 0, breg3 0, lit8, mul, plus, deref, plus_uconst 8 */
	.cfi_escape CFA_BY, 10, 0x77, 0, 0x73, 0, 0x38, 0x1e, 0x22, 0x06, 0x23, 8
	call	frame_of_cfa
	add	$24, %rsp
	.cfi_def_cfa %rsp, 16
	pop	%rbx
	.cfi_restore %rbx
	.cfi_def_cfa_offset 8
	ret
END(frame_of_index)

FUNCTION(frame_of_cfa)
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	mov	%rsp, %rax
	push	%rax
	mov	%rsp, %rax
	push	%rax
	mov	%rsp, %rbx
	sub	$8, %rsp
	/* breg3 0, deref, deref, plus_uconst 16 */
	.cfi_escape CFA_BY, 6, 0x73, 0, 0x06, 0x06, 0x23, 16
	jmp	frame_of_stub
back_from_stub:
	add	$24, %rsp
	.cfi_def_cfa %rsp, 16
	pop	%rbx
	.cfi_restore %rbx
	.cfi_def_cfa_offset 8
	ret
END(frame_of_cfa)

/* The return address is this far from RIP */
#define RA_FROM(from, to) .cfi_escape VALUE, RIP, 3, 0x80, ((to - from) & 0x7f) | 0x80, ((to - from) >> 7) & 0x7f

FUNCTION(frame_of_stub)
	/* its caller is itself, behind the call */
	.cfi_def_cfa %rsp, -128
	RA_FROM(frame_of_stub, 4f)
	lea	call_leaf(%rip), %rax
2:
	RA_FROM(2b, 4f)
	sub	$128, %rsp
3:
	.cfi_def_cfa_offset 0
	RA_FROM(3b, 4f)
	/* call *%rax; a return address is looked up by its last byte */
	.byte	0xff
	.cfi_def_cfa_offset 128
	RA_FROM(4f, back_from_stub)
	.byte	0xd0
4:
	add	$128, %rsp
5:
	.cfi_def_cfa %rsp, -128
	RA_FROM(5b, 4b)
	jmp	back_from_stub
END(frame_of_stub)

FUNCTION(call_leaf)
	sub	$16, %rsp
	.cfi_def_cfa_offset 24
	call	expression_leaf
	add	$16, %rsp
	.cfi_def_cfa_offset 8
	ret
END(call_leaf)
	.section .note.GNU-stack, "", @progbits
