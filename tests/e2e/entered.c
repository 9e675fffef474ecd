/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entered - run code that is made at run time, in frames that a trampoline makes, as translators do.
 *
 *	main ─► run ─► trampoline: pushes, jmp *%rsi ─► code: loop; call helper; jmp *%rbx
 *	                                                      helper ─► run ─► … five times
 *
 * The code has no way out.  Old return addresses are in the trampoline's frame.
 *
 *	entered file	the trampoline is a function of the program, without a table
 */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "spin.h"

#define ROOM 4096
#define CODE_AT 64
#define DEPTH 5

/* push %rbp; push %rbx; push %r12; sub $0x400,%rsp; mov %rsi,%rbx; mov %rdx,%rbp; jmp *%rsi */
static const uint8_t trampoline[] = {0x55, 0x53, 0x41, 0x54, 0x48, 0x81, 0xec, 0x00, 0x04, 0x00,
				     0x00, 0x48, 0x89, 0xf3, 0x48, 0x89, 0xd5, 0xff, 0xe6};

/* mov $0x2000000,%ecx; 1: dec %ecx; jnz 1b; call *%rbp; jmp *%rbx */
static const uint8_t code[] = {0xb9, 0x00, 0x00, 0x00, 0x02, 0xff, 0xc9,
			       0x75, 0xfc, 0xff, 0xd5, 0xff, 0xe3};

void file_trampoline(int depth, void *to, void (*helper)(void));
__asm__(".pushsection .text\n"
	".type file_trampoline, @function\n"
	"file_trampoline:\n\t"
	"push %rbp\n\tpush %rbx\n\tpush %r12\n\tsub $0x400, %rsp\n\t"
	"mov %rsi, %rbx\n\tmov %rdx, %rbp\n\tjmp *%rsi\n"
	".size file_trampoline, . - file_trampoline\n"
	".popsection");

static void (*enter)(int depth, void *to, void (*helper)(void));
static uint8_t *made;
static volatile int depth;

static NOINLINE void leave_old_addresses(int more)
{
	if (more)
		leave_old_addresses(more - 1);
	NO_TAIL_CALL();
}

static void helper(void);

static NOINLINE void run(void)
{
	leave_old_addresses(40);
	enter(depth, made + CODE_AT, helper);
	NO_TAIL_CALL();
}

static NOINLINE void helper(void)
{
	if (depth < DEPTH) {
		depth++;
		run();
	}
	spin(5);
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	(void)argv;
	made = mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (made == MAP_FAILED)
		return 1;
	memcpy(made, trampoline, sizeof(trampoline));
	memcpy(made + CODE_AT, code, sizeof(code));
	memcpy(&enter, &made, sizeof(enter));
	if (argc > 1)
		enter = file_trampoline;
	run();
	return 0;
}
