/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions that end in a call which does not return, on stacks full of old return addresses.
 * After each comes a function of another shape, into which the way along the code goes on.
 */
#include <setjmp.h>
#include <stdarg.h>

/* 1: to the end of the program, with all that runs after main */
#ifndef ROUNDS
#define ROUNDS 400
#endif

#define NOINLINE __attribute__((noinline, noclone))
#define NORETURN __attribute__((noinline, noclone, noreturn))

static jmp_buf back;
volatile long sink;

NOINLINE long leaf(long a)
{
	return a * 3 + 1;
}

/* Leaves return addresses below. */
NOINLINE long litter(long depth, long a)
{
	if (!depth)
		return leaf(a);
	return leaf(a) + litter(depth - 1, a + 1) + leaf(depth);
}

/* The same at places where compilers have none, as they keep the stack aligned. */
void litter_odd(long depth);
__asm__(".text\n.type litter_odd,@function\nlitter_odd: test %rdi,%rdi; je 1f; sub $16,%rsp;"
	"dec %rdi; call litter_odd; add $16,%rsp; 1: ret\n.size litter_odd,.-litter_odd\n");

NORETURN void leave(long number)
{
	longjmp(back, (int)number);
}

NOINLINE long after_leave(long a)
{
	return leaf(a) + 2;
}

/* What is not written in room[] is as litter() left it; the code at the end uses no local variable. */
#define LEAVES(name, words) \
	NORETURN void name(long number) \
	{ \
		volatile long room[words]; \
		room[number % (words)] = leaf(number); \
		sink = leaf(sink); \
		sink = leaf(sink); \
		leave(1); \
	}

LEAVES(leaves_1, 1)

NOINLINE long tiny(long a)
{
	return a + 1;
}

LEAVES(leaves_2, 2)

NOINLINE long kept(long a, long b)
{
	long c = leaf(a), d = leaf(b);

	sink += leaf(c);
	return c * d + leaf(d);
}

LEAVES(leaves_5, 5)

NOINLINE long wide(long a)
{
	volatile long room[40];

	room[a % 40] = a;
	return leaf(room[a % 40]) + room[a % 40];
}

LEAVES(leaves_16, 16)

NOINLINE long listed(long count, ...)
{
	va_list list;
	long sum = 0;

	va_start(list, count);
	while (count--)
		sum += leaf(va_arg(list, long));
	va_end(list);
	return sum;
}

LEAVES(leaves_33, 33)

NOINLINE long aligned(long a)
{
	volatile long room[4] __attribute__((aligned(64)));

	room[a % 4] = a;
	return leaf(room[a % 4]);
}

/* One of two ways does not come back, in the middle and at the end of a function. */
NOINLINE long may_leave(long number)
{
	volatile long room[7];

	room[number % 7] = leaf(number);
	if (number % 3 == 1)
		leave(number);
	sink += leaf(room[number % 7]);
	if (number % 3 == 2)
		leaves_5(number);
	return sink;
}

NOINLINE long choose(long number)
{
	switch (number % 7) {
	case 1:
		leaves_1(number);
	case 2:
		leaves_2(number);
	case 3:
		leaves_5(number);
	case 4:
		leaves_16(number);
	case 5:
		leaves_33(number);
	default:
		return may_leave(number);
	}
}

NOINLINE long one_round(long number)
{
	sink += litter(number % 3, number);
	litter_odd(3 + number % 5);
	if (!setjmp(back))
		sink += choose(number);
	if (number % 64)
		return sink;
	return tiny(number) + kept(number, 2) + wide(number) + listed(3, number, 2l, 3l) +
	       aligned(number) + after_leave(number);
}

int main(void)
{
	for (long i = 1; i < ROUNDS; i++)
		sink += one_round(i);
	return 0;
}
