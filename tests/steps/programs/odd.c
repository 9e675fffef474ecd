/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls the functions of odd_code.s. */
long calls_all_odd(long n);
volatile long sink;

__attribute__((noinline)) static long middle(long n)
{
	long r = calls_all_odd(n);

	return r + 1;
}

int main(void)
{
	for (long n = 0; n < 20; n++)
		sink += middle(n);
	return 0;
}
