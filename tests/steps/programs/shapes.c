/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of many shapes, which call each other.  END says what becomes of main(): 0, it
 * returns; 1, it ends the process; 2, it never ends.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

volatile long sink;
static volatile int zero;
static jmp_buf jump;

NOINLINE long leaf(long a)
{
	return a * 3 + 1;
}

NOINLINE long busy_leaf(const long *list, long count)
{
	long sum = 0;

	for (long i = 0; i < count; i++)
		sum += list[i] ^ i;
	return sum;
}

NOINLINE long calls_leaf(long a)
{
	long r = leaf(a);

	return r + leaf(a + 1);
}

NOINLINE long tail(long a)
{
	return leaf(a + 2);
}

static long (*volatile chosen)(long) = leaf;

NOINLINE long indirect_tail(long a)
{
	return chosen(a + 5);
}

NOINLINE long indirect(long a)
{
	return chosen(a) + 1;
}

NOINLINE long many(long a, long b, long c, long d, long e, long f, long g, long h, long i)
{
	return a + b - c + d - e + f - g + h - i + leaf(a);
}

NOINLINE long pushes(long a)
{
	return many(a, 1, 2, 3, 4, 5, a, a + 7, 8) + many(1, 2, 3, 4, 5, 6, 7, a, a) + 1;
}

NOINLINE long saves(long a, long b, long c)
{
	long d = leaf(a), e = leaf(b), f = leaf(c), g = leaf(d), h = leaf(e);

	return d + e * f + g + h + a + b + c + leaf(f) + d * h;
}

NOINLINE long big_frame(long a)
{
	char room[20000];

	memset(room, (int)a, 100);
	sink += room[a % 100];
	return leaf(room[5]) + room[7];
}

NOINLINE long some_frame(long a)
{
	volatile long list[9] = {a};

	for (int i = 1; i < 9; i++)
		list[i] = list[i - 1] + 1;
	return leaf(list[8]) + list[a & 7];
}

NOINLINE long with_alloca(long a)
{
	char *room = alloca(16 + (a & 63));

	room[0] = (char)a;
	room[8] = 2;
	sink += room[0];
	return leaf(room[8]) + room[0];
}

NOINLINE long with_array(long a)
{
	long list[(a & 15) + 1];

	for (long i = 0; i <= (a & 15); i++)
		list[i] = leaf(i);
	return busy_leaf(list, (a & 15) + 1);
}

NOINLINE long aligned(long a)
{
	long list[8] __attribute__((aligned(64)));

	for (int i = 0; i < 8; i++)
		list[i] = a + i;
	return busy_leaf(list, 8) + leaf(a);
}

NOINLINE long with_switch(long a)
{
	long r = 0;

	for (long i = 0; i < 12; i++) {
		switch ((a + i) % 11) {
		case 0:
			r += leaf(i);
			break;
		case 1:
			r ^= a;
			break;
		case 2:
			r = tail(r);
			break;
		case 3:
			r += 7;
			continue;
		case 4:
			r -= calls_leaf(a);
			break;
		case 5:
			r *= 3;
			break;
		case 6:
			r += pushes(a);
			/* fallthrough */
		case 7:
			r++;
			break;
		case 8:
			if (r & 1)
				return r + leaf(r);
			break;
		default:
			r += some_frame(i);
		}
		sink = r;
	}
	return r;
}

NOINLINE long switched(long a)
{
	switch (a & 7) {
	case 0:
		return leaf(a);
	case 1:
		return indirect(a) + 1;
	case 2:
		return 9;
	case 3:
		return tail(a);
	case 4:
		return a * 5;
	case 5:
		return calls_leaf(a + 1);
	case 6:
		return a ^ 77;
	default:
		return with_alloca(a);
	}
}

__attribute__((noreturn, noinline)) void give_up(long a)
{
	sink = leaf(a);
	longjmp(jump, 1);
}

NOINLINE long checks(long a)
{
	if (a > 5)
		give_up(a);
	return leaf(a) + 2;
}

/* The call is the last instruction. */
NOINLINE long gives_up(long a)
{
	sink = a;
	give_up(a);
}

NOINLINE long jumps(long a)
{
	volatile long r = 0;

	if (setjmp(jump))
		return r + leaf(a);
	r = 4;
	if (a & 1)
		return checks(a);
	return gives_up(a);
}

NOINLINE long variadic(int count, ...)
{
	va_list list;
	long r = 0;

	va_start(list, count);
	for (int i = 0; i < count; i++)
		r += leaf(va_arg(list, long));
	va_end(list);
	return r;
}

NOINLINE double floating(double a, long b)
{
	double r = a / 3;

	for (long i = 0; i < (b & 7); i++)
		r = r * 1.5 + (double)leaf(i);
	return r;
}

struct large {
	long words[12];
};

NOINLINE struct large returns_large(long a)
{
	struct large r;

	for (int i = 0; i < 12; i++)
		r.words[i] = a + i;
	r.words[3] = leaf(a);
	return r;
}

NOINLINE long takes_large(struct large l, long a)
{
	return l.words[0] + leaf(l.words[a & 7]) + a;
}

NOINLINE long recursive(long a)
{
	if (a <= 1)
		return leaf(a);
	return recursive(a - 1) + (a & 1 ? recursive(a - 2) : 0);
}

static int order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

NOINLINE long sorts(long a)
{
	int list[9];

	for (int i = 0; i < 9; i++)
		list[i] = (int)((a * 7 + i * 5) % 13);
	qsort(list, 9, sizeof(*list), order);
	return list[0] + list[8];
}

NOINLINE long library(long a)
{
	char text[40];
	char *copy;

	snprintf(text, sizeof(text), "%ld", a);
	copy = strdup(text);
	a = (long)strlen(copy);
	free(copy);
	return a + getppid();
}

NOINLINE long sibling(long a, long b)
{
	if (a & 1)
		return many(a, b, 1, 2, 3, 4, 5, 6, 7) + 2;
	return saves(b, a, 2);
}

NOINLINE long all(long n)
{
	long r = 0;

	r += calls_leaf(n);
	r += tail(n);
	chosen = n & 1 ? leaf : calls_leaf;
	r += indirect_tail(n);
	r += indirect(n);
	r += pushes(n);
	r += saves(n, 2, 3);
	r += big_frame(n);
	r += with_alloca(n);
	r += with_array(n);
	r += aligned(n);
	r += with_switch(n);
	r += switched(n);
	r += jumps(n + 5);
	r += variadic(3, n, 2L, 3L);
	r += (long)floating((double)n, n);
	r += takes_large(returns_large(n), n);
	r += recursive(6 + (n & 3));
	r += sorts(n);
	r += library(n);
	r += sibling(n, r & 3);
	return r;
}

int main(void)
{
	long r = 0;

#if END == 2
	for (long n = 0;; n++)
		sink = all(n);
#else
	for (long n = 0; n < 60; n++)
		sink = r += all(n);
#endif
#if END == 1
	exit(zero);
#endif
	return zero;
}
