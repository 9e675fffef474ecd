/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Returns to what is no code, as return addresses are overwritten, on a stack full of old ones. */
#include <setjmp.h>
#include <signal.h>

#define NOINLINE __attribute__((noinline, noclone))

static sigjmp_buf back;
volatile long sink;

void litter(long depth);
void overwrites(long address);
void calls_it(long address);

__asm__(".text\n"
	".type litter,@function\n"
	"litter: test %rdi,%rdi; je 1f; dec %rdi; call litter; 1: ret\n"
	".size litter,.-litter\n"
	".type overwrites,@function\n"
	"overwrites: mov %rdi,(%rsp); ret\n"
	".size overwrites,.-overwrites\n"
	".type calls_it,@function\n"
	"calls_it: sub $152,%rsp; call overwrites; add $152,%rsp; ret\n"
	".size calls_it,.-calls_it\n");

static void on_fault(int number)
{
	siglongjmp(back, number);
}

NOINLINE void on_litter(long address)
{
	litter(40);
	calls_it(address);
	sink = address;
}

NOINLINE void one_round(long address)
{
	if (!sigsetjmp(back, 1))
		on_litter(address);
	sink = address;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_fault};

	sigaction(SIGSEGV, &action, 0);
	sigaction(SIGBUS, &action, 0);
	for (long n = 0; n < 30; n++)
		one_round(0x4000 + n);
	return 0;
}
