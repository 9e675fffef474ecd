/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions without tables whose code, stack or frame pointer suggests a wrong caller.  Each
 * works for a while in spin(), again and again.
 */
	.text
	.globl code_start, code_end, top1, top2, top3
	.type top1,@function
/* 1: f has an empty frame, g spills to (%rsp) and spins; true: g < f1 < top1 < main */
code_start:
top1:	sub $8,%rsp
	call f1
	add $8,%rsp
	ret
	.size top1,.-top1
	.type f1,@function
f1:	call g1
	ret
	.size f1,.-f1
	.type g1,@function
g1:	sub $24,%rsp
1:	mov $0x1000000,%ecx
2:	dec %ecx
	jnz 2b
	mov %rax,(%rsp)
	cmp $12345,%ecx
	jne 1b
	add $24,%rsp
	ret
	.size g1,.-g1
/* 2: digits are written below rbp, the end of the caller's buffer */
	.type top2,@function
top2:	sub $8,%rsp
	call f2
	add $8,%rsp
	ret
	.size top2,.-top2
	.type f2,@function
f2:	push %rbx
	sub $32,%rsp
	lea 32(%rsp),%rdi
	call g2
	add $32,%rsp
	pop %rbx
	ret
	.size f2,.-f2
	.type g2,@function
g2:	push %rbp
	mov %rdi,%rbp
1:	call spin
	movb $0x30,-1(%rbp)
	cmp $12345,%ecx
	jne 1b
	pop %rbp
	ret
	.size g2,.-g2
	.type spin,@function
spin:	mov $0x1000000,%ecx
2:	dec %ecx
	jnz 2b
	ret
	.size spin,.-spin
/* 3: tail of a tail: ends in a call that does not return; the next code is another function's cold part */
	.type top3,@function
top3:	push %rbp
	mov %rsp,%rbp
	sub $16,%rsp
	call f3
	leave
	ret
	.size top3,.-top3
	.type f3,@function
f3:	sub $8,%rsp
	call g3
	add $8,%rsp
	ret
	.size f3,.-f3
	.type g3,@function
g3:	sub $8,%rsp
	call noret
	.size g3,.-g3
	.type other.cold,@function
other.cold:
	mov -0x38(%rbp),%rdi
	call noret
	hlt
	.size other.cold,.-other.cold
	.type noret,@function
noret:	sub $8,%rsp
1:	call spin
	cmp $12345,%ecx
	jne 1b
	add $8,%rsp
	ret
	.size noret,.-noret
	.globl spin, top4
	.type top4,@function
top4:	sub $8,%rsp
	call h4
	call g4
	add $8,%rsp
	ret
	.size top4,.-top4
	.type h4,@function
h4:	push %rbp
	mov %rsp,%rbp
	call i4
	pop %rbp
	ret
	.size h4,.-h4
	.type i4,@function
i4:	push %rbp
	mov %rsp,%rbp
	pop %rbp
	ret
	.size i4,.-i4
	.type g4,@function
g4:	push %rbp
	sub $16,%rsp
	mov %rsp,%rbp
1:	call spin
	cmp $12345,%ecx
	jne 1b
	add $16,%rsp
	pop %rbp
	ret
	.size g4,.-g4
code_end:
	.section .note.GNU-stack,"",@progbits
