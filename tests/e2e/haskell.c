/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * haskell MS - compute as code of GHC does: jumped to from a frame of 16 KiB, without a table, with
 * another stack in the frame pointer.
 */
#include <stddef.h>

#include "spin.h"

/* Runs code that ends with a jump to stg_return. */
void stg_run(void (*code)(void), void *base);
void haskell(void);
__asm__(".text\n"
	".globl stg_run, haskell\n"
	".type stg_run, @function\n"
	"stg_run:\n"
	".cfi_startproc\n"
	"sub $48, %rsp\n"
	"mov %rsp, %rax\n"
	"sub $16384, %rsp\n"
	".cfi_def_cfa_offset 16440\n"
	"mov %rbx, (%rax)\n"
	"mov %rbp, 8(%rax)\n"
	"mov %r12, 16(%rax)\n"
	"mov %r13, 24(%rax)\n"
	"mov %r14, 32(%rax)\n"
	"mov %r15, 40(%rax)\n"
	"mov %rsi, %r13\n"
	"mov %rdi, %rax\n"
	"jmp *%rax\n"
	".cfi_endproc\n"
	".size stg_run, . - stg_run\n"
	".type stg_return, @function\n"
	"stg_return:\n"
	".cfi_startproc\n"
	".cfi_def_cfa_offset 16440\n"
	"add $16384, %rsp\n"
	".cfi_def_cfa_offset 56\n"
	"mov (%rsp), %rbx\n"
	"mov 8(%rsp), %rbp\n"
	"mov 16(%rsp), %r12\n"
	"mov 24(%rsp), %r13\n"
	"mov 32(%rsp), %r14\n"
	"mov 40(%rsp), %r15\n"
	"add $48, %rsp\n"
	".cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size stg_return, . - stg_return\n"
	".type haskell, @function\n"
	"haskell:\n"
	"lea haskell_stack(%rip), %rbp\n"
	"mov $20000000, %ebx\n"
	"1: dec %ebx\n"
	"jnz 1b\n"
	/* what it calls pushes its return address below that of stg_run() */
	"sub $8, %rsp\n"
	"call work\n"
	"add $8, %rsp\n"
	"jmp *(%rbp)\n"
	".size haskell, . - haskell\n"
	".data\n"
	".balign 8\n"
	"haskell_stack: .quad stg_return\n"
	".text\n");

NOINLINE __attribute__((used)) void work(void)
{
	for (volatile int i = 0; i < 5000000; i++)
		;
}

/* Copies of the stack end at a page that nobody has used. */
NOINLINE void use_stack(void)
{
	volatile char used[32768];

	for (size_t i = 0; i < sizeof(used); i++)
		used[i] = 0;
}

NOINLINE void run(long ms)
{
	const long end = thread_ms() + ms;

	use_stack();
	do
		stg_run(haskell, NULL);
	while (thread_ms() < end);
}

int main(int argc, char **argv)
{
	run(ms_argument(argc, argv));
	NO_TAIL_CALL();
	return 0;
}
