# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What compilers write seldom, without tables: arguments that the callee takes off, thunks of
# branches and returns, return addresses that are moved, and functions without a return.
	.text
	.macro function name
	.p2align 4
	.globl \name
	.type \name,@function
\name:
	.endm

	function takes_two
	mov 8(%rsp),%rax
	add 16(%rsp),%rax
	ret $16

	function gives_two
	push %rbx
	push %rdi
	push $2
	call takes_two
	mov %rax,%rbx
	push $3
	push %rbx
	call takes_two
	add %rbx,%rax
	pop %rbx
	ret

	function gives_two_in_record
	push %rbp
	mov %rsp,%rbp
	push %rdi
	push $2
	call takes_two
	push %rax
	push $3
	call takes_two
	pop %rbp
	ret

# nothing tells of the callee
	function gives_two_to_any
	push %rbp
	mov %rsp,%rbp
	push %rbx
	push %rdi
	push %rdi
	push $2
	lea takes_two(%rip),%rax
	call *%rax
	mov %rax,%rdi
	call leaf
	mov -8(%rbp),%rbx
	leave
	ret

# as the kernel's: what is called here is not returned to
	function indirect_thunk
	call 1f
2:	pause
	lfence
	jmp 2b
1:	mov %rax,(%rsp)
	ret

	function return_thunk
	call 1f
	int3
1:	lea 8(%rsp),%rsp
	ret
	int3

	function through_thunk
	lea leaf(%rip),%rax
	sub $8,%rsp
	call indirect_thunk
	add $8,%rsp
	jmp return_thunk

	function leaf
	lea 3(%rdi),%rax
	ret

	function moves_return_address
	pop %rcx
	lea 5(%rdi),%rax
	push %rcx
	ret

	function returns_by_jump
	lea 4(%rdi),%rax
	pop %rcx
	jmp *%rcx

	function jumps_by_return
	lea leaf(%rip),%rax
	push %rax
	ret

	function finds_itself
	call 1f
1:	pop %rax
	sub %rax,%rax
	add %rdi,%rax
	ret

	function swaps_stack
	push %rbp
	mov %rsp,%rbp
	lea own_stack_end(%rip),%rsp
	call calls_all_plain
	mov %rbp,%rsp
	pop %rbp
	ret

	function uses_rbp
	push %rbp
	push %rbx
	mov %rdi,%rbp
	lea (%rdi,%rdi),%rbx
1:	call leaf
	add %rax,%rbx
	lea -1(%rbp),%rbp
	mov %rbp,%rdi
	and $3,%edi
	jne 1b
	mov %rbx,%rax
	pop %rbx
	pop %rbp
	ret

	function keeps_red_zone
	mov %rdi,-8(%rsp)
	mov %rbx,-16(%rsp)
	mov $4,%ebx
1:	add %rbx,-8(%rsp)
	dec %ebx
	jne 1b
	mov -16(%rsp),%rbx
	mov -8(%rsp),%rax
	ret

	function enters
	enter $32,$0
	mov %rdi,-8(%rbp)
	call leaf
	add -8(%rbp),%rax
	leave
	ret

	function two_exits
	push %rbx
	mov %rdi,%rbx
	test $1,%edi
	je 1f
	call leaf
	pop %rbx
	ret
1:	sub $16,%rsp
	call leaf
	add %rbx,%rax
	add $16,%rsp
	pop %rbx
	ret

	function calls_all_plain
	push %rbx
	sub $16,%rsp
	mov %rdi,%rbx
	call uses_rbp
	mov %rbx,%rdi
	call keeps_red_zone
	mov %rbx,%rdi
	call enters
	mov %rbx,%rdi
	call two_exits
	add $16,%rsp
	pop %rbx
	ret

	function calls_all_odd
	push %rbx
	mov %rdi,%rbx
	call gives_two
	mov %rbx,%rdi
	call gives_two_in_record
	mov %rbx,%rdi
	call gives_two_to_any
	mov %rbx,%rdi
	call through_thunk
	mov %rbx,%rdi
	call moves_return_address
	mov %rbx,%rdi
	call returns_by_jump
	mov %rbx,%rdi
	call jumps_by_return
	mov %rbx,%rdi
	call finds_itself
	mov %rbx,%rdi
	call swaps_stack
	mov %rbx,%rdi
	call calls_all_plain
	pop %rbx
	ret

	.bss
	.p2align 12
	.skip 16384
own_stack_end:
	.skip 64
	.section .note.GNU-stack,"",@progbits
