/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * switch MS [above|below|record|shared] - work on another stack, with call-frame information
 * that leads back to the old one.
 *
 * above, below: the new stack is mapped there; the old stack pointer is saved on it, and
 * the CFA is loaded from there.  record: it is in the frame pointer, as compilers do it.
 * shared: as SBCL does it, on one stack: the caller makes the frame record of a function
 * without a table.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shared_record.h"
#include "spin.h"

#define STACK_SIZE ((size_t)16 << 20) /* farther than a frame can be large */
#define STACKS 3

static long ms;

NOINLINE void work(void)
{
	spin(ms);
	NO_TAIL_CALL();
}

/* call_saved(function, stack): the old stack pointer is the word at the new one's top */
void call_saved(void (*function)(void), void *stack);
__asm__(".text\n"
	".globl call_saved\n"
	".type call_saved, @function\n"
	"call_saved:\n"
	".cfi_startproc\n"
	"mov %rsp, -8(%rsi)\n"
	"lea -8(%rsi), %rsp\n"
	/* CFA = *rsp + 8: DW_CFA_def_cfa_expression DW_OP_breg7 0, deref, plus_uconst 8 */
	".cfi_escape 0x0f, 5, 0x77, 0, 0x06, 0x23, 8\n"
	"sub $8, %rsp\n"
	".cfi_escape 0x0f, 5, 0x77, 8, 0x06, 0x23, 8\n"
	"call *%rdi\n"
	"mov 8(%rsp), %rsp\n"
	".cfi_def_cfa %rsp, 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size call_saved, . - call_saved\n");

/* call_framed(function, stack): the old stack pointer is the frame pointer */
void call_framed(void (*function)(void), void *stack);
__asm__(".text\n"
	".globl call_framed\n"
	".type call_framed, @function\n"
	"call_framed:\n"
	".cfi_startproc\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"mov %rsp, %rbp\n"
	".cfi_def_cfa_register %rbp\n"
	"mov %rsi, %rsp\n"
	"call *%rdi\n"
	"mov %rbp, %rsp\n"
	"pop %rbp\n"
	".cfi_def_cfa %rsp, 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size call_framed, . - call_framed\n");

static char *stacks;

NOINLINE void on_upper(void)
{
	call_saved(work, stacks + STACK_SIZE);
	NO_TAIL_CALL();
}

/* The middle one's user calls the lowest, or the uppermost. */
NOINLINE void on_lower(void)
{
	call_saved(work, stacks + STACKS * STACK_SIZE);
	NO_TAIL_CALL();
}

NOINLINE void switching(const char *how)
{
	char *middle = stacks + 2 * STACK_SIZE;

	if (!strcmp(how, "above"))
		call_saved(on_upper, middle);
	else if (!strcmp(how, "below"))
		call_saved(on_lower, middle);
	else if (!strcmp(how, "shared"))
		call_shared(work);
	else
		call_framed(work, middle);
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	ms = ms_argument(argc, argv);
	stacks = mmap(NULL, STACKS * STACK_SIZE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stacks == MAP_FAILED)
		return 1;
	switching(argc > 2 ? argv[2] : "record");
	return 0;
}
