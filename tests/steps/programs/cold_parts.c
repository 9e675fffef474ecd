/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A cold part that ends in a call which does not return, before the cold part of a function with a
 * smaller frame, on a stack full of old return addresses.
 */
#include <setjmp.h>

#define NOINLINE __attribute__((noinline, noclone))

static jmp_buf back;
volatile long sink;

void litter(long depth);
void leaves(long number);
void goes_on(long number);

__asm__(".text\n"
	".type litter,@function\n"
	"litter: test %rdi,%rdi; je 1f; sub $16,%rsp; dec %rdi; call litter; add $16,%rsp; 1: ret\n"
	".size litter,.-litter\n"
	".type leaf,@function\n"
	"leaf: lea 3(%rdi),%rax; ret\n"
	".size leaf,.-leaf\n"
	".type leaves,@function\n"
	"leaves: sub $152,%rsp; test %rdi,%rdi; jne leaves_cold; call leaf; add $152,%rsp; ret\n"
	".size leaves,.-leaves\n"
	".type goes_on,@function\n"
	"goes_on: sub $8,%rsp; test %rdi,%rdi; jne goes_on_cold\n"
	"2: call leaf; add $8,%rsp; ret\n"
	".size goes_on,.-goes_on\n"
	".section .text.unlikely,\"ax\",@progbits\n"
	"leaves_cold: call leaf; call leave\n"
	"goes_on_cold: call leaf; jmp 2b\n"
	".text\n");

__attribute__((noinline, noreturn, used)) void leave(long number)
{
	longjmp(back, (int)number);
}

NOINLINE void one_round(long number)
{
	litter(20 + number % 3);
	if (!setjmp(back))
		leaves(number);
	sink = number;
}

int main(void)
{
	goes_on(1);
	for (long i = 0; i < 60; i++)
		one_round(i);
	return 0;
}
