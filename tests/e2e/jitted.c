/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jitted - run functions that are made at run time, without tables, and have old return addresses in
 * their frames.
 *
 *	main ─► run ─► bare: no frame pointer ─► framed: a frame pointer ─► bare ─► … ─► helper
 *
 * Each has a call that never returns, with another function's code after it, and branches over more
 * instructions than one way is followed for.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "spin.h"

#define ROOM 4096
#define DEPTH 6

extern const uint8_t made_begin[], made_end[];

/* @rdi: how deep; @rsi: the helper */
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	"made_begin:\n"
	"bare:\n"
	"	push %r12\n"
	"	push %rbx\n"
	"	sub $0x198, %rsp\n"
	"	mov %rdi, %rbx\n"
	"	mov %rsi, %r12\n"
	"	test %rdi, %rdi\n"
	"	js never_bare\n"
	"	jz 1f\n"
	"	dec %rdi\n"
	"	call framed\n"
	"	jmp 2f\n"
	"1:	call *%r12\n"
	"2:	.rept 20\n"
	"	test %rbx, %rbx\n"
	"	js never_bare\n"
	"	lea 1(%rax), %rax\n"
	"	.endr\n"
	"	add $0x198, %rsp\n"
	"	pop %rbx\n"
	"	pop %r12\n"
	"	ret\n"
	"never_bare:\n"
	"	call *8(%r12)\n"
	".balign 16\n"
	"framed:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	push %rbx\n"
	"	sub $0x1f8, %rsp\n"
	"	mov %rdi, %rbx\n"
	"	call bare\n"
	"	.rept 20\n"
	"	test %rbx, %rbx\n"
	"	js never_framed\n"
	"	lea 1(%rax), %rax\n"
	"	.endr\n"
	"	mov -8(%rbp), %rbx\n"
	"	leave\n"
	"	ret\n"
	"never_framed:\n"
	"	call *8(%rsi)\n"
	"made_end:\n"
	".popsection\n");

static NOINLINE void leave_old_addresses(int more)
{
	if (more)
		leave_old_addresses(more - 1);
	NO_TAIL_CALL();
}

static void helper(void)
{
	spin(5);
	NO_TAIL_CALL();
}

static NOINLINE void run(void (*enter)(long depth, void (*leaf)(void)))
{
	leave_old_addresses(200);
	enter(DEPTH, helper);
	NO_TAIL_CALL();
}

int main(void)
{
	uint8_t *made = mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*enter)(long, void (*)(void));

	if (made == MAP_FAILED)
		return 1;
	memcpy(made, made_begin, (size_t)(made_end - made_begin));
	memcpy(&enter, &made, sizeof(enter));
	for (;;)
		run(enter);
}
